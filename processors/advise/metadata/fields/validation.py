"""Whether a job is evaluated while it trains, and on which data set."""

from ..program.values import Instance, Term, Value, alternatives, dotted, walk
from ..registry import known_name, words
from .data import stated_name
from .data_names import SPLITS, best_name, names_of, registered
from .settings import Settings
from .steps import Training

_ARGUMENTS = (
    "eval_dataset",
    "val_dataset",
    "eval_dataloader",
    "val_dataloader",
    "val_dataloaders",
    "validation_data",
    "evaluator",
)
_FROZEN = {"ref", "reference", "teacher", "target", "ema", "frozen"}
"""Models that only answer while another one trains."""


def valid_data(training: Training, settings: Settings, train: str | None) -> str | None:
    """Return the data set of evaluations during training; null if there are none. Without a name of its own it is the training data."""
    value, evaluates = _evaluation(training, settings)
    if not evaluates:
        return None
    candidates = list(names_of(value)) if value is not None else []
    if train is not None and any(_bare(each) == _bare(train) for each in candidates):
        return train
    stated = stated_name(settings, "validation", training.seen)
    found = (each for each in (best_name(candidates), stated) if each is not None and known_name("datasets", each))
    return next((registered(each) for each in found), train)


def _bare(name: str) -> str:
    """Return the words of a name that name no split."""
    return "".join(each for each in words(name) if each not in {*SPLITS, "train", "training"})


def _evaluation(training: Training, settings: Settings) -> tuple[Value, bool]:
    """Return the data of evaluations, null if it is not known, and whether there are any during the training."""
    asked = any(each.value in (True, "steps", "epoch") for each in settings.find("evaluates"))
    for call in training.trainers:
        place = 4 if any(each.startswith("transformers.") for each in (call.name, *call.bases)) else None
        value = call.argument(*_ARGUMENTS, place=place)
        if value is not None and (asked or None not in alternatives(value)):
            return value, True
    for run in training.runs:
        call = run.call
        value = call.argument(*_ARGUMENTS, "datamodule", "eval_set")
        split = (
            key
            for key, each in call.keywords.items()
            if each is not None and words(key)[:1] and words(key)[0] in SPLITS
        )
        if value is not None or any(split):
            return value, True
        lightning = run.made is not None and "ightning" in run.made.name
        given = call.argument(place=2 if lightning else 1) if call.last == "fit" and run.made is not None else None
        hooked: list[Value] = [
            each for each in call.arguments if isinstance(each, Instance) and each.cls.method("val_dataloader")
        ]
        hooked += [each for each in call.arguments if isinstance(each, Instance) and each.cls.method("validation_step")]
        if hooked or isinstance(given, (Term, Instance)):
            return (hooked or [given])[0], True
    if training.loops:
        return _inside_loops(training)
    stated = [settings.number("held_out"), *settings.texts("validation")]
    interval = settings.number("intervals")
    return None, not training.trainers and (any(stated) or (interval is not None and interval.group != "constants"))


def _inside_loops(training: Training) -> tuple[Value, bool]:
    trained = {id(loop) for call in training.gradients for loop in call.loops}
    inside = [each for each in training.trace.loops if training.loops[0] in each.outer and id(each) not in trained]
    over = next((each.iterated for each in inside if _over_data(each.iterated)), None)
    if over is not None:
        return over, True
    found: list[Value] = []
    seen = False
    training_functions = {call.functions for call in training.gradients if call in training.inside}
    for call in training.inside:
        ungraded = call.last in {"no_grad", "inference_mode"} and call.functions not in training_functions
        switched = call.last == "eval" and "." in call.name and not _FROZEN & set(words(call.name))
        if ungraded or switched or any(_names_evaluation(words(name)) for name in (*call.functions[-2:], call.last)):
            seen = True
            found += [
                each.iterated for each in call.loops if each not in training.loops and isinstance(each.iterated, Term)
            ]
    return (found[0] if found else None), seen


def _names_evaluation(name: list[str]) -> bool:
    """Return whether the words of a function's name mean an evaluation; `dev` alone is a device."""
    return name != ["dev"] and any(each in SPLITS or each == "evaluate" for each in name[:2])


def _over_data(value: Value) -> bool:
    objects = (each for each in walk(value, 8) if isinstance(each, (Instance, Term)))
    return any("data" in word or "loader" in word for each in objects for word in words(dotted(each))[-3:])
