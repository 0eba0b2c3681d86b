"""Reports: the numbers that one or several lines print about one moment of the training."""

import re
from collections.abc import Callable, Sequence
from math import inf, isfinite

import msgspec

from ..grammar.extractor import LineFields
from ..grammar.names import Field, Meaning, loss_rank
from ..grammar.units import STEPS

BAR = "clock:elapsed"
"""Key of the time that a bar has run."""
_TIMES = 6
"""Times and rates that a report keeps. Some lines print the times of dozens of parts."""
_NAME = 32
"""Characters of a field's name that a report keeps."""
_RANKS = 64
"""Ranks in one stream whose step times a report keeps."""
_LOOK_BACK = 4
"""Newest reports among which one of the same shape is searched for."""
_WHOLE_RUN = re.compile(r"(?i)total|(?:^|[^a-z])opt(?:im(?:izer)?)?[ _-]?step")
"""Names of counters of the whole training, whatever is counted inside one of its steps."""
_MOST = 1e15
"""Limit of a counter: no training has more steps, a higher number is an id."""
_MERGED = ("epoch", "step_rate", "stamp", "count", "done", "left", "epoch_total")
_KINDS = {Meaning.STEP_TIME: "step", Meaning.TIME: "time", Meaning.CLOCK: "clock", Meaning.SPAN: "span"}


class Report(msgspec.Struct, array_like=True, gc=False):
    """One report. Its lines belong together: they name the same step, or continue where the first ends.

    A worker holds twenty of each stream, and none refers to another: the garbage collector need not look at them.

    Attributes:
        line: Line number of its newest line.
        offset: Kafka offset of that line's chunk.
        time: Arrival of that line, in seconds since 1970.
        text: That line, cut.
        shape: Checksum of the template of its first line. Reports of one shape come from one print statement.
        step: Training step.
        epoch: Epoch.
        stamp: Printed time, in seconds.
        times: Printed times in seconds, by key (`key_of`). Many reports decide which of them is the step's.
        step_rate: Stated steps a second.
        rates: Stated things a second, by unit.
        count: Samples or tokens so far, in `count_unit`.
        count_unit: `samples/s` or `tokens/s`, the unit of its rate.
        done: Things done since the report before.
        loss: Training loss; null where it is printed but no number.
        loss_rank: Rank of the loss's name (`names.loss_rank`); 99 where no loss is printed.
        unnamed: `step` is a bare `k/N`, which may count something else.
        step_name: Name of the counter.
        total: Its end, `N` in `k/N`. Loops with different ends are different loops.
        evaluated: It holds results of an evaluation too.
        bare: It is a bar without a loss, which may be of an evaluation.
        rank: Rank that a launcher printed before the line.
        ranks: Stated seconds per step of other ranks that report the same step in the same stream.
        rank_rates: Their stated things a second, of the first unit.
        left: Seconds that remain, as the log expects.
        epoch_name: Name of the epoch's counter.
        epoch_total: Its end, `N` in `epoch k/N`.
        repeats: Lines of its shape that named its step again, with another loss.
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
    repeats: int = 0

    @property
    def has_loss(self) -> bool:
        """Whether a loss is printed, a number or not."""
        return self.loss_rank < 99


def key_of(field: Field) -> str:
    """Return the key of a printed time: the kind that its name makes it, and its name (or its place, without one)."""
    return f"{_KINDS[field.meaning]}:{field.name[:_NAME] or field.index}"


def read(fields: LineFields, line: int, offset: int, time: float, text: str) -> Report | None:
    """Return the report of a single line, or None where it holds none of the fields of one."""
    report = Report(line, offset, time, text[:160].strip(), fields.layout.shape, stamp=fields.stamp, rank=fields.rank)
    report.evaluated = fields.layout.evaluated
    found = False
    for field, value in fields.values:
        found |= _ADD[field.meaning](report, field, value)
    if fields.layout.bar and report.step_rate is None:
        _invert_seconds_per_iteration(report)
    return report if found else None


def _invert_seconds_per_iteration(report: Report) -> None:
    """Turn a bar's `s/it` into a rate. A bar prints `it/s` while steps are shorter than a second."""
    key = next((key for key in report.times if key.startswith("step:") and key[5:].isdigit()), "")
    if seconds := report.times.get(key):
        report.step_rate = 1 / seconds
        del report.times[key]


