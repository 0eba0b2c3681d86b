"""Record of the calls, loops and settings of a program. The fields are read from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .values import Value

MOST_CALLS = 20_000
"""Maximum number of calls that a trace keeps. It bounds the memory that a hostile program takes."""


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A loop: its variables, its iterable (null for `while`), the source of the iterable or the condition, and the loops around it."""

    target: str
    iterated: Value
    text: str
    outer: tuple["Loop", ...]


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A call, and the loops and the names of the functions around it, outermost first; `bases` are a class's external bases."""

    name: str
    called: Value
    arguments: tuple[Value, ...]
    keywords: Mapping[str, Value]
    result: Value
    loops: tuple[Loop, ...]
    functions: tuple[str, ...]
    bases: tuple[str, ...]

    @property
    def last(self) -> str:
        """Return the last part of the name."""
        return self.name.rpartition(".")[2]

    def argument(self, *names: str, place: int | None = None) -> Value:
        """Return the argument of one of these names, or at `place`; null if there is none."""
        positional = self.arguments[place : place + 1] if place is not None else ()
        return next((self.keywords[name] for name in names if name in self.keywords), next(iter(positional), None))


@dataclass(slots=True)
class Trace:
    """Calls and loops in the order seen, labelled groups of settings, and the words of the command; `entry` is the first file."""

    words: list[str]
    calls: list[Call] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    settings: list[tuple[str, Value]] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)
    entry: str = ""
