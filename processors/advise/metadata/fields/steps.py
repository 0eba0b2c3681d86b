"""Places where a program trains: calls that compute or apply gradients, the loops around them, and trainers."""

from dataclasses import dataclass

from ..program.operations import settle
from ..program.trace import Call, Loop, Trace
from ..program.values import Instance, Term, is_number
from ..registry import names

_TRAINERS = ("Trainer", "Runner", "Learner", "Estimator", "Fabric", "TrainLoop", "Brain")
"""Endings of the names of classes that train."""
_RUNS = {"train", "fit", "learn", "fit_one_cycle", "fine_tune", "train_and_evaluate", "run", "train_model"}
_LENGTHS = {"epochs", "total_timesteps", "batch_size", "validation_data", "steps_per_epoch", "n_epochs", "max_epochs"}
"""Arguments of a call that trains, also if the call that made the trainer was not seen."""


@dataclass(frozen=True, slots=True)
class Run:
    """A call that trains by itself, such as `trainer.train()`, and the call that made the trainer if it was seen."""

    call: Call
    made: Call | None


class Training:
    """Where a trace trains: at calls that compute gradients, in the `loops` around the first of them, or in `runs` of `trainers`."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.gradients = sorted(filter(_is_gradient, trace.calls), key=lambda each: not each.loops)
        self.loops: tuple[Loop, ...] = self.gradients[0].loops if self.gradients else ()
        self.trainers = [each for each in trace.calls if any(name.endswith(_TRAINERS) for name in _kinds(each))]
        made = {id(each.result): each for each in self.trainers}
        called = ((each, made.get(id(owner(each)))) for each in trace.calls if each.last in _RUNS)
        self.runs = [Run(each, maker) for each, maker in called if maker is not None or _trains(each)]
        self.seen = bool(self.gradients or self.runs or self.trainers)
        self.inside = [each for each in trace.calls if self.loops and self.loops[0] in each.loops]


def owner(call: Call) -> object:
    """Return the object of which a method is called, if it is known by the call that made it."""
    return call.called.parts[0] if isinstance(call.called, Term) and call.called.parts else None


def _kinds(call: Call) -> tuple[str, ...]:
    return (*call.bases, call.name) if isinstance(call.called, Term) else call.bases


def _is_gradient(call: Call) -> bool:
    holder = call.name.rpartition(".")[0].lower()
    applies = call.last in {"step", "update"} and any(each in holder for each in ("optim", "optax", "scaler"))
    return call.last in names("vocabulary", "gradients") or (applies and isinstance(call.called, Term))


def _trains(call: Call) -> bool:
    total = call.last == "learn" and call.arguments and is_number(settle(call.arguments[0]))
    named = isinstance(call.called, (Term, Instance)) and "." in call.name
    return bool(named and (total or _LENGTHS & set(call.keywords) or "Trainer" in call.name))
