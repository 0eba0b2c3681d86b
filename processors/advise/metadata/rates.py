"""Batch size and learning rate, as they reach the loader and the optimizer."""

from collections.abc import Iterator

from .data import names_split
from .length import arguments_of
from .model import optimizers
from .operations import agreed_number
from .registry import listed, words
from .settings import Settings, is_number
from .steps import Training
from .values import Term, Value, walk

_BATCH = listed(
    """
    perdevicetrainbatchsize trainbatchsize batchsizeperdevice batchsizepergpu microbatchsize batchsize
    trainmicrobatchsizepergpu batch samplespergpu devicebatchsize localbatchsize globalbatchsize totalbatchsize bs
    imsperbatch batchsz trainbs nbatch minibatchsize batchsizetrain
    """
)
_RATE = listed(
    """
    learningrate lr baselr initlr peaklr maxlr policylr learningrateg lrg glr lr0 actorlr blr initiallr lrinit
    stepsize baselearningrate
    """
)


_OTHER_BATCHES = {
    "test",
    "testbatch",
    "eval",
    "val",
    "valid",
    "validation",
    "max",
    "num",
    "n",
    "per",
    "multiplier",
    "index",
}


def batch_size(training: Training, settings: Settings) -> float | None:
    """Return the configured batch; null where it is not known."""
    for value, least in _batches(training):
        found = _number(value)
        if found is not None and found >= least:
            return found
    each = settings.number(_BATCH)
    return each.value if each is not None else _any_batch(settings)


def _batches(training: Training) -> Iterator[tuple[Value, int]]:
    """Yield what trainers and loaders are given as batch, the nearest to the training first, and the least that counts."""
    for call in training.trainers:
        for each in (call.argument("args", "config", place=1), *call.keywords.values()):
            yield arguments_of(each).get("per_device_train_batch_size"), 1
    yield from ((made.keywords.get("batch_size"), 1) for made in _learners(training))
    yield from ((run.call.keywords.get("batch_size"), 1) for run in training.runs)
    for value in (part for loop in training.loops for part in walk(loop.iterated, 60)):
        if isinstance(value, Term) and value.kind == "call" and value.name.endswith("Loader"):
            yield value.keywords.get("batch_size", value.parts[2] if len(value.parts) > 2 else None), 2
    yield from ((call.keywords.get("train_batch_size"), 2) for call in training.trace.calls if call.last == "training")
    loaders = [each for each in training.trace.calls if each.last.endswith("Loader")]
    yield from ((call.argument("batch_size", place=1), 2) for call in sorted(loaders, key=names_split))


def _any_batch(settings: Settings) -> float | None:
    """Return the one number that a setting of a longer name, such as `bpr_batch`, gives; null where several differ."""
    named = [
        each
        for each in settings.all
        if is_number(each.value) and each.value > 1 and not each.constant and _is_batch(each.name.rpartition(".")[2])
    ]
    found = {each.value for each in named if each.strength == named[0].strength}
    return float(found.pop()) if len(found) == 1 else None


def _is_batch(name: str) -> bool:
    each = set(words(name))
    return "batch" in each and not each & _OTHER_BATCHES


def learning_rate(training: Training, settings: Settings) -> float | None:
    """Return the configured base learning rate; null where it is not known."""
    for call in training.trainers:
        for each in (call.argument("args", "config", place=1), *call.keywords.values()):
            found = _number(arguments_of(each).get("learning_rate"))
            if found is not None:
                return found
    for made in _learners(training):
        found = _number(_scheduled(made.keywords.get("learning_rate")))
        if found is not None:
            return found
    configured = settings.number(_RATE, "optim_wrapper") if training.configured else None
    stated = configured or settings.number(_RATE)
    found_all = [
        _number(call.argument("lr", "learning_rate", place=0 if call.name.startswith("optax.") else 1))
        for call in optimizers(training)
    ]
    used = next((each for each in found_all if each is not None), None)
    return used if used is not None else stated.value if stated is not None else None


def _learners(training: Training) -> list[Term]:
    """Return what makes the objects that train by themselves, as `SAC(…)` of `SAC(…).learn()`."""
    called = [run.call.called for run in training.runs if run.made is None]
    owners = [each.parts[0] for each in called if isinstance(each, Term) and each.parts]
    return [each for each in owners if isinstance(each, Term) and each.kind == "call"]


def _scheduled(value: Value) -> Value:
    """Return the one number that a schedule is made from, as `Constant(0.1)` is from 0.1; other values are themselves."""
    if not isinstance(value, Term) or value.kind != "call":
        return value
    numbers = {each for each in walk(value, 20) if is_number(each)}
    return numbers.pop() if len(numbers) == 1 else value


def _number(value: Value) -> float | None:
    number = agreed_number(value)
    return number if number is not None and number > 0 else None
