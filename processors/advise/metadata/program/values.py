"""Values of a program that is followed but not run.

Numbers, texts, lists and dictionaries are themselves. Paths and open files are texts. A value that only a run would know is a `Term`.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..budget import step

Value = Any
"""A plain value, or one of the classes of this file."""
Program = Any
"""The `Interpreter`, for the handlers of libraries."""


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """The expression that makes a value.

    `kind` is `external` (a name of a library), `call`, `attribute`, `item`, `operation`, `choice` (one of the parts) or `unknown`. The
    first part of a call is the function.
    """

    kind: str
    name: str = ""
    parts: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict)


UNKNOWN = Term("unknown")


class Config(dict[Any, Value]):
    """A dictionary whose entries are attributes, too, such as a namespace or a node of a configuration."""


@dataclass(slots=True, eq=False)
class Module:
    """A module of the tree: its dotted name, its file, whether it is a package, and its globals."""

    name: str
    file: str
    package: bool
    names: dict[str, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Scope:
    """Local names of a call, the scope around it, and the values that it returns."""

    names: dict[str, Value]
    outer: "Scope | None"
    module: Module
    owner: "Class | None" = None
    this: Value = None
    globals_: set[str] = field(default_factory=set)
    returned: list[Value] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Function:
    """A function of the tree. A method is bound to `this`."""

    name: str
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    defaults: Mapping[str, Value]
    decorators: tuple[Value, ...] = ()
    this: Value = None
    owner: "Class | None" = None

    @property
    def parameters(self) -> list[str]:
        """Return the names of the parameters that have a place."""
        return [each.arg for each in (*self.node.args.posonlyargs, *self.node.args.args)]


@dataclass(slots=True, eq=False)
class Class:
    """A class of the tree."""

    name: str
    module: Module
    bases: tuple[Value, ...]
    names: dict[str, Value]
    node: ast.ClassDef

    def lineage(self) -> list["Class"]:
        """Return this class and its bases in the tree, depth first."""
        waiting: list[Class] = [self]
        found: list[Class] = []
        while waiting and len(found) < 50:
            found.append(waiting.pop(0))
            waiting = [base for base in found[-1].bases if isinstance(base, Class)] + waiting
        return found

    def external_bases(self) -> list[str]:
        """Return the dotted names of bases outside of the tree."""
        return [
            base.name
            for each in self.lineage()
            for base in each.bases
            if isinstance(base, (Term, Handler)) and base.name
        ]

    def find(self, name: str) -> Value:
        """Return the attribute `name` of the class or its bases; `UNKNOWN` if there is none."""
        return next((each.names[name] for each in self.lineage() if name in each.names), UNKNOWN)

    def method(self, name: str) -> "Function | None":
        """Return the method `name`; null if there is none."""
        found = self.find(name)
        return found if isinstance(found, Function) else None


@dataclass(slots=True, eq=False)
class Instance:
    """An object of a class of the tree, its attributes, and the arguments that it was made with."""

    cls: Class
    names: dict[str, Value]
    arguments: tuple[Value, ...]
    keywords: Mapping[str, Value]


@dataclass(slots=True, eq=False)
class Handler:
    """A function of a library whose result is known here; called as `call(program, *arguments, **keywords)`."""

    name: str
    call: Any


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """A `range`, whose ends may be unknown."""

    start: Value
    end: Value


def choice(*values: Value) -> Value:
    """Return a term for one of `values`; the value itself if all are the same."""
    flat: list[Value] = []
    for each in (one for value in values for one in alternatives(value)):
        if each is not UNKNOWN and not any(
            each is one or (is_scalar(each) and type(each) is type(one) and each == one) for one in flat
        ):
            flat.append(each)
    return (flat[0] if len(flat) == 1 else Term("choice", parts=tuple(flat[:8]))) if flat else UNKNOWN


def alternatives(value: Value) -> tuple[Value, ...]:
    """Return the values of which `value` is one."""
    return value.parts if isinstance(value, Term) and value.kind == "choice" else (value,)


def is_scalar(value: Value) -> bool:
    """Return whether `value` is a number, a text, a truth value or null."""
    return value is None or isinstance(value, (str, int, float))


def is_plain(value: Value) -> bool:
    """Return whether `value` itself is known. Its parts may be unknown."""
    return is_scalar(value) or isinstance(value, (list, tuple, dict))


def is_number(value: Value) -> bool:
    """Return whether `value` is a number, and no truth value."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def names_in(value: Value) -> Value:
    """Return the attributes of an object as a dictionary; other values themselves."""
    return value.names if isinstance(value, (Instance, Class, Module)) else value


def dotted(value: Value) -> str:
    """Return a value as a dotted name. A call ends in `()`; an unknown beginning is `?`."""
    names: list[str] = []
    while isinstance(value, Term) and value.kind in {"attribute", "call"} and len(names) < 30:
        names.append(value.name if value.kind == "attribute" else "()")
        value = value.parts[0]
    named = isinstance(value, (Class, Function, Handler)) or (isinstance(value, Term) and value.kind == "external")
    names.append(f"{value.cls.name}()" if isinstance(value, Instance) else value.name if named else "?")
    return ".".join(reversed(names)).replace(".()", "()")


def walk(value: Value, most: int = 300) -> Iterator[Value]:
    """Yield `value` and its parts, breadth first, at most `most` and at most 30 of a collection, each once."""
    waiting, seen = [value], set[int]()
    while waiting and len(seen) < most:
        each = waiting.pop(0)
        if id(each) in seen and not is_scalar(each):
            continue
        seen.add(id(each))
        step()
        yield each
        waiting += [*each.parts, *each.keywords.values()] if isinstance(each, Term) else []
        waiting += [*each.arguments, *each.keywords.values()] if isinstance(each, Instance) else []
        held = names_in(each)
        waiting += (
            list(held.values() if isinstance(held, dict) else held)[:30]
            if isinstance(held, (list, tuple, dict))
            else []
        )
