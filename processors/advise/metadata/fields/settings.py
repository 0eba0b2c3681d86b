"""All settings of a program by name: of the command line, of configuration files, and constants of the source."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..budget import step
from ..program.operations import agreed_number, settle
from ..program.trace import Trace
from ..program.values import Instance, Value, is_number, is_scalar, names_in
from ..registry import names, plain

MOST_SETTINGS = 3_000
"""Maximum number of settings of one job. A limit against hostile source trees."""
MOST_NAMES = 20
"""Names under which the entries of one object count. Objects may hold one another many times over."""
DEEPEST = 8
"""Levels of objects inside objects whose entries count. A limit against objects that contain themselves."""
_STRENGTH = ("given", "command line", "file", "merged", "constants")


@dataclass(frozen=True, slots=True)
class Setting:
    """A value, its dotted name, and its group in `_STRENGTH`: `given` is a word of the command, whatever reads it."""

    name: str
    value: Value
    group: str

    @property
    def derived(self) -> bool:
        """Return whether no command and no file sets it."""
        return self.group in {"merged", "constants"}


class Settings:
    """The settings of a trace, in `all` the strongest first."""

    def __init__(self) -> None:
        self.all: list[Setting] = []
        self._by_last: dict[str, list[Setting]] = {}

    def collect(self, trace: Trace) -> None:
        """Collect the settings of a trace; of one group the newest first."""
        seen: dict[int, int] = {}
        for group in _STRENGTH:
            for values in (each for label, each in reversed(trace.settings) if label.startswith(group)):
                self._add(values, group, "", seen, 0)

    def find(self, key: str, under: str = "") -> Iterator[Setting]:
        """Yield settings whose last part is a name of the list `key` of `names.toml`, in their order, the strongest first."""
        for name in names("settings", key):
            yield from (each for each in self._by_last.get(name, ()) if under in each.name.lower())

    def number(self, key: str, under: str = "") -> Setting | None:
        """Return the first positive number of these names."""
        return next((each for each in self.find(key, under) if is_number(each.value) and each.value > 0), None)

    def texts(self, key: str) -> Iterator[Setting]:
        """Yield the texts of these names that are not empty."""
        return (each for each in self.find(key) if isinstance(each.value, str) and each.value.strip())

    def _add(self, values: Value, group: str, prefix: str, seen: dict[int, int], depth: int) -> None:
        values = names_in(values)
        seen[id(values)] = seen.get(id(values), 0) + 1
        for key, raw in list(values.items()) if depth <= DEEPEST and seen[id(values)] <= MOST_NAMES else ():
            step()
            value = settle(raw)
            ambiguous = is_number(value) and agreed_number(raw) is None
            if not isinstance(key, str) or key[:2] == "__" or ambiguous or len(self.all) >= MOST_SETTINGS:
                continue
            if isinstance(value, (dict, Instance)):
                self._add(value, group, f"{prefix}{key}.", seen, depth + 1)
            elif isinstance(value, (list, tuple)) or (
                is_scalar(value) and not (isinstance(value, str) and "${" in value)
            ):
                self.all.append(Setting(f"{prefix}{key}", value, group))
                self._by_last.setdefault(plain(key.rpartition(".")[2]), []).append(self.all[-1])
