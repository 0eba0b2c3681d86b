"""Every expression of the product: those that modules hold, and those that stand in a call of `re` within a function."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

PACKAGES = ("schedmate_records", "processors", "sinks", "streams", "scheduler_bridge", "schedmate")
_METHODS = frozenset({"match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"})
_ANYWHERE = frozenset({"search", "sub", "subn", "split", "findall", "finditer"})
_CALL = re.compile(rf"\.({'|'.join(sorted(_METHODS))}|compile)\(")
_PLACES: dict[int, dict[str, re.Pattern[str]]] = {}
"""Under which names each expression is held."""
OF_OPERATORS = frozenset({"streams.producers.paths", "scheduler_bridge.schedulers.slurm.client.job"})
"""Modules with expressions that operators configure, or that hold numbers of jobs: no stranger's."""


@dataclass
class Expression:
    """An expression, where it stands, and whether it is looked for anywhere in a text or only where that begins."""

    place: str
    pattern: re.Pattern[str]
    methods: set[str] = field(default_factory=set)

    @property
    def anywhere(self) -> bool:
        return not self.methods or not self.methods.isdisjoint(_ANYWHERE)

    def look(self, text: str) -> None:
        """Run it over `text` as the product does."""
        if not self.anywhere:
            (self.pattern.fullmatch if self.methods == {"fullmatch"} else self.pattern.match)(text)
            return
        for _ in self.pattern.finditer(text):
            pass


class NotKnown(Exception):
    """An expression that is made while the product runs, so that nobody can measure it beforehand."""


def expressions(packages: Sequence[str] = PACKAGES) -> list[Expression]:
    """Return all expressions of `packages`."""
    found: dict[str, Expression] = {}
    used: dict[str, set[str]] = {}
    modules = list(_modules(packages))
    for module in modules:
        for name, pattern in _held(module):
            place = f"{module.__name__}.{name}"
            found.setdefault(place, Expression(place, pattern))
            _PLACES.setdefault(id(pattern), {})[place] = pattern
    for module in modules:
        text = Path(module.__file__ or "").read_text(encoding="utf-8")
        if not _CALL.search(text):
            continue  # trees of all modules are most of the time that this takes
        for call, loops in _calls(ast.parse(text)):
            assert isinstance(call.func, ast.Attribute)
            if inline := _inline(module, call):
                found[inline.place] = inline
            for target in _targets(module, call, loops):
                used.setdefault(target, set()).add(call.func.attr)
    for place, expression in found.items():
        expression.methods |= used.get(place, set())
    return sorted(found.values(), key=lambda each: each.place)


def _modules(packages: Sequence[str]) -> Iterator[ModuleType]:
    for package in packages:
        root = importlib.import_module(package)
        yield root
        for info in pkgutil.walk_packages(root.__path__, f"{package}."):
            if not info.name.endswith("__main__"):
                try:
                    yield importlib.import_module(info.name)
                except ImportError:
                    continue  # needs a package that is not installed


def _held(module: ModuleType) -> Iterator[tuple[str, re.Pattern[str]]]:
    for name, value in vars(module).items():
        members = vars(value).items() if isinstance(value, type) and value.__module__ == module.__name__ else ()
        for member, held in ((name, value), *((f"{name}.{each}", inner) for each, inner in members)):
            yield from _within(member, held)


def _within(name: str, held: object) -> Iterator[tuple[str, re.Pattern[str]]]:
    if isinstance(held, re.Pattern):
        if isinstance(held.pattern, str):
            yield name, held
    elif isinstance(held, dict):
        for key, value in held.items():
            yield from _within(f"{name}[{key}]", value)
    elif isinstance(held, tuple | list | frozenset | set):
        for index, value in enumerate(held):
            yield from _within(f"{name}[{index}]", value)


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Call, dict[str, list[str]]]]:
    """Yield the calls of methods within functions, with what the loops about them go over."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    for function in functions:
        nodes = list(ast.walk(function))
        loops = _loops(nodes)
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                yield node, loops


def _inline(module: ModuleType, call: ast.Call) -> Expression | None:
    """Return the expression of a call such as `re.search(r"…", text)`; None for another call."""
    func = call.func
    if not (isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "re"):
        return None
    if func.attr not in _METHODS | {"compile"} or vars(module).get("re") is not re:
        return None
    place = f"{module.__name__}:{call.lineno}"
    if not isinstance(call.args[0], ast.Constant):
        if module.__name__ in OF_OPERATORS:
            return None
        raise NotKnown(f"{place}: expected a literal or a compiled expression of the module, got {ast.unparse(call)}")
    if isinstance(call.args[0].value, bytes):  # as those of a module's constants
        return None
    return Expression(place, re.compile(call.args[0].value), {func.attr} & _METHODS)


def _targets(module: ModuleType, call: ast.Call, loops: dict[str, list[str]]) -> Iterator[str]:
    """Yield the names of the expressions whose method is called: `_NAME.search(…)`, `_TABLE["name"].search(…)`, or one of a loop."""
    assert isinstance(call.func, ast.Attribute)
    if call.func.attr not in _METHODS:
        return
    name = ast.unparse(call.func.value)
    for each in loops.get(name, [name]):
        held = ast.parse(each, mode="eval").body
        if isinstance(held, ast.Subscript) and isinstance(held.slice, ast.Constant):
            yield f"{module.__name__}.{ast.unparse(held.value)}[{held.slice.value!s}]"
            continue
        owner: object = module
        *modules, last = each.split(".")
        for part in modules:
            owner = vars(owner).get(part) if isinstance(owner, ModuleType) else None
        pattern = vars(owner).get(last) if isinstance(owner, ModuleType) else None
        if isinstance(pattern, re.Pattern):
            yield from (place for place, known in _PLACES.get(id(pattern), {}).items() if known is pattern)


def _loops(nodes: Iterable[ast.AST]) -> dict[str, list[str]]:
    """Return what the variables of loops over several names stand for: `for each in (_A, _B)`."""
    return {
        node.target.id: [ast.unparse(each) for each in node.iter.elts]
        for node in nodes
        if isinstance(node, ast.For | ast.comprehension)
        and isinstance(node.target, ast.Name)
        and isinstance(node.iter, ast.Tuple)
    }
