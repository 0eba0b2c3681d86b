"""The two tools of the agent: `file_tree` and `file_read`. Both stay in the tree, follow no link and show a bounded part."""

from typing import Protocol

from ...prompts.quoting import NumberedLine, quoted
from ..source_tree import SourceTree

ENTRIES = 150
"""Names of one listing."""
LINES = 120
"""Lines of one reading."""
REFUSED = "refused: no such file or directory of this tree"


class SourceTools(Protocol):
    """Access of the agent to a source tree."""

    def file_tree(self, path: str) -> str:
        """Return the files below a directory, as the model is shown them."""

    def file_read(self, path: str, line: int) -> str:
        """Return lines of a file from `line` on, as the model is shown them."""

    def line(self, path: str, number: int) -> str | None:
        """Return a line that the model was shown; null where it was not."""


class Tools:
    """Tools of the model, and the lines that they have shown.

    Args:
        tree: The source tree, which bounds files and bytes for the whole job.
    """

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._shown: dict[str, set[int]] = {}

    def file_tree(self, path: str) -> str:
        """Return the files below a directory, the nearest first; `.` is the root."""
        name = self._tree.relative(path.strip() or ".")
        if name is None or (name != "." and not self._tree.is_directory(name)):
            return REFUSED
        below = "" if name == "." else f"{name}/"
        found = [each for each in self._tree.files() if each.startswith(below)]
        found.sort(key=lambda each: (each.count("/"), each))
        names = [each for each in found[: 2 * ENTRIES] if self._tree.is_file(each)][:ENTRIES]
        left_out = len(found) - len(names)
        listed = quoted([NumberedLine(place, each) for place, each in enumerate(names, start=1)])
        return f"{listed}\n{left_out} more are not shown" if left_out > 0 else listed

    def file_read(self, path: str, line: int) -> str:
        """Return lines of a file from `line` on, each with its number."""
        name = self._tree.relative(path.strip())
        text = self._tree.read(name) if self._tree.is_file(name) else None
        if name is None or text is None:
            return REFUSED
        lines = text.splitlines()
        part = lines[line - 1 : line - 1 + LINES]
        self._shown.setdefault(name, set()).update(range(line, line + len(part)))
        shown = quoted([NumberedLine(number, each) for number, each in enumerate(part, start=line)])
        return f"{shown}\nof {len(lines)} lines"

    def line(self, path: str, number: int) -> str | None:
        """Return a line that the model was shown; null where it was not."""
        name = self._tree.relative(path.strip())
        if name is None or number not in self._shown.get(name, ()):
            return None
        return (self._tree.read(name) or "").splitlines()[number - 1]