def _add_time(report: Report, field: Field, value: float) -> bool:
    if not 0 <= value < inf:
        return False
    if value > 1e9:  # a date in seconds or milliseconds since 1970, no duration
        report.stamp = value / 1000 if value > 1e12 else value
    elif len(report.times) < _TIMES:
        report.times.setdefault(key_of(field), value)
    return field.meaning is not Meaning.SPAN


def _add_loss(report: Report, field: Field, value: float) -> bool:
    rank = loss_rank(field.name)
    if rank < report.loss_rank or (report.loss == 0 and rank == report.loss_rank):  # 0: of a part that is not trained
        report.loss, report.loss_rank = (value if isfinite(value) else None), rank
    return True


def _add_step(report: Report, field: Field, value: float) -> bool:
    name = field.name[:_NAME]
    if not 0 <= value < _MOST or value != int(value):
        return False
    if report.step is None or not name or (_WHOLE_RUN.search(name) and not _WHOLE_RUN.search(report.step_name)):
        report.step, report.unnamed, report.step_name, report.total = int(value), not name, name, None
    return True


def _add_total(report: Report, field: Field, value: float) -> bool:
    name = field.name[:_NAME]
    if 0 < value < _MOST:
        if report.step is not None and name == report.step_name:
            report.total = int(value)
        elif report.epoch is not None and name == report.epoch_name and report.epoch_total is None:
            report.epoch_total = int(value)
    return False


def _add_epoch(report: Report, field: Field, value: float) -> bool:
    if report.epoch is None and 0 <= value < _MOST:
        report.epoch, report.epoch_name = value, field.name[:_NAME]
    return True


def _add_rate(report: Report, field: Field, value: float) -> bool:
    if not 0 < value < inf:
        return value == 0
    rate = 1 / value if field.meaning is Meaning.PERIOD else value
    if field.unit.startswith(STEPS):
        report.step_rate = report.step_rate or rate
    elif len(report.rates) < _TIMES:
        report.rates.setdefault(field.unit, rate)
    return True


def _add_count(report: Report, field: Field, value: float) -> bool:
    if 0 <= value < inf:
        if field.meaning is Meaning.COUNT:
            report.count, report.count_unit = value, field.unit
        else:
            report.done = value
    return True


def _add_left(report: Report, _: Field, value: float) -> bool:
    if report.left is None and 0 <= value < inf:
        report.left = value
    return False


_ADD: dict[Meaning, Callable[[Report, Field, float], bool]] = {
    **dict.fromkeys(_KINDS, _add_time),
    Meaning.LOSS: _add_loss,
    Meaning.STEP: _add_step,
    Meaning.TOTAL: _add_total,
    Meaning.EPOCH: _add_epoch,
    **dict.fromkeys((Meaning.RATE, Meaning.PERIOD), _add_rate),
    **dict.fromkeys((Meaning.COUNT, Meaning.DONE), _add_count),
    Meaning.LEFT: _add_left,
}
"""Functions that put a number of each meaning into a report. They return whether it is a field of reports."""


def _is_continued(report: Report, line: Report, *, fragment: bool) -> bool:
    """Return whether `line` continues `report`.

    Args:
        report: The newest report.
        line: The report of a single line.
        fragment: The line is one field of a report over several lines: indented, or a cell of a drawn table.
    """
    if line.rank != report.rank and line.step is None:
        return False
    if line.step is not None:
        if fragment and report.step is not None and line.step_name != report.step_name:
            return True  # a table counts episodes, updates and steps side by side
        same_epoch = line.epoch is None or report.epoch is None or line.epoch == report.epoch
        return line.step == report.step and same_epoch and not _count_to_other_ends(report, line)
    if line.epoch is not None and report.epoch is not None and line.epoch != report.epoch:
        return False
    return fragment or not _repeats(report, line)


def _count_to_other_ends(earlier: Report, later: Report) -> bool:
    return earlier.total is not None and later.total is not None and earlier.total != later.total


