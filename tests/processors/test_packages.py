"""The packages of the processors import one another in one direction."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.docs.pages import ROOT
from tests.imported import circle, imports

ROOM = ROOT / "processors"


def package_of(module: str) -> str:
    """The package or module directly below `processors` that `module`, a dotted name, is in."""
    return module.split(".")[1]


def imported(file: Path) -> Iterator[str]:
    """Yield the dotted names of our own modules that `file` imports."""
    own = file.relative_to(ROOT).with_suffix("").parts
    for each in imports(file):
        base = [*own[: len(own) - each.level], *filter(None, [each.module])] if each.level else [each.module]
        module = ".".join(base)
        yield from (f"{module}.{name}" for name in each.names) if module == "processors" else [module]


def edges() -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = {}
    for file in ROOM.rglob("*.py"):
        own = file.relative_to(ROOM).with_suffix("").parts[0]
        targets = found.setdefault(own, set())
        targets |= {package_of(name) for name in imported(file) if name.startswith("processors.")} - {own}
    return found


def test_no_package_imports_itself_by_a_detour() -> None:
    graph = edges()
    assert {"activity", "interference", "diagnose"} <= set(graph["stages"]), "the imports were read"
    assert circle(graph) == []
