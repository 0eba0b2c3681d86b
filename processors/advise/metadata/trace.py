"""What a program was seen to do: calls, loops, settings. The sinks read their answers here."""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .values import Value

MOST_CALLS = 20_000
MOST_FAILURES = 10


@dataclass(slots=True, eq=False)
class Loop:
    """A loop of the program, seen once.

    Attributes:
        target: Names of the loop's variables.
        iterated: What it goes over; null for `while`.
        text: Source of what it goes over, or of the condition.
        limits: Comparisons that end it: source of both sides, and the values of both sides.
        file: Name in the tree.
        line: Line of the statement.
        outer: Loops around it, outermost first.
    """

    target: str
    iterated: Value
    text: str
    file: str
    line: int
    outer: tuple["Loop", ...] = ()
    limits: list[tuple[str, Value, str, Value]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A call that leaves the tree, makes an object, or enters a function of the tree.

    Attributes:
        name: Dotted name of what was called.
        called: What was called.
        arguments: Positional arguments.
        keywords: Keyword arguments.
        result: What came of it.
        loops: Loops around it, outermost first, across calls.
        functions: Names of the functions around it, outermost first.
        bases: Of an object's making, dotted names of its class's bases outside of the tree.
        file: Name in the tree.
        line: Line of the call.
    """

    name: str
    called: Value
    arguments: tuple[Value, ...]
    keywords: Mapping[str, Value]
    result: Value
    loops: tuple[Loop, ...]
    functions: tuple[str, ...]
    bases: tuple[str, ...]
    file: str
    line: int

    @property
    def last(self) -> str:
        """Return the last part of the name."""
        return self.name.rpartition(".")[2]

    def argument(self, *names: str, place: int | None = None) -> Value:
        """Return the argument of one of these names, or at `place`; null where there is none."""
        for name in names:
            if name in self.keywords:
                return self.keywords[name]
        return self.arguments[place] if place is not None and place < len(self.arguments) else None


@dataclass(slots=True)
class Trace:
    """All that was seen.

    Attributes:
        calls: In the order seen.
        settings: Groups of settings (command line, configuration files, constants of the entry), strongest first.
        entry: Name of the file that was entered.
        files: Files that were read as modules.
        failed: What failed while it was followed, with its place, at most `MOST_FAILURES`.
        loops: All loops, in the order seen.
        words: What the user wrote behind the program's name.
        options: Options that a parser of the program knows, letters and digits only.
        unread: What the configuration files hold that the command names and the program was not seen to read.
        imports: Libraries that the modules import.
        absent: Configuration files that the command names and the tree does not hold.
    """

    calls: list[Call] = field(default_factory=list)
    settings: list[tuple[str, Value]] = field(default_factory=list)
    entry: str = ""
    files: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    options: set[str] = field(default_factory=set)
    unread: list[Value] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)

    @property
    def full(self) -> bool:
        """Whether no more calls are taken up."""
        return len(self.calls) >= MOST_CALLS

    def knows(self, names: Iterable[str]) -> None:
        """Take up the names of options that a parser knows."""
        self.options.update("".join(letter for letter in each.lower() if letter.isalnum()) for each in names)

    def note(self, error: BaseException, place: str) -> None:
        """Keep a failure and its place, as long as there are few."""
        found = f"{place}: {type(error).__name__}: {str(error)[:100]}"
        if len(self.failed) < MOST_FAILURES and found not in self.failed:
            self.failed.append(found)

    def add(self, call: Call) -> None:
        """Take `call` up, as long as there are not too many."""
        if not self.full:
            self.calls.append(call)


def source(node: ast.AST | None) -> str:
    """Return a node as source, cut to 300 characters; empty where it is too deep."""
    if node is None:
        return ""
    try:
        return ast.unparse(node)[:300]
    except (RecursionError, ValueError):
        return ""