def _repeats(report: Report, line: Report) -> bool:
    """Return whether `line` prints a number of `report` again."""
    if line.has_loss and line.loss_rank == report.loss_rank:
        return True  # losses of other ranks are parts of the same report
    if any(getattr(line, name) is not None and getattr(report, name) is not None for name in ("step_rate", "count")):
        return True
    return bool(line.times.keys() & report.times.keys() or line.rates.keys() & report.rates.keys())


def _join(report: Report, line: Report) -> None:
    """Add the numbers of `line` to `report`."""
    if line.rank != report.rank and line.rank is not None and line.shape == report.shape:
        _join_rank(report, line, line.rank)
    else:
        _join_fields(report, line)
    report.line, report.offset, report.time, report.text = line.line, line.offset, line.time, line.text


def _join_rank(report: Report, line: Report, rank: int) -> None:
    """Add what another rank reports of the same step. The first rank's numbers stay; the others' step times are kept as well."""
    stated = next(iter(line.times.values()), None) or (1 / line.step_rate if line.step_rate else None)
    if stated is not None and len(report.ranks) < _RANKS:
        report.ranks[rank] = stated
    unit = next(iter(report.rates), "")
    if unit in line.rates and len(report.rank_rates) < _RANKS:
        report.rank_rates[rank] = line.rates[unit]


def _join_fields(report: Report, line: Report) -> None:
    if line.times and line.rates and not report.times:
        report.rates = {}  # the speed in the line of the step time belongs to it
    again = line.shape == report.shape
    report.repeats += again and line.step is not None and line.loss != report.loss
    if "timestep" in line.step_name and line.step_name != report.step_name:
        report.step, report.step_name = line.step, line.step_name  # what the speed in the same block counts
    for name in _MERGED:
        value = getattr(line, name)
        if value is not None and (getattr(report, name) is None or again):
            setattr(report, name, value)
    report.count_unit = report.count_unit or line.count_unit
    report.times = _merge(report.times, line.times, again=again)
    report.rates = _merge(report.rates, line.rates, again=again)
    if line.loss_rank < report.loss_rank or (line.loss_rank == report.loss_rank and again):
        report.loss, report.loss_rank = line.loss, line.loss_rank


def _merge(old: dict[str, float], new: dict[str, float], *, again: bool) -> dict[str, float]:
    """Return both; of two values of one name the newer where the line was printed `again`, else the older."""
    both = {**old, **new} if again else {**new, **old}
    return dict(list(both.items())[:_TIMES])


def add(window: list[Report], line: Report, fragment: bool, limit: int) -> None:  # a pair from the scan
    """Add a line to the newest reports: to the last of them, or as one more; the oldest are dropped. A new run starts anew."""
    if window and _is_continued(window[-1], line, fragment=fragment) and not _ends_again(window, line):
        _join(window[-1], line)
        return
    if line.rank is not None and (line.step is not None or line.epoch is not None):
        for report in window[: -_LOOK_BACK - 1 : -1]:
            same = report.step == line.step and report.shape == line.shape and report.epoch == line.epoch
            if same and report.rank is not None and report.rank != line.rank:
                _join(report, line)
                return
    for report in window[-_LOOK_BACK:]:
        if report.shape == line.shape and _falls_back(report, line):
            window.clear()
            break
    window.append(line)
    del window[:-limit]


def _ends_again(window: Sequence[Report], line: Report) -> bool:
    """Return whether `line` is the last of a loop, and the newest report that of another: `40/40 - 2s - loss: 0.53`, one an epoch.

    A bar may be drawn more than once at its last step, and other lines if their steps were repeated before.
    """
    before = window[-1]
    if line.step is None or not (line.step == line.total == before.step) or line.total == 1 or BAR in line.times:
        return False
    other_loss = line.has_loss and before.has_loss and line.loss != before.loss
    is_same = line.shape == before.shape and line.rank == before.rank
    return other_loss and is_same and not any(report.repeats for report in window[-_LOOK_BACK:])


def _falls_back(earlier: Report, later: Report) -> bool:
    """Return whether `later` belongs to another run than `earlier`: its counters are lower."""
    if earlier.rank != later.rank:
        return False
    if earlier.epoch is not None and later.epoch is not None and earlier.epoch != later.epoch:
        lower = later.epoch < earlier.epoch
    else:
        lower = earlier.step is not None and later.step is not None and later.step < earlier.step
    return lower and not _count_to_other_ends(earlier, later)
