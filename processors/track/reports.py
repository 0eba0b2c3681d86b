"""Reports: what one or several lines together say about one moment of the training."""

import re
from collections.abc import Callable, Sequence
from math import inf, isfinite

import msgspec

from ..grammar.extractor import LineFields
from ..grammar.names import Field, Meaning, loss_rank
from ..grammar.units import STEPS

TEXT = 160
"""Characters of its line that a report keeps, as evidence."""

_LOOK_BACK = 4
"""Reports before a new one that are searched for one of the same shape."""

_NAME = 32
"""Characters of a field's name that a report keeps."""

_RANKS = 64
"""Ranks in one stream whose step times a report keeps."""

_MOST = 1e15
"""No training has more steps: it is an id, or no number."""

_GLOBAL = re.compile(r"(?i)total|(?:^|[^a-z])opt(?:im(?:izer)?)?[ _-]?step")
"""Names of counters that count the whole training, whatever is counted inside one of its steps."""

_SINCE_1970 = 1e9
"""A "time" above this is a date, not a duration."""


class Report(msgspec.Struct, array_like=True, gc=False):
    """One report. Its lines belong together: they name the same step, or go on where the first left off.

    A worker holds twenty of each stream, and none refers to another: the garbage collector need not look at them.

    Attributes:
        line: Line number of its newest line.
        offset: Kafka offset of that line's chunk.
        time: Arrival of that line, in seconds since 1970.
        text: That line, cut.
        shape: Checksum of the template of its first line: reports of one shape come from one print statement.
        step: Training step.
        epoch: Epoch.
        stamp: Printed time, in seconds.
        times: Printed times in seconds, by their reading (`key_of`): which of them is the step's is decided over many reports.
        step_rate: Stated steps a second.
        rates: Stated things a second, by unit.
        count: Samples or tokens so far, in `count_unit`.
        count_unit: `samples/s` or `tokens/s`, the unit of its rate.
        done: Things done since the report before.
        loss: Training loss; null where it is printed but no number.
        loss_rank: How much it is the loss of the step (`names.loss_rank`); 99 where no loss is printed.
        unnamed: `step` is a bare `k/N`, which may count something else.
        step_name: Name of the counter.
        total: Its end, `N` in `k/N`: loops with different ends are different loops.
        evaluated: Results of an evaluation are printed beside.
        bare: It is a bar without a loss, which may be of an evaluation.
        rank: Rank that a launcher printed before the line.
        ranks: Stated seconds per step of other ranks that report the same step in the same stream.
        rank_rates: Their stated things a second, of the first unit.
        left: Seconds that remain, as the log expects.
        epoch_name: Name of the epoch's counter.
        epoch_total: Its end, `N` in `epoch k/N`.
        restated: Further lines of its first line's shape that named the same step with another loss.
    """

    line: int
    offset: int
    time: float
    text: str
    shape: int
    step: int | None = None
    epoch: float | None = None
    stamp: float | None = None
    times: dict[str, float] = {}
    step_rate: float | None = None
    rates: dict[str, float] = {}
    count: float | None = None
    count_unit: str = ""
    done: float | None = None
    loss: float | None = None
    loss_rank: int = 99
    unnamed: bool = False
    step_name: str = ""
    total: int | None = None
    evaluated: bool = False
    bare: bool = False
    rank: int | None = None
    ranks: dict[int, float] = {}
    rank_rates: dict[int, float] = {}
    left: float | None = None
    epoch_name: str = ""
    epoch_total: int | None = None
    restated: int = 0

    @property
    def has_loss(self) -> bool:
        """Whether a loss is printed, a number or not."""
        return self.loss_rank < 99


_ROLES = {Meaning.STEP_TIME: "step", Meaning.TIME: "time", Meaning.CLOCK: "clock", Meaning.SPAN: "span"}
BAR = "clock:elapsed"
"""The reading of the time that a bar has run."""

_TIMES = 6
"""Times that a report keeps; lines that print the times of dozens of parts are known."""


def key_of(field: Field) -> str:
    """Return the reading that a printed time stands for: what its name makes it, and its name (or its place, without one)."""
    return f"{_ROLES[field.meaning]}:{field.name[:_NAME] or field.index}"


def read(reading: LineFields, line: int, offset: int, time: float, text: str) -> Report | None:
    """Return the report that a line alone makes, or None where it holds none of the fields of one."""
    report = Report(
        line, offset, time, text[:TEXT].strip(), reading.layout.shape, stamp=reading.stamp, rank=reading.rank
    )
    report.evaluated = reading.layout.evaluated
    found = False
    for field, value in reading.values:
        take = _TAKE.get(field.meaning)
        if take is not None:
            found |= take(report, field, value)
    if reading.layout.bar and report.step_rate is None:
        _turn_over(report)
    return report if found else None


