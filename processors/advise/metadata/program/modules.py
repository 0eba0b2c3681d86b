"""Modules of the tree: found as Python finds them, and parsed once."""

import ast
import warnings
from pathlib import PurePosixPath

from ...source_tree import SourceTree
from ..budget import step
from .values import Module

LONGEST = 300_000
"""Characters of a module. Parsing a longer one would take half a second."""


class Modules:
    """Finds and parses modules.

    Args:
        tree: Source tree.
        search: Directories, relative to the tree, in the order of the search.
    """

    def __init__(self, tree: SourceTree, search: list[str]) -> None:
        self._tree, self.search = tree, search
        self._by_name: dict[str, Module | None] = {}
        self._by_file: dict[str, Module] = {}

    def find(self, name: str) -> tuple[Module | None, ast.Module | None]:
        """Return the module of a dotted name, and, the first time, its syntax tree; nulls if the tree has none."""
        if name in self._by_name:
            return self._by_name[name], None
        file = next(filter(None, (self._file(name, place) for place in self.search)), "")
        is_new = bool(file) and file not in self._by_file
        if is_new:
            self._by_file[file] = Module(
                name, file, file.endswith("__init__.py") or not file.endswith(".py"), {"__name__": name}
            )
        module = self._by_name[name] = self._by_file.get(file)
        return module, parse(self._tree.read(file) if file.endswith(".py") else "") if is_new else None

    def absolute_name(self, name: str, level: int, module: Module) -> str:
        """Return the absolute name of a relative import."""
        if not level:
            return name
        package = module.name if module.package else module.name.rpartition(".")[0]
        if module.name == "__main__":
            package = ".".join(PurePosixPath(module.file).parent.parts)
        parents = package.split(".")
        return ".".join(filter(None, (*parents[: len(parents) + 1 - level], name)))

    def _file(self, name: str, place: str) -> str | None:
        """Return the file of a module, or the directory of a package without `__init__`."""
        path = name.replace(".", "/")
        files = [self._tree.relative(each, place) for each in (f"{path}/__init__.py", f"{path}.py")]
        directory = self._tree.relative(path, place)
        held = (
            path
            and directory
            and any(each.startswith(f"{directory}/") and each.endswith(".py") for each in self._tree.files())
        )
        return next((each for each in files if self._tree.is_file(each)), directory if held else None)


def parse(text: str | None) -> ast.Module | None:
    """Return the syntax tree of a program; null if it is no Python or too long."""
    if text is None or len(text) > LONGEST:
        return None
    step(len(text) // 200)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
