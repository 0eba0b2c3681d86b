"""Reports: what one or several lines together say about one moment of the training."""

import math

import msgspec

from processors.grammar.extractor import Reading
from processors.grammar.fields import Slot
from processors.grammar.names import Meaning, loss_rank
from processors.grammar.units import STEPS

TEXT = 160
"""Characters of its line that a report keeps, as evidence."""

_LOOK_BACK = 4
"""Reports before a new one that are searched for one of the same shape."""

_SINCE_1970 = 1e9
"""A "time" above this is a date, not a duration."""


class Report(msgspec.Struct, array_like=True):
    """One report. Its lines belong together: they name the same step, or go on where the first left off.

    Attributes:
        line: Line number of its newest line.
        offset: Kafka offset of that line's chunk.
        time: Arrival of that line, in seconds since 1970.
        text: That line, cut.
        shape: Checksum of the template of its first line: reports of one shape come from one print statement.
        step: Training step.
        epoch: Epoch.
        stamp: Printed time, in seconds.
        clock: Printed seconds since some beginning.
        step_time: Stated seconds per step.
        duration: A stated time of which the name does not say of what, in seconds.
        step_rate: Stated steps a second.
        rate: Stated things a second.
        unit: Which things.
        loss: Training loss; null where it is printed but no number.
        loss_rank: How much it is the loss of the step (`names.loss_rank`); 99 where no loss is printed.
        unnamed: `step` is a bare `k/N`, which may count something else.
    """

    line: int
    offset: int
    time: float
    text: str
    shape: int
    step: int | None = None
    epoch: float | None = None
    stamp: float | None = None
    clock: float | None = None
    step_time: float | None = None
    duration: float | None = None
    step_rate: float | None = None
    rate: float | None = None
    unit: str = ""
    loss: float | None = None
    loss_rank: int = 99
    unnamed: bool = False

    @property
    def has_loss(self) -> bool:
        """Whether a loss is printed, a number or not."""
        return self.loss_rank < 99


_FIELDS = {
    Meaning.STEP_TIME: "step_time",
    Meaning.TIME: "duration",
    Meaning.CLOCK: "clock",
    Meaning.EPOCH: "epoch",
}


def read(reading: Reading, line: int, offset: int, time: float, text: str) -> Report | None:
    """Return the report that a line alone makes, or None where it holds none of the fields of one."""
    report = Report(line, offset, time, text[:TEXT].strip(), reading.plan.shape, stamp=reading.stamp)
    found = False
    for slot, value in reading.values:
        found |= _take(report, slot, value)
    return report if found else None


def _take(report: Report, slot: Slot, value: float) -> bool:
    """Put one field into `report`; the first of a kind counts. Returns whether it is a field of reports."""
    if slot.meaning is Meaning.LOSS:
        rank = loss_rank(slot.name)
        if rank < report.loss_rank:
            report.loss, report.loss_rank = (value if math.isfinite(value) else None), rank
        return True
    if not math.isfinite(value) or value < 0:
        return False
    if slot.meaning is Meaning.STEP:
        if report.step is None or not slot.name:
            report.step, report.unnamed = (int(value) if value < 1e15 else None), not slot.name
    elif slot.meaning is Meaning.RATE:
        _take_rate(report, slot, value)
    elif slot.meaning is Meaning.TIME and value > _SINCE_1970:
        report.stamp = value
    elif name := _FIELDS.get(slot.meaning):
        if getattr(report, name) is None:
            setattr(report, name, value)
    else:
        return False
    return True


def _take_rate(report: Report, slot: Slot, value: float) -> None:
    if slot.unit.startswith(STEPS):
        report.step_rate = report.step_rate or value or None
    elif report.rate is None and value:
        report.rate, report.unit = value, slot.unit


_MERGED = ("epoch", "clock", "step_time", "duration", "step_rate", "rate", "stamp")


def joins(report: Report, line: Report, fragment: bool) -> bool:
    """Return whether `line` goes on with `report`.

    Args:
        report: The newest report.
        line: The report that the line alone makes.
        fragment: The line is one field of a report over several lines: indented, or a cell of a drawn table.
    """
    if line.step is not None:
        return line.step == report.step and (line.epoch == report.epoch or line.epoch is None or report.epoch is None)
    if fragment:
        return True
    if line.has_loss and report.has_loss:
        return False
    return not any(
        getattr(line, name) is not None and getattr(report, name) is not None
        for name in _MERGED
        if name not in ("stamp", "epoch")
    )


def join(report: Report, line: Report) -> None:
    """Add what `line` says to `report`."""
    if line.step_time is not None and report.step_time is None and line.rate is not None:
        report.rate = None  # the speed that stands beside the step time belongs to it
    for name in _MERGED:
        value = getattr(line, name)
        if value is not None and (getattr(report, name) is None or line.shape == report.shape):
            setattr(report, name, value)
            if name == "rate":
                report.unit = line.unit
    if line.loss_rank < report.loss_rank or (line.loss_rank == report.loss_rank and line.shape == report.shape):
        report.loss, report.loss_rank = line.loss, line.loss_rank
    report.line, report.offset, report.time, report.text = line.line, line.offset, line.time, line.text


def add(window: list[Report], line: Report, fragment: bool, limit: int) -> None:
    """Add a line to the newest reports: to the last of them, or as one more; the oldest go. A new run starts anew."""
    if window and joins(window[-1], line, fragment):
        join(window[-1], line)
        return
    if any(_falls_back(earlier, line) for earlier in window[-_LOOK_BACK:]):
        window.clear()
    window.append(line)
    if len(window) > limit:
        del window[: len(window) - limit]


def _falls_back(earlier: Report, later: Report) -> bool:
    """Return whether `later` belongs to another run than `earlier`: its counters are lower."""
    if earlier.shape != later.shape:
        return False
    if earlier.epoch is not None and later.epoch is not None and earlier.epoch != later.epoch:
        return later.epoch < earlier.epoch
    return earlier.step is not None and later.step is not None and later.step < earlier.step
