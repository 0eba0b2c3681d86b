"""All settings of a program under their names, the strongest first: where the flow of values leads nowhere."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .budget import step
from .library.paths import is_path, path_text
from .operations import agreed_number, is_scalar, settle
from .registry import plain, words
from .trace import Trace
from .values import Class, Function, Instance, Module, Value

MOST_SETTINGS = 3_000
MOST_NAMES = 20
"""Names under which one object counts."""
LEAST_ALTERNATIVES = 3
"""Entries of one shape from which a dictionary counts as a table of presets."""
LEAST_SHARED = 2
"""Things that all of them set."""
_PARTS = frozenset({"train", "val", "valid", "validation", "test", "dev", "eval"})
"""Words of entries that a run uses side by side."""
_SHARED = frozenset({"default", "defaults", "base", "common", "shared", "global"})
"""Sections that count whatever the command names."""
_KINDS = frozenset({"type", "name", "_target_", "class_path"})
_STRENGTH = ("given", "command line", "merged", "file", "constants")


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and its dotted name."""

    name: str
    value: Value
    strength: int

    @property
    def given(self) -> bool:
        """Whether it is a word of the command, whatever read it."""
        return self.strength == _STRENGTH.index("given")

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

    def __init__(self) -> None:
        self.all: list[Setting] = []
        self._by_last: dict[str, list[Setting]] = {}

    def collect(self, trace: Trace) -> None:
        """Take up the settings of a trace, the strongest first; where a limit ends it, those so far are kept."""
        chosen = frozenset(_texts(trace))
        groups = sorted(enumerate(trace.settings), key=lambda each: (_strength(each[1][0]), -each[0]))
        flattener = _Flattener(self.all, chosen)
        try:
            for _, (label, values) in groups:
                flattener.add(values, _strength(label))
        finally:
            self.all.sort(key=lambda each: each.strength)
            for each in self.all:
                self._by_last.setdefault(each.last, []).append(each)

    def find(self, names: Sequence[str], under: str = "") -> Iterator[Setting]:
        """Yield settings whose last part is one of `names` (letters and digits), in the order of `names`, strongest first."""
        for name in names:
            for each in self._by_last.get(name, ()):
                if not under or under in each.name.lower():
                    yield each

    def number(self, names: Sequence[str], under: str = "") -> Setting | None:
        """Return the first positive number of these names."""
        return next((each for each in self.find(names, under) if is_number(each.value) and each.value > 0), None)

    def text(self, names: Sequence[str]) -> Setting | None:
        """Return the first text of these names that is not empty."""
        return next((each for each in self.find(names) if isinstance(each.value, str) and each.value.strip()), None)


def flat(values: Value) -> list[Setting]:
    """Return the settings of a configuration file."""
    found: list[Setting] = []
    _Flattener(found).add(values, _STRENGTH.index("file"))
    return found


def is_number(value: Value) -> bool:
    """Whether `value` is a number, and no truth value."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _strength(label: str) -> int:
    return next((place for place, each in enumerate(_STRENGTH) if label.startswith(each)), len(_STRENGTH))


def _texts(trace: Trace) -> Iterator[str]:
    """Yield the texts that the command line sets."""
    for label, values in trace.settings:
        if label in {"given", "command line"} and isinstance(values, dict):
            yield from (each for each in values.values() if isinstance(each, str))
    yield from trace.words


def _is_table(values: dict[object, Value]) -> bool:
    """Whether entries are alternatives, of which a run takes one: at least three, that all set the same things."""
    inner = [set(each) for each in values.values() if isinstance(each, dict)]
    parts = any(_PARTS & set(words(key)) for key in values if isinstance(key, str))
    if len(inner) < LEAST_ALTERNATIVES or len(inner) < len(values) or parts:
        return False
    counted = Counter(key for each in inner for key in each if key not in _KINDS)
    return sum(count >= 0.8 * len(inner) for count in counted.values()) >= LEAST_SHARED


def _names_presets(values: dict[object, Value], chosen: frozenset[str]) -> bool:
    """Whether a file holds nothing but sections, of which the command names some."""
    sections = len(values) >= LEAST_ALTERNATIVES and all(isinstance(each, dict) for each in values.values())
    return sections and any(key in chosen for key in values)


class _Flattener:
    """Lists the settings of collections, and of those in them, by their dotted names.

    Objects may hold one another many times over, so that their settings are more than can be listed. Each object counts under the first
    `MOST_NAMES` of its names.

    Args:
        found: List to which settings are appended.
        chosen: Texts of the command, which choose presets.
    """

    def __init__(self, found: list[Setting], chosen: frozenset[str] = frozenset()) -> None:
        self._found, self._chosen = found, chosen
        self._names = Counter[int]()

    def add(self, values: Value, strength: int, prefix: str = "", depth: int = 0) -> None:
        """Append the settings of a collection."""
        if isinstance(values, Instance):
            values = values.names
        if not isinstance(values, dict) or depth > 8 or self._names[id(values)] >= MOST_NAMES:
            return
        self._names[id(values)] += 1
        table = _is_table(values)
        named = depth == 0 and _names_presets(values, self._chosen)
        for key, raw in list(values.items()):
            if (table or (named and key not in _SHARED)) and key not in self._chosen:
                continue
            if not isinstance(key, str) or key.startswith("__") or isinstance(raw, (Function, Class, Module)):
                continue
            picked = table or (named and key in self._chosen)  # the user chose this entry
            self._add_entry(
                f"{prefix}{key}", raw, min(strength, _STRENGTH.index("command line")) if picked else strength, depth
            )

    def _add_entry(self, name: str, raw: Value, strength: int, depth: int) -> None:
        step()
        value = settle(raw)
        if len(self._found) >= MOST_SETTINGS or (is_number(value) and agreed_number(raw) is None):
            return  # one of several, and which one is not known
        value = path_text(value) if is_path(value) else value
        if isinstance(value, str) and "${" in value:
            return  # a reference that nothing answered
        if is_scalar(value) or isinstance(value, (list, tuple)):
            self._found.append(Setting(name, value, strength))
        elif isinstance(value, (dict, Instance)):
            self.add(value, strength, f"{name}.", depth + 1)