def _turn_over(report: Report) -> None:
    """Take a bar's `s/it` for a rate: it prints `it/s` while steps are shorter than a second."""
    key = next((key for key in report.times if key.startswith("step:") and key[5:].isdigit()), "")
    if seconds := report.times.get(key):
        report.step_rate = 1 / seconds
        del report.times[key]


def _take_loss(report: Report, field: Field, value: float) -> bool:
    rank = loss_rank(field.name)
    vanished = report.loss == 0 and rank == report.loss_rank  # one of several, of a part that is not trained
    if rank < report.loss_rank or vanished:
        report.loss, report.loss_rank = (value if isfinite(value) else None), rank
    return True


def _take_step(report: Report, field: Field, value: float) -> bool:
    if not 0 <= value < _MOST or value != int(value):
        return False
    if report.step is None or not field.name or (_GLOBAL.search(field.name) and not _GLOBAL.search(report.step_name)):
        report.step, report.unnamed, report.step_name = int(value), not field.name, field.name[:_NAME]
        report.total = None
    return True


def _take_total(report: Report, field: Field, value: float) -> bool:
    if not 0 < value < _MOST:
        return False
    if report.step is not None and field.name[:_NAME] == report.step_name:
        report.total = int(value)
    elif report.epoch is not None and field.name[:_NAME] == report.epoch_name and report.epoch_total is None:
        report.epoch_total = int(value)
    return False


def _take_epoch(report: Report, field: Field, value: float) -> bool:
    if report.epoch is None and 0 <= value < _MOST:
        report.epoch, report.epoch_name = value, field.name[:_NAME]
    return True


def _take_count(report: Report, field: Field, value: float) -> bool:
    if 0 <= value < inf:
        report.count, report.count_unit = value, field.unit
    return True


def _take_done(report: Report, _: Field, value: float) -> bool:
    if 0 <= value < inf:
        report.done = value
    return True


def _take_left(report: Report, _: Field, value: float) -> bool:
    if report.left is None and 0 <= value < inf:
        report.left = value
    return False


def _take_time(report: Report, field: Field, value: float) -> bool:
    if not 0 <= value < inf:
        return False
    if value > _SINCE_1970:
        report.stamp = value / 1000 if value > 1000 * _SINCE_1970 else value
    elif len(report.times) < _TIMES:
        report.times.setdefault(key_of(field), value)
    return field.meaning is not Meaning.SPAN


def _take_rate(report: Report, field: Field, value: float) -> bool:
    if not 0 < value < inf:
        return value == 0
    if field.unit.startswith(STEPS):
        report.step_rate = report.step_rate or value
    elif len(report.rates) < _TIMES:
        report.rates.setdefault(field.unit, value)
    return True


def _take_period(report: Report, field: Field, value: float) -> bool:
    return 0 < value < inf and _take_rate(report, field, 1 / value)


_TAKE: dict[Meaning, Callable[[Report, Field, float], bool]] = {
    Meaning.LOSS: _take_loss,
    Meaning.STEP: _take_step,
    Meaning.TOTAL: _take_total,
    Meaning.EPOCH: _take_epoch,
    Meaning.RATE: _take_rate,
    Meaning.COUNT: _take_count,
    Meaning.PERIOD: _take_period,
    Meaning.DONE: _take_done,
    Meaning.LEFT: _take_left,
    **dict.fromkeys(_ROLES, _take_time),
}
"""How a field of each meaning goes into a report; each returns whether it is a field of reports."""

_MERGED = ("epoch", "step_rate", "stamp", "count", "done", "left", "epoch_total")


def joins(report: Report, line: Report, fragment: bool) -> bool:
    """Return whether `line` goes on with `report`.

    Args:
        report: The newest report.
        line: The report that the line alone makes.
        fragment: The line is one field of a report over several lines: indented, or a cell of a drawn table.
    """
    if line.rank != report.rank and line.step is None:
        return False
    if line.step is not None:
        if fragment and report.step is not None and line.step_name != report.step_name:
            return True  # a table counts episodes, updates and steps side by side
        if _ends_apart(report, line):
            return False
        return line.step == report.step and (line.epoch == report.epoch or line.epoch is None or report.epoch is None)
    if line.epoch is not None and report.epoch is not None and line.epoch != report.epoch:
        return False
    return fragment or not _repeats(report, line)


def _ends_apart(earlier: Report, later: Report) -> bool:
    """Return whether both count to an end, and not to the same."""
    return earlier.total is not None and later.total is not None and earlier.total != later.total


def _repeats(report: Report, line: Report) -> bool:
    """Return whether `line` says again what `report` has said."""
    if line.has_loss and line.loss_rank == report.loss_rank:
        return True  # losses of other ranks are parts of the same report
    if any(getattr(line, name) is not None and getattr(report, name) is not None for name in ("step_rate", "count")):
        return True
    return bool(line.times.keys() & report.times.keys() or line.rates.keys() & report.rates.keys())


