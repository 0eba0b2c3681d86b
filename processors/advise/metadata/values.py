"""What a program's values are known to be, without running it.

Plain numbers, texts, lists and dictionaries are themselves. What comes from a library or from data is a `Term`: the expression that
would make it, so that whoever sees it arrive at a sink can tell what it is made of.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from .budget import step

Value = Any
"""A plain value, or one of the classes of this file."""

_NO_KEYWORDS: Mapping[str, Value] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A value that only a run would know.

    Attributes:
        kind: `external` (a name of a library), `call`, `attribute`, `item`, `operation`, `choice` (one of the parts) or `unknown`.
        name: Dotted name, attribute or operator.
        parts: What it is made of; of a call, what is called and then the arguments.
        keywords: Keyword arguments of a call.
    """

    kind: str
    name: str = ""
    parts: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict)


UNKNOWN = Term("unknown")


class Config(dict[Any, Value]):
    """A dictionary whose entries are attributes too: a namespace, a configuration node, a struct."""


class DefaultMapping(dict[Any, Value]):
    """A `defaultdict`; `make` gives the value of a key that is missing."""

    make: Any = None

    def __missing__(self, key: Any) -> Value:
        if self.make is None:
            raise KeyError(key)
        self[key] = self.make()
        return self[key]


@dataclass(slots=True, eq=False)
class Module:
    """A module of the tree.

    Attributes:
        name: Dotted name.
        file: Its name in the tree.
        package: Whether it is a package's `__init__`.
        names: Its globals.
    """

    name: str
    file: str
    package: bool
    names: dict[str, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Scope:
    """Local names of a call, and the scope around it."""

    names: dict[str, Value]
    outer: "Scope | None"
    module: Module
    globals_: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    returned: list[Value] = field(default_factory=list)
    owner: "Class | None" = None
    this: Value = None


@dataclass(slots=True, eq=False)
class Function:
    """A function of the tree, with what it is bound to and the decorators that were not looked through."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    defaults: tuple[Value, ...] = ()
    keyword_defaults: Mapping[str, Value] = field(default_factory=dict)
    this: Value = None
    owner: "Class | None" = None
    decorators: tuple[Value, ...] = ()
    bound_arguments: tuple[Value, ...] = ()
    bound_keywords: Mapping[str, Value] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the function's name."""
        return getattr(self.node, "name", "<lambda>")


@dataclass(slots=True, eq=False)
class Class:
    """A class of the tree."""

    name: str
    module: Module
    bases: tuple[Value, ...]
    names: dict[str, Value]
    node: ast.ClassDef
    decorators: tuple[Value, ...] = ()

    def ancestry(self) -> Iterator["Class"]:
        """Yield this class and its bases in the tree, depth first."""
        waiting, seen = [self], 0
        while waiting and seen < 50:
            each = waiting.pop(0)
            seen += 1
            yield each
            waiting = [base for base in each.bases if isinstance(base, Class)] + waiting

    def external_bases(self) -> list[str]:
        """Return the dotted names of bases outside of the tree."""
        bases = [base for each in self.ancestry() for base in each.bases]
        return [base.name for base in bases if isinstance(base, (Term, Model)) and base.name]

    def find(self, name: str) -> Value:
        """Return what `name` is in the class or its bases; `UNKNOWN` where it is not there."""
        return next((each.names[name] for each in self.ancestry() if name in each.names), UNKNOWN)


@dataclass(slots=True, eq=False)
class Instance:
    """An object of a class of the tree.

    Attributes:
        arguments: Positional arguments that it was made with.
        keywords: Keyword arguments that it was made with.
    """

    cls: Class
    names: dict[str, Value]
    arguments: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Model:
    """Something of a library that is modelled here: called as `call(interpreter, arguments, keywords)`."""

    name: str
    call: Any


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """A `range`, whose ends may be unknown; `literal_start` tells a constant from a resumed position."""

    start: Value
    end: Value
    step: Value = 1
    literal_start: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class OpenFile:
    """An open file; `path` as the program named it."""

    path: str


def choice(*values: Value) -> Value:
    """Return the one of `values` that a run would have; itself where all are the same."""
    flat: list[Value] = []
    for value in values:
        for each in value.parts if isinstance(value, Term) and value.kind == "choice" else (value,):
            if not any(_same(each, other) for other in flat):
                flat.append(each)
    known = [each for each in flat if each is not UNKNOWN][:8]
    if not known:
        return UNKNOWN
    return known[0] if len(known) == 1 else Term("choice", parts=tuple(known))


def alternatives(value: Value) -> tuple[Value, ...]:
    """Return what `value` may be."""
    return value.parts if isinstance(value, Term) and value.kind == "choice" else (value,)


def dotted(value: Value) -> str:
    """Return how a program would write `value` as a dotted name; calls as `()`, unknown beginnings as `?`."""
    names: list[str] = []
    for _ in range(30):
        if not isinstance(value, Term):
            break
        if value.kind == "external":
            names.append(value.name)
            return ".".join(reversed(names))
        if value.kind == "attribute":
            names.append(value.name)
            value = value.parts[0]
        elif value.kind == "call":
            inner = dotted(value.parts[0])
            names.append(f"{inner}()")
            return ".".join(reversed(names))
        else:
            break
    if isinstance(value, (Class, Function, Model)):
        names.append(value.name)
    elif isinstance(value, Instance):
        names.append(f"{value.cls.name}()")
    else:
        names.append("?")
    return ".".join(reversed(names))


def text(value: Value, longest: int = 300) -> str:
    """Return about `longest` characters of a value: its numbers and texts, depth first.

    The text of a value that shares its parts may be without end.
    """
    found: list[str] = []
    waiting = [value]
    length = 0
    for _ in range(longest):
        if not waiting or length >= longest:
            break
        each = waiting.pop()
        if isinstance(each, dict):
            waiting += [part for pair in reversed(list(islice(each.items(), longest))) for part in reversed(pair)]
        elif isinstance(each, (list, tuple, set, frozenset)):
            waiting += reversed(list(islice(each, longest)))
        elif isinstance(each, (str, bytes)):
            found.append(str(each[:longest]))
            length += len(each)
        elif each is None or isinstance(each, (int, float)):
            found.append(str(each))
        else:
            found.append(dotted(each))
    return " ".join(found)


def is_small(value: Value, most: int = 10_000) -> bool:
    """Whether a collection has at most `most` parts, each counted as often as it is held: Python compares and hashes it so often."""
    waiting, count = [value], 0
    while waiting and count <= most:
        each = waiting.pop()
        count += 1
        if isinstance(each, (list, tuple, set, frozenset)):
            waiting += islice(each, most)
        elif isinstance(each, dict):
            waiting += islice(each.values(), most)
    step(count // 50)
    return count <= most


def walk(value: Value, most: int = 300) -> Iterator[Value]:
    """Yield `value` and what it is made of, breadth first, at most `most` parts, each once."""
    waiting, seen, count = [value], set[int](), 0
    while waiting and count < most:
        each = waiting.pop(0)
        if id(each) in seen and not isinstance(each, (str, int, float)):
            continue
        seen.add(id(each))
        count += 1
        step()
        yield each
        waiting += parts(each)


def parts(value: Value) -> list[Value]:
    """Return what `value` is made of, one level down, at most 30 of a collection."""
    if isinstance(value, Term):
        return [*value.parts, *value.keywords.values()]
    if isinstance(value, Instance):
        return [*value.arguments, *value.keywords.values(), *list(value.names.values())[:30]]
    if isinstance(value, dict):
        return list(value.values())[:30]
    if isinstance(value, (list, tuple, set)):
        return list(value)[:30]
    if isinstance(value, Function):
        return [*value.bound_arguments, *value.bound_keywords.values()]
    return []


def _same(left: Value, right: Value) -> bool:
    if left is right:
        return True
    plain = (str, int, float, bool, type(None))
    return isinstance(left, plain) and isinstance(right, plain) and type(left) is type(right) and left == right
