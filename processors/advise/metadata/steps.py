"""Where a program trains: the calls that compute or apply gradients, the loops around them, and the trainers that do both."""

from dataclasses import dataclass
from functools import cached_property

from .operations import settle
from .registry import listed
from .trace import Call, Loop, Trace
from .values import Instance, Term, Value, dotted

_GRADIENTS = frozenset(
    listed(
        """
    backward apply_gradients minimize manual_backward train_on_batch value_and_grad grad apply_updates train_step
    training_step train_batch backward_step scale_loss optimize_parameters forward_backward_func update_parameters
    run_step
    """
    )
)
_TRAINER_ENDINGS = ("Trainer", "Runner", "Learner", "Estimator", "Fabric", "TrainerV2", "TrainLoop", "Brain")
_RUNS = frozenset({"train", "fit", "learn", "fit_one_cycle", "fine_tune", "train_and_evaluate", "run", "train_model"})


_ALONE = frozenset({"learn", "fit", "train", "run"})
"""Those that count by their arguments, too, where it was not seen what made their object."""


@dataclass(frozen=True, slots=True)
class Run:
    """A call that trains by itself.

    Attributes:
        call: `trainer.train()`, `model.fit(…)`, `agent.learn(…)`.
        made: The call that made the trainer; null where it was not seen.
    """

    call: Call
    made: Call | None


class Training:
    """What a trace says about where it trains."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    @cached_property
    def gradients(self) -> list[Call]:
        """Return the calls that compute or apply gradients, those inside loops first."""
        found = [each for each in self.trace.calls if _is_gradient(each)]
        return sorted(found, key=lambda each: not each.loops)

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """Return the loops around the first gradient that has some, outermost first."""
        return self.gradients[0].loops if self.gradients else ()

    @cached_property
    def runs(self) -> list[Run]:
        """Return the calls that train by themselves."""
        found: list[Run] = []
        for call in self.trace.calls:
            if call.last not in _RUNS or (not isinstance(call.called, (Term, Instance)) and "." not in call.name):
                continue
            owner = call.called.parts[0] if isinstance(call.called, Term) and call.called.parts else None
            made = self._maker(owner)
            if made is not None or (call.last in _ALONE and _trains(call)):
                found.append(Run(call, made))
        return found

    @cached_property
    def trainers(self) -> list[Call]:
        """Return the calls that make a trainer."""
        return [each for each in self.trace.calls if is_trainer(each)]

    @property
    def configured(self) -> bool:
        """Whether a runner is made from a whole configuration (MMEngine, detectron2)."""
        return any(
            name.endswith(("Runner.from_cfg", "Runner", "DefaultTrainer", "build_runner", "train_detector"))
            for each in self.trace.calls
            for name in (each.name, *each.bases)
        )

    @property
    def seen(self) -> bool:
        """Whether it trains at all."""
        return bool(self.gradients or self.runs or self.trainers)

    def inside(self, call: Call) -> bool:
        """Whether a call stands inside the training's outermost loop."""
        return bool(self.loops) and self.loops[0] in call.loops

    def _maker(self, owner: Value) -> Call | None:
        return next((each for each in self.trainers if each.result is owner and owner is not None), None)


def is_trainer(call: Call) -> bool:
    """Whether a call makes a trainer of a library, or of a class that extends one."""
    if any(base.endswith(_TRAINER_ENDINGS) for base in call.bases):
        return True
    return isinstance(call.called, Term) and call.name.endswith(_TRAINER_ENDINGS) and call.last not in _RUNS


def _is_gradient(call: Call) -> bool:
    if call.last in _GRADIENTS:
        return True
    if call.last in {"step", "update"} and isinstance(call.called, Term):
        owner = dotted(call.called).rpartition(".")[0].lower()
        return "optim" in owner or "optax" in owner or "scaler" in owner
    return False


def _trains(call: Call) -> bool:
    if call.last == "learn" and call.arguments and isinstance(settle(call.arguments[0]), (int, float)):
        return True
    names = {
        "epochs",
        "total_timesteps",
        "batch_size",
        "validation_data",
        "steps_per_epoch",
        "n_epochs",
        "max_epochs",
        "train_dataloaders",
    }
    return bool(names & set(call.keywords)) or "Trainer" in call.name
