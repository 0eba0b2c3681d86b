"""Speed from events: a log that prints no progress, but when epochs or blocks of training begin and end.

MLPerf's log is of this kind. Training runs from an `epoch_start` or `block_start` (before version 0.6: from the end of an
evaluation) to the first of `eval_start`, `epoch_stop`, `block_stop`. How much was trained follows from the sizes that the log states at its
beginning. A number of epochs beyond fifty in one block is one of steps, or of samples where it is a multiple of the batch: so
the language benchmarks print it.

Source: MLCommons, logging rules of MLPerf Training 0.5 to 4.0.
"""

import math
from statistics import median

import msgspec

from processors.classified_chunk import OTHER, ClassifiedChunk
from processors.grammar import mllog
from processors.grammar.mllog import Event
from processors.grammar.prefix import clean, strip_prefix

MARK = ":::ML"
"""What every line of the log holds."""

SPANS = 20
_MANY = 50
"""Epochs in one block beyond which they are not epochs."""

_SAMPLES = ("train_samples", "preproc_num_train_examples", "train_num_samples")
_OPENS = ("epoch_start", "block_start")
_CLOSES = ("epoch_stop", "block_stop", "eval_start")


class Span(msgspec.Struct, array_like=True):
    """A stretch of training: its seconds, and what was trained in it: epochs, steps or samples, as `EventState.unit` says."""

    seconds: float
    amount: float


class EventState(msgspec.Struct):
    """What the events of one stream have said.

    Attributes:
        samples: Training samples in an epoch.
        batch: Samples in a step, of all devices together.
        opened: Name of the event that opened the stretch under way; empty outside of one.
        begun: Its time, in seconds since 1970; 0 before the first of a run.
        amount: What it will train.
        first: Number at which it begins.
        marked: Begin and end of epochs or blocks are printed; else evaluations bound the stretches.
        waiting: Seconds of a finished stretch whose epochs the next evaluation will tell.
        evaluated: Epoch of the last evaluation.
        step: Newest step, where blocks count steps.
        spans: The newest stretches.
    """

    samples: float | None = None
    batch: float | None = None
    opened: str = ""
    begun: float = 0.0
    amount: float = 1.0
    first: float | None = None
    marked: bool = False
    waiting: float | None = None
    evaluated: float | None = None
    step: int | None = None
    spans: list[Span] = []

    def speed(self) -> tuple[float | None, float | None]:
        """Return (seconds per step, samples a second), each None where the log does not say."""
        spans = self.spans[1:] if len(self.spans) > 2 else self.spans  # the first compiles and warms up
        if not spans:
            return None, None
        per = median(span.seconds / span.amount for span in spans)
        steps, samples = self._contents(spans[-1].amount)
        return per / steps if steps else None, samples / per if samples else None

    def _contents(self, amount: float) -> tuple[float | None, float | None]:
        """Return (steps, samples) in one unit of what blocks count."""
        if amount <= _MANY:
            steps = math.ceil(self.samples / self.batch) if self.samples and self.batch else None
            return steps, self.samples
        if self.batch and amount % self.batch == 0:
            return 1 / self.batch, 1.0
        return 1.0, self.batch


def observe(view: ClassifiedChunk, state: EventState) -> int | None:
    """Take in the events of a chunk; return the index of the newest line that ended a stretch of training, or None."""
    ended = None
    for place in _places(view):
        event = mllog.read(strip_prefix(clean(view.lines[place])).body)
        if event is not None and _take(event, state):
            ended = place
    return ended


def _places(view: ClassifiedChunk) -> list[int]:
    lines, classes = view.lines, view.classes
    return [place for place in view.others if MARK in lines[place] and classes[place] == OTHER]


def _take(event: Event, state: EventState) -> bool:
    """Take in one event; return whether it completed a stretch."""
    key = event.key
    if isinstance(event.value, int | float) and not isinstance(event.value, bool):
        if key in _SAMPLES and not state.begun:  # later it says how many were used in all
            state.samples = float(event.value)
        elif key == "global_batch_size":
            state.batch = float(event.value)
    if key in ("run_start", "run_stop"):
        state.begun = 0.0
    if key == "run_start":
        state.spans, state.opened, state.waiting, state.evaluated = [], "", None, None
    if event.stamp is None:
        return False
    if key in _OPENS or (key == "eval_stop" and not state.marked):
        _open(event, state, event.stamp)
    elif key in _CLOSES:
        return _close(key, state, event.stamp)
    elif key == "eval_accuracy" and (epoch := event.number("epoch", "epoch_num")) is not None:
        return _evaluated(epoch, state)
    return False


def _open(event: Event, state: EventState, stamp: float) -> None:
    if event.key in _OPENS and not state.marked:
        state.marked, state.waiting = True, None
    if state.opened == event.key == "epoch_start" and state.spans == [] and state.begun == stamp:
        return
    state.opened, state.begun = event.key, stamp
    state.amount = event.number("epoch_count") or 1.0
    state.first = event.number("first_epoch_num")


def _close(key: str, state: EventState, stamp: float) -> bool:
    if not state.opened or (key == "eval_start" and state.opened == "block_start"):
        return False  # evaluations run beside blocks
    seconds = stamp - state.begun
    opened, state.opened = state.opened, ""
    if seconds <= 0:
        return False
    if opened == "eval_stop":
        state.waiting = seconds
        return False
    if state.first is not None and state.amount > _MANY and not (state.batch and state.amount % state.batch == 0):
        state.step = int(state.first + state.amount)
    _add(state, seconds, state.amount)
    return True


def _evaluated(epoch: float, state: EventState) -> bool:
    before, state.evaluated = state.evaluated, epoch
    if state.waiting is None or before is None or epoch <= before:
        return False
    _add(state, state.waiting, epoch - before)
    state.waiting = None
    return True


def _add(state: EventState, seconds: float, amount: float) -> None:
    state.spans = [*state.spans, Span(seconds, amount)][-SPANS:]
