"""What files import, read off their text: a parser takes thirty times as long, and there are a thousand files."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_IMPORT = re.compile(
    r"^[ \t]*(?:from (\.*)([\w.]*) import (\([^)]*\)|[^\n#]+)|import (\w[\w.]*(?:, *\w[\w.]*)*)(?: as \w+)?[ \t]*(?:#.*)?$)", re.MULTILINE
)  # fmt: skip


class Import(NamedTuple):
    """A module, and which of its names are imported; none where it is imported itself."""

    level: int
    """Dots before the module's name."""
    module: str
    names: tuple[str, ...] = ()


def imports(file: Path) -> Iterator[Import]:
    """Yield what `file`, which the formatter has laid out, imports anywhere."""
    for found in _IMPORT.finditer(file.read_text(encoding="utf-8")):
        dots, module, names, whole = found.groups()
        if whole:
            yield from (Import(0, each.strip()) for each in whole.split(","))
        else:
            listed = re.sub(r"#.*| as \w+", "", names).strip("() \n").split(",")
            yield Import(len(dots), module, tuple(each.strip() for each in listed if each.strip()))


def rooms(file: Path) -> set[str]:
    """Return the first parts of the modules that `file` imports by their whole name."""
    return {each.module.partition(".")[0] for each in imports(file) if not each.level}
