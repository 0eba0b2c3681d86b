"""The remaining part of a training, from the counters of its reports and from lines that state its length.

`k/N` may count the whole training or restart with each epoch, and many logs do not state which. So there is no estimate until the log shows
it: the counter restarts, epochs advance while it grows, or the count fits only one reading. A heading (`Epoch 2/3`), a setting
(`max_epochs: 3`) and an announcement (`Training for 3 epochs`) state it in advance.
"""

import re
from functools import lru_cache
from typing import NamedTuple

import msgspec

from schedmate_records import JobMetric

from ...classified_chunk import ClassifiedChunk
from ...grammar.prefix import clean

_OF_EPOCH = re.compile(r"(?i)batch")
"""Name of a counter that mostly begins anew with each epoch."""
_SLACK = 0.02
"""Share of a training by which a counter may be past the end of an epoch that it counts on from."""


class Rest(NamedTuple):
    """Remaining work: `units` of `unit`, or more if the loop may be one of several (`open_ended`)."""

    unit: str
    units: float
    open_ended: bool = False


class Heading(msgspec.Struct, frozen=True):
    """A heading at `time`: `epoch` begins, of `epochs` in all if the heading states it."""

    time: float
    epoch: int
    epochs: int | None


class Progress(msgspec.Struct):
    """State of the counters of one rank.

    Attributes:
        step: The newest step.
        total: Its end.
        named: Its name means the whole training. A progress bar has no name.
        epoch: The newest epoch.
        epochs: The number of epochs.
        nested: `step` begins anew with each epoch; null while that is open.
        closing: Headings stand below the reports of their epoch: the first came when reports had been there.
        zero_based: The first epoch was number 0.
        fractional: Epochs are reported as fractions.
        heading: The newest heading; it holds for reports that came after it.
        unit: What `rest` was counted in last.
        announced: Epochs that a line before the reports promised.
        announced_steps: Steps that such a line promised.
    """

    step: int | None = None
    total: int | None = None
    named: bool = False
    epoch: float | None = None
    epochs: int | None = None
    nested: bool | None = None
    closing: bool = False
    zero_based: bool = False
    fractional: bool = False
    heading: Heading | None = None
    unit: str = ""
    announced: int | None = None
    announced_steps: int | None = None

    def add(self, metric: JobMetric) -> None:
        """Take in the counters of a metric."""
        fell, before = self._fell_back(metric), self.epoch
        heading = self.heading
        if heading is not None and heading.time <= metric.time:
            self.closing |= self.epoch is None and self.step is not None and heading.epoch <= 1
            self._enter(heading.epoch, heading.epochs)
            self.heading = None
        if metric.epoch is not None:
            self._enter(metric.epoch, metric.epoch_total)
        elif fell and self.epoch is not None and self.epoch == before:
            self.epoch += 1  # its heading arrives after the reports below it
        again = before is not None and self.epoch != before
        if fell:
            self.nested = True
        elif again and self.step is not None and metric.step is not None and self.nested is None:
            self.nested = None if self._ambiguous(metric) else False
        self.step = metric.step if metric.step is not None else self.step
        self.total = metric.step_total or self.total
        self.named = bool(metric.step_name) and not _OF_EPOCH.search(metric.step_name)

    def _enter(self, epoch: float, epochs: int | None) -> None:
        """Take in the number of an epoch, and how many there are."""
        self.zero_based |= epoch == 0
        self.fractional |= epoch != int(epoch)
        self.epoch = epoch
        self.epochs = epochs or self.epochs

    def _fell_back(self, metric: JobMetric) -> bool:
        return (
            metric.step is not None
            and self.step is not None
            and metric.step < self.step
            and metric.step_total is not None
            and metric.step_total == self.total
        )

    def _ambiguous(self, metric: JobMetric) -> bool:
        """Return whether a counter that grew over an epoch's end may still be one that begins anew: reports may be rare."""
        if self.epochs is None or not self.total or metric.step is None or self.epoch is None:
            return False
        return not self._fits(metric.step / self.total, self._epochs_done(self.epoch) / self.epochs, 1 / self.epochs)

    @staticmethod
    def _fits(done: float, begun: float, epoch: float) -> bool:
        return begun - _SLACK <= done <= begun + epoch + _SLACK

    def _epochs_done(self, epoch: float) -> float:
        """Return how many epochs were over when `epoch` began."""
        begun = epoch if self.zero_based or self.fractional else max(epoch - 1, 0.0)
        return begun + 1 if self.closing and not self.fractional else begun

    def rest(self) -> Rest | None:
        """Return what remains; None where that is not known."""
        epochs = self.epochs or self.announced
        if self.epoch is not None and epochs and self._epochs_done(self.epoch) > epochs:
            epochs = None
        if self.step is not None and self.total is not None and self.step <= self.total:
            rest = self._of_steps(self.step, self.total, epochs)
            return rest if rest is not None and rest.units >= 0 else None
        if self.total is None and self.announced_steps and self.step is not None and self.step <= self.announced_steps:
            return Rest("announced steps", self.announced_steps - self.step)
        if epochs and self.epoch is not None:
            over = self.epoch if not self.zero_based or self.fractional else self.epoch + 1
            return Rest("epochs", max(epochs - over, 0.0))
        return None

    def _of_steps(self, step: int, total: int, epochs: int | None) -> Rest | None:
        left = total - step
        if total == epochs and self.epoch is not None and abs(step - self.epoch) <= 1:
            return Rest("epochs", left)  # the counter is that of the epochs
        if (
            epochs == 1
            or self.nested is False
            or total == self.announced_steps
            or (self.fractional and not self.nested)
        ):
            return Rest("steps", left)
        if epochs and self.epoch is not None and self._is_nested(step / total, epochs):
            return Rest("steps of epochs", (epochs - self._epochs_done(self.epoch) - 1) * total + left)
        if epochs is None and self.epoch is None and not self.nested:
            return Rest("steps", left, not self.named)
        return None

    def _is_nested(self, done: float, epochs: int) -> bool:
        if self.nested is None and self.epoch is not None and not self.fractional:
            begun = self._epochs_done(self.epoch) / epochs
            if not self._fits(done, begun, 1 / epochs):
                self.nested = True
        return bool(self.nested)


