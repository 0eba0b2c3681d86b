"""What files import, read off their text: a parser takes thirty times as long, and there are a thousand files."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
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


def packages(file: Path) -> set[str]:
    """Return the first parts of the modules that `file` imports by their whole name."""
    return {each.module.partition(".")[0] for each in imports(file) if not each.level}


def modules(root: Path, packages: Iterable[str]) -> dict[str, set[str]]:
    """Return the modules of `packages`, folders in `root`, by dotted name, and which of one another each imports."""
    files = {_dotted(file.relative_to(root)): file for package in packages for file in (root / package).rglob("*.py")}
    return {name: set(_targets(file.relative_to(root), file, files)) - {name} for name, file in files.items()}


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """Return a way that ends where it began; empty where there is none."""
    done: set[str] = set()

    def walk(name: str, way: list[str]) -> list[str]:
        if name in way:
            return [*way[way.index(name) :], name]
        if name in done:
            return []
        found = next(filter(None, (walk(each, [*way, name]) for each in sorted(graph.get(name, ())))), [])
        done.add(name)
        return found

    return next(filter(None, (walk(name, []) for name in sorted(graph))), [])


def _dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _targets(path: Path, file: Path, known: Container[str]) -> Iterator[str]:
    own = path.with_suffix("").parts
    for each in imports(file):
        module = ".".join([*own[: len(own) - each.level], *filter(None, [each.module])]) if each.level else each.module
        for name in each.names or ("",):
            yield from [found for found in (f"{module}.{name}", module) if found in known][:1]
