"""Batch size and learning rate, as they reach the loader and the optimizer."""

from .data import _names_split
from .length import arguments_of
from .model import optimizers
from .operations import settle
from .registry import listed
from .settings import Settings, is_number
from .steps import Training
from .values import Value

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


def batch_size(training: Training, settings: Settings) -> float | None:
    """Return the configured batch; null where it is not known."""
    for call in training.trainers:
        for each in (call.argument("args", "config", place=1), *call.keywords.values()):
            found = _number(arguments_of(each).get("per_device_train_batch_size"))
            if found is not None:
                return found
    loaders = [each for each in training.trace.calls if each.last.endswith("Loader")]
    for call in sorted(loaders, key=_names_split):
        found = _number(call.argument("batch_size", place=1))
        if found is not None and found > 1:
            return found
    each = settings.number(_BATCH)
    return each.value if each is not None else None


def learning_rate(training: Training, settings: Settings) -> float | None:
    """Return the configured base learning rate; null where it is not known."""
    for call in training.trainers:
        for each in (call.argument("args", "config", place=1), *call.keywords.values()):
            found = _number(arguments_of(each).get("learning_rate"))
            if found is not None:
                return found
    stated = settings.number(_RATE)
    found_all = [
        _number(call.argument("lr", "learning_rate", place=0 if call.name.startswith("optax.") else 1))
        for call in optimizers(training)
    ]
    used = next((each for each in found_all if each is not None), None)
    return used if used is not None else stated.value if stated is not None else None


def _number(value: Value) -> float | None:
    value = settle(value)
    return value if is_number(value) and value > 0 else None
