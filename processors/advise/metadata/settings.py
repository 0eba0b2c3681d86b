"""All settings of a program under their names, the strongest first: where the flow of values leads nowhere."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .operations import is_scalar, settle
from .registry import plain
from .trace import Trace
from .values import Class, Function, Instance, Module, Value

MOST_SETTINGS = 3_000
_STRENGTH = ("given", "command line", "merged", "file", "constants")


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and its dotted name."""

    name: str
    value: Value
    strength: int

    @property
    def constant(self) -> bool:
        """Whether it is a constant of the source, which nobody had to set."""
        return self.strength >= _STRENGTH.index("constants")

    @property
    def derived(self) -> bool:
        """Whether it comes of merging or of the source, and stands in no command and no file that was read."""
        return self.constant or self.strength == _STRENGTH.index("merged")

    @property
    def last(self) -> str:
        """Return the last part of the name, letters and digits only."""
        return plain(self.name.rpartition(".")[2])


class Settings:
    """The settings of a trace."""

    def __init__(self, trace: Trace) -> None:
        self.all: list[Setting] = []
        groups = sorted(enumerate(trace.settings), key=lambda each: (_strength(each[1][0]), -each[0]))
        for _, (label, values) in groups:
            self.all += _flat(values, "", _strength(label), MOST_SETTINGS - len(self.all), 0)

    def find(self, names: Sequence[str], under: str = "") -> Iterator[Setting]:
        """Yield settings whose last part is one of `names` (letters and digits), in the order of `names`, strongest first."""
        for name in names:
            for each in self.all:
                if each.last == name and (not under or under in each.name.lower()):
                    yield each

    def number(self, names: Sequence[str]) -> Setting | None:
        """Return the first positive number of these names."""
        return next((each for each in self.find(names) if is_number(each.value) and each.value > 0), None)

    def text(self, names: Sequence[str]) -> Setting | None:
        """Return the first text of these names that is not empty."""
        return next((each for each in self.find(names) if isinstance(each.value, str) and each.value.strip()), None)


def is_number(value: Value) -> bool:
    """Whether `value` is a number, and no truth value."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _strength(label: str) -> int:
    return next((place for place, each in enumerate(_STRENGTH) if label.startswith(each)), len(_STRENGTH))


def _flat(values: Value, prefix: str, strength: int, left: int, depth: int) -> list[Setting]:
    if isinstance(values, Instance):
        values = values.names
    if not isinstance(values, dict) or depth > 8 or left <= 0:
        return []
    found: list[Setting] = []
    for key, raw in list(values.items()):
        if (
            not isinstance(key, str)
            or key.startswith("__")
            or isinstance(raw, (Function, Class, Module))
            or len(found) >= left
        ):
            continue
        value = settle(raw)
        if isinstance(value, str) and "${" in value:
            continue  # a reference that nothing answered
        if is_scalar(value) or isinstance(value, (list, tuple)):
            found.append(Setting(f"{prefix}{key}", value, strength))
        elif isinstance(value, (dict, Instance)):
            found += _flat(value, f"{prefix}{key}.", strength, left - len(found), depth + 1)
    return found