def inside_a_step(inner: Report, outer: Report) -> bool:
    """Return whether `inner` counts parts of a step that `outer` counts: to an end that the other counter, which has none, went beyond.

    Bars are left alone: those of epochs begin anew too.
    """
    if inner.total is None or BAR in inner.times or inner.shape == outer.shape:
        return False
    if outer.total is not None or outer.step is None or outer.unnamed:
        return False
    return inner.step_name != outer.step_name and (
        outer.step > inner.total or _GLOBAL.search(outer.step_name) is not None
    )


def join(report: Report, line: Report) -> None:
    """Add what `line` says to `report`."""
    if line.rank != report.rank and line.rank is not None and line.shape == report.shape:
        _join_rank(report, line)
    else:
        _join_fields(report, line)
    report.line, report.offset, report.time, report.text = line.line, line.offset, line.time, line.text


def _join_rank(report: Report, line: Report) -> None:
    """Another rank reports the same step. The lowest rank's numbers stand; the others' step times are kept beside."""
    stated = next(iter(line.times.values()), None) or (1 / line.step_rate if line.step_rate else None)
    if stated is not None and line.rank is not None and len(report.ranks) < _RANKS:
        report.ranks[line.rank] = stated
    unit = next(iter(report.rates), "")
    if unit in line.rates and line.rank is not None and len(report.rank_rates) < _RANKS:
        report.rank_rates[line.rank] = line.rates[unit]


def _join_fields(report: Report, line: Report) -> None:
    if line.times and line.rates and not report.times:
        report.rates = {}  # the speed that stands beside the step time belongs to it
    again = line.shape == report.shape
    report.restated += again and line.has_loss and line.loss != report.loss
    if "timestep" in line.step_name and line.step_name != report.step_name:
        report.step, report.step_name = line.step, line.step_name  # what the speed beside it counts
    for name in _MERGED:
        value = getattr(line, name)
        if value is not None and (getattr(report, name) is None or again):
            setattr(report, name, value)
    report.count_unit = report.count_unit or line.count_unit
    report.times = _united(report.times, line.times, again)
    report.rates = _united(report.rates, line.rates, again)
    if line.loss_rank < report.loss_rank or (line.loss_rank == report.loss_rank and again):
        report.loss, report.loss_rank = line.loss, line.loss_rank


def _united(old: dict[str, float], new: dict[str, float], again: bool) -> dict[str, float]:
    """Return both; of two values of one name the newer where the line was printed `again`, else the older."""
    both = {**old, **new} if again else {**new, **old}
    return dict(list(both.items())[:_TIMES])


def add(window: list[Report], line: Report, fragment: bool, limit: int) -> None:
    """Add a line to the newest reports: to the last of them, or as one more; the oldest go. A new run starts anew."""
    newest = window[-_LOOK_BACK:]
    if window and joins(window[-1], line, fragment) and not _ends_again(newest, line):
        join(window[-1], line)
        return
    if line.rank is not None and (line.step is not None or line.epoch is not None):
        for report in window[: -_LOOK_BACK - 1 : -1]:
            same = report.step == line.step and report.shape == line.shape and report.epoch == line.epoch
            if same and report.rank is not None and report.rank != line.rank:
                join(report, line)
                return
    for earlier in newest:
        if earlier.shape == line.shape and _falls_back(earlier, line):
            if not any(inside_a_step(line, outer) for outer in newest):
                window.clear()
            break
    window.append(line)
    if len(window) > limit:
        del window[: len(window) - limit]


def _ends_again(newest: Sequence[Report], line: Report) -> bool:
    """Return whether `line` is the last of a loop as the newest report was, and not of the same: `40/40 - 2s - loss: 0.53`, one an epoch.

    Where lines restated a step before it is no such loop, and bars are left alone: they show their last step more than once.
    """
    before = newest[-1]
    if line.step is None or not (line.step == line.total == before.step) or line.total == 1 or BAR in line.times:
        return False
    told = line.has_loss and before.has_loss and line.loss != before.loss
    return told and line.shape == before.shape and line.rank == before.rank and not any(one.restated for one in newest)


def _falls_back(earlier: Report, later: Report) -> bool:
    """Return whether `later` belongs to another run than `earlier`: its counters are lower."""
    if earlier.rank != later.rank:
        return False
    if earlier.epoch is not None and later.epoch is not None and earlier.epoch != later.epoch:
        lower = later.epoch < earlier.epoch
    else:
        lower = earlier.step is not None and later.step is not None and later.step < earlier.step
    return lower and not _ends_apart(earlier, later)
