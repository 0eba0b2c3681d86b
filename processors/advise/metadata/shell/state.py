"""What a script that is read knows: its variables, where it is, what it was called with, and the commands found so far."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..tree import ROOT, SourceTree

MOST_COMMANDS = 100
MOST_STEPS = 5_000
DEEPEST = 40
LONGEST_VALUE = 8_000
"""Characters of an expanded word or variable."""
MOST_ITEMS = 1_000
"""Fields of a word, and items of an array."""


@dataclass(slots=True)
class ShellCommand:
    """One command of a script.

    Attributes:
        words: Its words, expanded.
        directory: Working directory, relative to the tree.
        environment: Variables that are set.
    """

    words: list[str]
    directory: str
    environment: dict[str, str]


@dataclass(slots=True)
class Shell:
    """The state of a script between two statements.

    Attributes:
        tree: Tree that the script is part of.
        directory: Working directory, relative to the tree.
        variables: Texts, and arrays as lists.
        arguments: What `$1`, `$2`, … are.
        script: What `$0` is.
        functions: Bodies of functions, by name: nodes of the syntax tree.
        found: Commands, in the order in which the script reaches them.
        printed: What `echo` and `printf` printed; read where a substitution asks for it.
        steps: Statements and expansions so far.
        depth: Statements, functions and substitutions around the current one.
    """

    tree: SourceTree
    directory: str
    variables: dict[str, str | list[str]]
    arguments: list[str] = field(default_factory=list)
    script: str = ""
    functions: dict[str, Any] = field(default_factory=dict)
    found: list[ShellCommand] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    steps: int = 0
    depth: int = 0

    @property
    def exhausted(self) -> bool:
        """Whether the limits are reached."""
        return self.steps > MOST_STEPS or len(self.found) >= MOST_COMMANDS or self.depth > DEEPEST

    def text(self, name: str) -> str:
        """Return a variable as a text: of an array the first item; empty where it is not set."""
        value = self.variables.get(name, self._own(name))
        return value if isinstance(value, str) else (value[0] if value else "")

    def items(self, name: str) -> list[str]:
        """Return a variable as an array."""
        value = self.variables.get(name, self._own(name) or None)
        return [] if value is None else [value] if isinstance(value, str) else value

    def _own(self, name: str) -> str:
        return f"{ROOT}/{self.directory}" if name == "PWD" else ""

    def set(self, name: str, value: str | Sequence[str]) -> None:
        """Set a variable, cut to the limits."""
        self.variables[name] = (
            value[:LONGEST_VALUE] if isinstance(value, str) else [each[:LONGEST_VALUE] for each in value[:MOST_ITEMS]]
        )

    def environment(self) -> dict[str, str]:
        """Return the variables that are texts."""
        return {name: value for name, value in self.variables.items() if isinstance(value, str)}
