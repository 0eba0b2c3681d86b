"""Options of the command, and configuration files that it names, that nothing in the program was seen to read.

Such an option may well replace the default that an answer rests on: its parser is not known, or belongs to a library. So what it may
name is unknown, unless the answer is what the option says.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from .registry import plain, words
from .settings import Setting, Settings, flat, is_number
from .trace import Trace
from .values import Value, text

_UNITS = {
    "epoch": {"epoch", "epochs", "e"},
    "step": {"step", "steps", "iter", "iters", "iteration", "iterations", "updates", "timesteps"},
    "episode": {"episode", "episodes"},
    "token": {"tokens"},
}
_SPLITS = {"val", "valid", "validation", "eval", "dev", "test"}
_PLACES = {"dir", "root", "path", "folder", "cache", "size", "num", "parallel", "save", "workers", "loader", "dim"}


@dataclass(frozen=True, slots=True)
class _Naming:
    """Words of an option that may set a field, and words with which it sets something else."""

    any_of: frozenset[str]
    none_of: frozenset[str]

    def names(self, option: str) -> bool:
        found = set(words(option))
        return bool(found & self.any_of) and not found & self.none_of


def _naming(any_of: str, none_of: str, *more: set[str]) -> _Naming:
    return _Naming(frozenset(any_of.split()), frozenset(none_of.split()).union(*more))


_OTHER_LENGTHS = (
    "warmup log save every interval freq accum accumulation per start decay lr print gradient inference sample patience"
)
_NAMED = {
    "iters": _naming(" ".join(set().union(*_UNITS.values())), _OTHER_LENGTHS, _SPLITS),
    "batch_size": _naming("batch batchsize bs b", "max num index n", _SPLITS),
    "lr": _naming("lr rate", "scheduler schedule decay warmup dropout drop min sample mode policy", _SPLITS),
    "dataset_train": _naming("data dataset datasets corpus env task", "split type", _SPLITS, _PLACES),
    "dataset_valid": _naming("data dataset datasets corpus", "split type", _PLACES),
    "model_name": _naming("model arch architecture backbone network algo algorithm", "type max", _PLACES),
}
_WHOLE = _naming(
    "config cfg conf preset recipe experiment exp profile hparams", "deepspeed ds accelerate name log id dir"
)
"""What options are called that choose many settings at once."""


class Doubts:
    """Options and files that nothing read, and whether they may set a field otherwise.

    Args:
        trace: What the program did.
        settings: The settings of the trace.
    """

    def __init__(self, trace: Trace, settings: Settings) -> None:
        self._trace, self._settings = trace, settings

    def doubtful(self, field: str, answer: Value, other: Value = None) -> bool:
        """Whether an option or a file that nothing read may set a field otherwise.

        Args:
            field: Name of the field.
            answer: Its value.
            other: Of a length its unit, and of a unit its length.
        """
        if not self._trace.entry:
            return False  # the command is all that there is of the program
        if field == "iter_type":
            units = (_unit(each.name) for each in self._named)
            return any(unit not in {None, answer} for unit in units) and self.doubtful("iters", other, answer)
        if field not in _NAMED:
            return False
        chosen = self._may_be_replaced and _rests_on_setting(answer, self._settings)
        return chosen or _contradicted(field, self._named, self._settings, answer)

    @cached_property
    def _options(self) -> list[Setting]:
        return list(_unread(self._trace, self._settings))

    @cached_property
    def _named(self) -> list[Setting]:
        """Return what is set and was not read: by options, and by files where no option sets it."""
        given = {each.last for each in self._settings.all if each.given}  # what the command sets goes before its files
        in_files = (each for values in self._trace.unread for each in flat(values) if each.last not in given)
        return [*self._options, *in_files]

    @cached_property
    def _may_be_replaced(self) -> bool:
        """Whether an option or an absent file chooses many settings at once, which were not seen."""
        return bool(self._trace.absent) or any(
            _WHOLE.names(each.name.rpartition(".")[2]) and _chooses(each.value, self._settings)
            for each in self._options
        )


def _unread(trace: Trace, settings: Settings) -> Iterator[Setting]:
    """Yield what the command sets and no parser knows, and no settings of the program took up."""
    taken = {(each.last, _comparable(each.value)) for each in settings.all if not each.given}
    for each in settings.all:
        known = {each.last, plain(each.name)} & trace.options
        if each.given and not known and (each.last, _comparable(each.value)) not in taken:
            yield each


def _contradicted(field: str, unread: Sequence[Setting], settings: Settings, answer: Value) -> bool:
    """Whether something unread sets a field otherwise, and nothing that the command sets is the answer."""
    said = any(
        each.given and is_number(answer) and each.value == answer and _NAMED[field].names(each.name)
        for each in settings.all
    )
    return not said and any(_contradicts(field, each, answer) for each in unread)


def _contradicts(field: str, option: Setting, answer: Value) -> bool:
    name, value = option.name.rpartition(".")[2], option.value
    if answer is None or value is None or isinstance(value, bool) or not _NAMED[field].names(name):
        return False
    if is_number(answer):
        return is_number(value) and value != answer
    if not isinstance(value, str) or "/" in value.strip("/") or value.startswith(("/", ".")):
        return False  # where data lies does not say which they are
    one, other = plain(value), plain(str(answer))
    return bool(one) and one not in other and other not in one


def _rests_on_setting(answer: Value, settings: Settings) -> bool:
    """Whether a setting may hold an answer: any number, and a text that one does hold."""
    if answer is None or is_number(answer):
        return answer is not None
    wanted = plain(str(answer))
    return any(isinstance(each.value, str) and wanted in plain(each.value) for each in settings.all if not each.given)


def _unit(name: str) -> str | None:
    found = set(words(name.rpartition(".")[2]))
    return next((unit for unit, named in _UNITS.items() if found & named), None)


def _chooses(value: Value, settings: Settings) -> bool:
    """Whether a value may choose settings that were not seen: it is no file, and no section of the settings."""
    if not isinstance(value, str) or "." in value:
        return False
    return not any(value in each.name.split(".") for each in settings.all)


def _comparable(value: Value) -> object:
    return value if is_number(value) else plain(text(value))