_LONGEST = 300
"""Characters of a line that may announce something."""
_HEADING = re.compile(
    r"(?i)^\W*(?:(?:start|begin)\w{0,4}\W{1,4})?epoch\W{0,4}(\d{1,9})\b(?:\s?(?:/|of)\s?(\d{1,9}))?\W*$"
)
_HEADED = re.compile(r"(?i)epoch\W{0,4}\d{1,9}\b(?:\s?(?:/|of)\s?\d{1,9})?\W*$")
"""What `_HEADING` asks for behind any prefix."""
_EPOCHS = re.compile(
    r"(?i)(?:^|[^a-z])(?:(?:num|max|total|n|train|number of)[ _-](?:train[ _-])?epochs?|epochs)"
    r"[\"']?\s{0,3}[:=]\s{0,3}[\"']?(\d{1,9})[\"']?\s{0,3}(?:[,;)}\]]|$)"
)
_STEPS = re.compile(
    r"(?i)(?:^|[^a-z])(?:max|total|num)[ _-](?:train(?:ing)?[ _-]|optimi[sz]ation[ _-])?(?:steps|iters|iterations|updates)[\"']?"
    r"\s{0,3}[:=]\s{0,3}[\"']?([\d,]{1,15}\d)[\"']?\s{0,3}(?:[,;)}\]]|$)"
)


def announced(chunk: ClassifiedChunk, progress: Progress) -> None:
    """Add what the lines of `chunk` state about the length of the training."""
    telling = {template for template in chunk.distinct if len(template) < _LONGEST and _may_announce(template)}
    if telling:
        for place, template in enumerate(chunk.templates):
            if template in telling:
                _add_line(clean(chunk.lines[place]).rstrip(), chunk.times[place], progress)


@lru_cache(maxsize=8192)
def _may_announce(template: str) -> bool:
    """Return whether a line of `template` may state a length. A template differs from its lines only in the digits."""
    text = template.rstrip()
    return any(each.search(text) is not None for each in (_HEADED, _EPOCHS, _STEPS))


def _add_line(line: str, time: float, progress: Progress) -> None:
    if heading := _HEADING.search(line):
        epoch, end = int(heading[1]), int(heading[2]) if heading[2] else None
        if end is None or epoch <= end:
            progress.heading = Heading(time, epoch, end)
        return
    if epochs := _EPOCHS.search(line):
        progress.announced = int(epochs[1]) or progress.announced
    if steps := _STEPS.search(line):
        progress.announced_steps = int(steps[1].replace(",", "")) or progress.announced_steps
