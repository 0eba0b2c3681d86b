"""Data set that a job trains on, and the environment in reinforcement learning."""

from collections.abc import Iterator

from ..program.operations import settle
from ..program.trace import Call
from ..program.values import Instance, Term, Value, is_scalar, walk
from ..registry import TASKS, known_name, names, plain, words
from .data_names import SPLITS, best_name, names_of, registered, stem
from .settings import Settings
from .steps import Training

_ARGUMENTS = ("train_dataset", "train_dataloader", "train_data", "datamodule")
_OPENED = {"load", "memmap", "open", "read_csv", "ImageFolder", "load_data", "loadtxt"}


def environment(training: Training, settings: Settings) -> str | None:
    """Return the environment of a reinforcement learning job; null if it is not known."""
    made = (each for each in training.trace.calls if each.last in names("vocabulary", "environments"))
    for call in (each for each in made if any(word in each.name.lower() for word in ("gym", "env"))):
        name = settle(call.argument("id", "env_id", "env_name", place=0))
        if isinstance(name, str) and name:
            return name
    stated = (each for each in settings.texts("environment") if "env" in each.name or not each.derived)
    return next((str(each.value) for each in stated), None)


def train_data(training: Training, settings: Settings) -> str | None:
    """Return the data set that is trained on; null without enough evidence."""
    values = list(_train_values(training))
    undecided = _alternatives(values[0]) if values else {}
    if len(undecided) > 1:  # the one that the command names
        return next(
            (name for key, name in undecided.items() if any(key in plain(word) for word in training.trace.words)), None
        )
    best = best_name(name for value in values for name in names_of(value))
    if best is not None and known_name("datasets", best):
        return best
    stated = stated_name(settings, "data", training.seen)
    if stated is not None and (best is None or known_name("datasets", stated)):
        return registered(stated)
    opened = (each for each in training.trace.calls if "dataset" in each.last.lower() or each.last in _OPENED)
    loaded = (best_name(names_of([each.result, *each.arguments, *each.keywords.values()])) for each in opened)
    return best or next(filter(None, loaded), None)


def stated_name(settings: Settings, key: str, seen: bool) -> str | None:
    """Return the data set that settings state. If the training was not `seen`, derived settings count only with known names."""
    found: list[str] = []
    for each in settings.find(key):
        for value in (part for part in walk(each.value, 10) if isinstance(part, str) and 1 < len(part) < 300):
            is_known = known_name("datasets", value) is not None
            name = value if "/" not in value and is_known else stem(value)
            if name is not None and (is_known or seen or not each.derived) and value.replace("_", "-") not in TASKS:
                of_hub = value.count("/") == 1 and value[0] not in "./" and "." not in value
                found.append(value if of_hub else name)
    exact = [each for each in found if (held := known_name("datasets", each)) and plain(held.name) == plain(each)]
    return best_name([*exact, *found])


def loaders(training: Training) -> list[Call]:
    """Return the calls that make loaders, those in functions that are named after held-out data last."""
    made = [each for each in training.trace.calls if each.last.endswith("Loader")]
    return sorted(made, key=lambda call: any(each in SPLITS for name in call.functions for each in words(name)))


def _alternatives(value: Value) -> dict[str, str]:
    """Return the names of the data sets between which an unknown condition decides."""
    choices = (each for each in walk(value, 60) if isinstance(each, Term) and each.kind == "choice")
    named = ([best_name(names_of(part)) for part in each.parts] for each in choices)
    found = ({plain(name): name for name in each if name is not None} for each in named)
    return next((each for each in found if len(each) > 1), {})


def _train_values(training: Training) -> Iterator[Value]:
    """Yield values that the training iterates over, the most direct first."""
    for call in training.trainers:
        place = 3 if any(each.startswith("transformers.") for each in (call.name, *call.bases)) else None
        yield from (each for each in (call.argument(*_ARGUMENTS, place=place),) if each is not None)
    for run in training.runs:
        yield from (each for each in (*run.call.arguments, *run.call.keywords.values()) if not is_scalar(each))
    yield from (loop.iterated for loop in training.loops if isinstance(loop.iterated, (Term, Instance)))
    called = (each for each in training.inside if isinstance(each.called, Instance))
    yield from (each for call in called for each in call.arguments if isinstance(each, Term))
    yield from (each.result for each in loaders(training))
