"""Length, batch size and learning rate: arguments of trainers, loaders and optimizers, bounds of loops, or settings."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..program.operations import agreed_number, settle
from ..program.trace import Loop
from ..program.values import Range, Term, Value, is_number, names_in, walk
from ..registry import names, words
from .data import loaders
from .model import optimizers
from .settings import Setting, Settings
from .steps import Training, owner

UNITS = ("epoch", "step", "episode", "token")
_WORDS = {word: unit for unit in UNITS for word in names("units", unit)}
_REPEATS = {"run", "runs", "trial", "seed", "fold", "repeat", "exp", "experiment", "split"}
"""Variables of loops over whole trainings."""
_ARGUMENTS = (
    ("step", ("max_steps", "total_steps", "max_iters", "num_steps", "total_timesteps")),
    ("epoch", ("num_train_epochs", "max_epochs", "epochs", "n_epochs", "num_epochs")),
)
"""Arguments of trainers. Steps precede epochs (transformers, Lightning)."""
_PER_EPOCH = re.compile(r"per_?epoch", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Length:
    """A number of `epoch`, `step`, `token` or `episode`; nulls if it is not known."""

    iters: float | None = None
    unit: str | None = None


def length(training: Training, settings: Settings, reinforcement: bool) -> Length:
    """Return the length of a training. A word of the command counts even if its way into the program is not known."""
    total = settings.number("environment_steps") if reinforcement else None
    found = next(_of_arguments(training), None)
    if found is None and total is not None:
        return Length(total.value, "step")
    found = found or next(_of_loops(training), None)
    stated = settings.number(found.unit) if found and found.unit else None
    if found is not None and not (stated and stated.group == "given"):
        return found
    under = "train_cfg." if any("train_cfg." in each.name for each in settings.all) else ""  # MMEngine
    units = [found.unit] if found and found.unit else UNITS
    numbers = {unit: each for unit in units if (each := settings.number(unit, under)) is not None}
    first = next((each.group for each in settings.all if each in numbers.values()), None)
    best = [(each.value, unit) for unit, each in numbers.items() if each.group == first]
    return Length(*best[0]) if len(best) == 1 else Length()


def batch_size(training: Training, settings: Settings) -> float | None:
    """Return the configured batch size; null if it is not known."""
    return _stated(settings.number("batch"), _batches(training))


def learning_rate(training: Training, settings: Settings) -> float | None:
    """Return the configured base learning rate; null if it is not known."""
    made = (
        call.argument("lr", "learning_rate", place=0 if "optax." in call.name else 1) for call in optimizers(training)
    )
    return _stated(
        settings.number("rate"), [*(each.get("learning_rate") for each in _trainer_arguments(training)), *made]
    )


def _stated(stated: Setting | None, used: Sequence[Value] | Iterator[Value]) -> float | None:
    """Return a word of the command, else a number that is used, else a setting."""
    if stated is not None and stated.group == "given":
        return float(stated.value)
    return next(
        (number for value in used if (number := _positive(value))), stated.value if stated is not None else None
    )


def _positive(value: Value) -> float | None:
    number = agreed_number(value)
    return number if number is not None and 0 < number < float("inf") else None


def _fields(value: Value) -> dict[str, Value]:
    """Return the fields of an object of arguments by name."""
    held = names_in(value)
    return {**getattr(value, "keywords", {}), **(held if isinstance(held, dict) else {})}


def _trainer_arguments(training: Training) -> Iterator[dict[str, Value]]:
    """Yield what the arguments of trainers hold, and the arguments of objects that train by themselves."""
    for call in training.trainers:
        yield from map(_fields, (*call.arguments, *call.keywords.values()))
    yield from (_fields(owner(run.call)) for run in training.runs if run.made is None)


def _batches(training: Training) -> Iterator[Value]:
    """Yield batch sizes of trainers and loaders, those nearest to the training first."""
    yield from (
        each.get("per_device_train_batch_size", each.get("batch_size")) for each in _trainer_arguments(training)
    )
    yield from (run.call.keywords.get("batch_size") for run in training.runs)
    for value in (part for loop in training.loops for part in walk(loop.iterated, 60)):
        if isinstance(value, Term) and value.name.endswith("Loader"):
            yield value.keywords.get("batch_size", (*value.parts, None, None, None)[2])
    sizes = (_positive(call.argument("batch_size", place=1)) for call in loaders(training))
    yield from (each for each in sizes if each is not None and each > 1)  # single samples are evaluated


def _of_arguments(training: Training) -> Iterator[Length]:
    """Yield lengths in the arguments of the calls that train or make a trainer."""
    for call in (*(run.call for run in training.runs), *training.trainers):
        if call.last == "learn" and (total := _positive(call.argument("total_timesteps", place=0))):
            yield Length(total, "step")
        if call.last in {"fit_one_cycle", "fine_tune"} and (epochs := _positive(call.argument("epochs", place=0))):
            yield Length(epochs, "epoch")
        held = [_fields(each) for each in (*call.arguments, *call.keywords.values())]
        given = [call.keywords, *(each for each in held if {"num_train_epochs", "max_steps"} & set(each))]
        for unit, listed in _ARGUMENTS:
            yield from (
                Length(number, unit) for each in given for name in listed if (number := _positive(each.get(name)))
            )


def _of_loops(training: Training) -> Iterator[Length]:
    """Yield numbers of iterations of the loops around the gradients, outermost first."""
    for call in training.gradients:
        for place, loop in enumerate(call.loops):
            spans = [each for each in walk(loop.iterated, 8) if isinstance(each, Range)]
            number = _count(spans[0], loop.text) if spans and not set(words(loop.target)) & _REPEATS else None
            unit = _unit(loop.text) or _unit(loop.target) or _by_structure(call.loops[place + 1 :])
            if number is not None and unit is not None and (number > 1 or unit == "epoch"):
                yield Length(number, unit)


def _count(span: Range, text: str) -> float | None:
    """Return the number of iterations of a range; a range that resumes counts from its beginning."""
    end, start = span.end, settle(span.start)
    if isinstance(end, Term) and end.name == "Add" and span.start in end.parts:
        return _positive(end.parts[end.parts[0] is span.start])
    number = _positive(end)
    less = start if is_number(start) and start in {0, 1} else int(isinstance(start, Term) and "+ 1)" in text)
    return number - less if number is not None and number > less else None


def _unit(text: str) -> str | None:
    """Return the unit that a text names; epochs and episodes precede steps. `steps_per_epoch` names none."""
    identifiers = [each for each in re.findall(r"\w+", text) if not _PER_EPOCH.search(each)]
    found = [_WORDS[each] for each in words(" ".join(identifiers)) if each in _WORDS]
    return next((each for each in ("epoch", "episode") if each in found), found[0]) if found else None


def _by_structure(inner: Sequence[Loop]) -> str | None:
    """Return the unit of a loop by the loops inside it: around batches it counts epochs, around nothing steps."""
    return "step" if not inner else "epoch" if any(isinstance(each.iterated, Term) for each in inner) else None
