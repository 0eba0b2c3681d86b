"""Modules of the tree: found as Python finds them, parsed once, and not executed."""

import ast
import warnings
from pathlib import PurePosixPath

from .budget import step
from .tree import ROOT, SourceTree
from .values import Module


class Modules:
    """Finds and parses modules.

    Args:
        tree: The tree.
        search: Directories, relative to the tree, first one first.
    """

    def __init__(self, tree: SourceTree, search: list[str]) -> None:
        self._tree, self.search = tree, search
        self._known: dict[str, Module | None] = {}
        self._by_file: dict[str, Module] = {}
        self._parsed: dict[str, ast.Module | None] = {}

    @property
    def loaded(self) -> list[Module]:
        """Return the modules that were found so far."""
        return list(self._by_file.values())

    def parse(self, file: str) -> ast.Module | None:
        """Return a file's syntax tree; null where it is not Python or cannot be read."""
        if file not in self._parsed:
            self._parsed[file] = _parse(self._tree.read(file))
        return self._parsed[file]

    def find(self, name: str) -> tuple[Module | None, ast.Module | None]:
        """Return the module of a dotted name, and, the first time, its syntax tree; nulls where the tree has none."""
        if name in self._known:
            return self._known[name], None
        found = next(filter(None, (self._file(name, place) for place in self.search)), None)
        if found is None:
            self._known[name] = None
            return None, None
        file, package = found
        module = self._by_file.get(file)
        if module is not None:
            self._known[name] = module
            return module, None
        module = Module(name, file, package, {"__name__": name, "__file__": f"{ROOT}/{file}"})
        if package:
            module.names["__path__"] = [f"{ROOT}/{file.removesuffix('/__init__.py')}"]
        self._known[name] = self._by_file[file] = module
        return module, (self.parse(file) if file.endswith(".py") else ast.Module([], []))

    def absolute_name(self, name: str, level: int, module: Module) -> str:
        """Return the absolute name of a relative import."""
        if not level:
            return name
        package = module.name if module.package else module.name.rpartition(".")[0]
        if module.name == "__main__":
            package = ".".join(PurePosixPath(module.file).parent.parts)
        for _ in range(level - 1):
            package = package.rpartition(".")[0]
        return ".".join(filter(None, (package, name)))

    def _file(self, name: str, place: str) -> tuple[str, bool] | None:
        path = name.replace(".", "/")
        for ending, package in ((f"{path}/__init__.py", True), (f"{path}.py", False)):
            file = self._tree.relative(ending, place)
            if self._tree.is_file(file) and file is not None:
                return file, package
        directory = self._tree.relative(path, place)
        if path and directory is not None and self._tree.is_directory(directory) and self._holds_python(directory):
            return directory, True
        return None

    def _holds_python(self, directory: str) -> bool:
        """Whether a directory can be a package without `__init__`; one of data is none."""
        return any(each.startswith(f"{directory}/") and each.endswith(".py") for each in self._tree.files())


def _parse(text: str | None) -> ast.Module | None:
    if text is None:
        return None
    step(len(text) // 200)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
