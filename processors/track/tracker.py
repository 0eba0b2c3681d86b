"""The metric tracker (SchedMate §3.2): reverse scan, extract, drop outliers, report the median."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import msgspec
from prometheus_client import Counter

from schedmate_records import JobMetric

from ..classified_chunk import PROGRESS, ClassifiedChunk
from ..formats.reader import FormatReader
from ..formats.reading import read_format
from ..grammar.extractor import CACHE_SIZE, Extractor
from ..grammar.names import Meaning
from ..read.column_search import ColumnSearch, WeighedColumn
from ..read.events import is_structured, observe
from ..read.roles import Proposer
from . import tables
from .completion import add_columns, add_events
from .format_candidates import combine
from .metric import Printed, make_metric, metric_before
from .not_finite import begins_at
from .reports import Report, add, read
from .scan import Scan, is_bare_bar, step_time_of_bar
from .section_scope import SectionScope
from .state import TrackState
from .step_time_candidates import rate_rounding
from .summary import agree, within_reach

REPORTS = 20
"""Newest reports that numbers rest on."""
SPACED_S = 1.9
"""Seconds after the newest metric within which reports wait for the next chunk: a summary costs more than all other work on a line."""
_is_structured = lru_cache(maxsize=CACHE_SIZE)(is_structured)


class TrackerMetrics:
    """Metrics of the tracker."""

    def __init__(self) -> None:
        self.parsed = Counter("schedmate_tracker_parsed", "Lines whose fields were extracted.", registry=None)
        self.records = Counter("schedmate_tracker_records", "Progress records written.", registry=None)


class MetricTracker:
    """Reads the newest reports of a chunk and returns the progress of the training.

    Numbers depend on the lines alone, not on how they are cut into chunks.

    Args:
        reports: Newest reports that numbers rest on.
        extractor: Reads the fields of a line; one of the usual size where not given.
        proposer: Proposes the roles of number columns; the one that ships where not given.
        formats: Applies the known formats; None where there are none.
    """

    def __init__(
        self,
        reports: int = REPORTS,
        extractor: Extractor | None = None,
        proposer: Proposer | None = None,
        formats: FormatReader | None = None,
    ) -> None:
        if reports < 1:
            raise ValueError(f"expected at least 1 report to rest on, got {reports}")
        self._reports = reports
        self._extractor = extractor or Extractor()
        self._columns = ColumnSearch(proposer)
        self.metrics = TrackerMetrics()
        self.formats = formats
        self._parsed = 0

    def observe(self, view: ClassifiedChunk, state: TrackState, *, may_wait: bool = False) -> JobMetric | None:
        """Read a chunk and update `state`. Return the progress, or None where the chunk holds no new report.

        Args:
            view: The chunk.
            state: State of its stream.
            may_wait: Reports less than `SPACED_S` after the newest metric may wait. `waiting` then returns True, and `catch_up` the metric.
        """
        metric = self._observe(view, state, may_wait=may_wait)
        if self._parsed:  # counted once a chunk: an increment takes a lock
            self.metrics.parsed.inc(self._parsed)
            self._parsed = 0
        if self.formats is not None and not self.formats.is_idle:
            metric = self._with_format(self.formats, view, state, metric)
        return metric and within_reach(metric)

    def _with_format(
        self, formats: FormatReader, view: ClassifiedChunk, state: TrackState, metric: JobMetric | None
    ) -> JobMetric | None:
        """Return what the rules and the known format of the stream read together; None for a chunk without a report of either."""
        place = formats.observe(view, state.format)
        known = formats.format_of(state.format)
        if known is None or (metric is None and (place is None or self.waiting(state))):
            return metric
        reading = read_format(known, state.format)
        if metric is None:
            if not reading.credible or not reading.trains:
                return None
            metric = metric_before(view, state, place or 0, reading.rows)
        return combine(metric, state.window, reading)

    def weighed(self, state: TrackState) -> list[WeighedColumn]:
        """Return the columns that were weighed for step and loss; none where reports alone gave both."""
        return self._columns.weighed(state.kept)

    @staticmethod
    def waiting(state: TrackState) -> bool:
        """Return whether there are reports that no metric was made of."""
        return bool(state.window) and 0 < state.reported_at < state.window[-1].time

    def catch_up(self, printed: Printed, state: TrackState) -> JobMetric:
        """Return the metric of the reports that wait. `state` does not change."""
        self.metrics.records.inc()
        metric = make_metric(printed, state)
        known = self.formats.format_of(state.format) if self.formats else None
        if known is not None:
            metric = combine(metric, state.window, read_format(known, state.format))
        return within_reach(metric)

    @staticmethod
    def flushed(state: TrackState) -> None:
        """Note that no report waits any more."""
        if state.reported_at and state.window:  # bars without a loss are dropped once a report names its step
            state.reported_at = state.window[-1].time

    def _observe(self, view: ClassifiedChunk, state: TrackState, *, may_wait: bool) -> JobMetric | None:
        sections = SectionScope(view, state.loop)
        tables.find_header(view, state)
        state.loop = sections.last()
        event = self._observe_events(view, state)
        reported = self._observe_reports(view, state, sections.foreign, may_wait=may_wait)
        metric = add_events(view, state, event, reported)
        metric = add_columns(view, state, self._columns, metric)
        if reported is None and metric is not None:
            self.metrics.records.inc()
        return metric

    def _observe_events(self, view: ClassifiedChunk, state: TrackState) -> int | None:
        """Read the events of a chunk; return the place of the newest, or None."""
        structured = {template for template in view.distinct if _is_structured(template)}
        if not structured:
            return None
        found = [(place, line) for place, line in enumerate(view.lines) if view.templates[place] in structured]
        return observe(found, self._columns.reader, state.events)

    def _observe_reports(
        self, view: ClassifiedChunk, state: TrackState, foreign: Callable[[int], bool], *, may_wait: bool
    ) -> JobMetric | None:
        if PROGRESS not in view.classes:
            return None
        lines, whole = self._scan(view, state, foreign)
        if not lines:
            return None
        if not whole:
            state.window.clear()
        for report, fragment in lines:
            add(state.window, report, fragment, self._reports)
        if not agree(state.window):
            return None
        begins = not state.loss_not_finite
        self._remember_loss(view, state, [report for report, _ in lines])
        began = begins_at(view) if begins and state.loss_not_finite else None
        first = None if began is None else self._read(view, state, began)[0]
        if first is not None and first.step is not None:
            state.loss_step = first.step
        if may_wait and not state.loss_not_finite and 0 < state.window[-1].time - state.reported_at < SPACED_S:
            return None
        self.metrics.records.inc()
        metric = make_metric(Printed.of(view), state)
        if began is not None and metric.loss_not_finite:
            metric = msgspec.structs.replace(metric, evidence=[*metric.evidence, view.evidence(began)])
        has_speed = metric.step_time_s is not None or metric.throughput is not None
        state.reported_at = state.window[-1].time if has_speed else 0.0  # until the first speed no report waits
        if not has_speed or (metric.method == "rate" and rate_rounding(state.window) >= 0.01):
            return self._with_speed_of_bar(view, state, metric)
        return metric

    def _with_speed_of_bar(self, view: ClassifiedChunk, state: TrackState, metric: JobMetric) -> JobMetric:
        """Return `metric` with the speed of the newest bar, if that counts the steps of the reports and does not contradict their speed.

        Reports may name their step and no time, or a speed in few digits: 0.005 it/s for 218.03 s/it.
        """
        place = next((place for place in _newest_first(view) if is_bare_bar(view.lines[place])), None)
        state.bar = (None if place is None else self._read(view, state, place)[0]) or state.bar
        seconds = step_time_of_bar(state.bar, metric.step, metric.epoch) if state.bar else None
        if seconds is None:
            return metric
        if metric.step_time_s is None:
            return msgspec.structs.replace(metric, step_time_s=seconds, method="rate", confidence=0.6)
        is_same = abs(seconds / metric.step_time_s - 1) <= rate_rounding(state.window)
        return msgspec.structs.replace(metric, step_time_s=seconds) if is_same else metric

    def _scan(
        self, view: ClassifiedChunk, state: TrackState, foreign: Callable[[int], bool]
    ) -> tuple[list[tuple[Report, bool]], bool]:
        """Read progress lines from the newest backwards until enough reports are found, without those of other work (`foreign`).

        Returns:
            The lines that hold a field, oldest first, each with whether it is a fragment; and whether that is all of them.
        """
        scan = Scan(self._reports + 5, state.named)  # whether a report begins a run shows in the ones before it
        has_header = bool(tables.columns(tuple(state.header))[0])
        for place in _newest_first(view):
            if scan.done:
                return self._reports_of(scan, state), False
            bare = is_bare_bar(view.lines[place])
            readable = has_header or _holds_words(view.templates[place])  # numbers alone need a header
            if scan.wants(bare) and readable and not foreign(place):
                scan.add_report(*self._read(view, state, place), bare)
        return self._reports_of(scan, state), scan.whole

    @staticmethod
    def _reports_of(scan: Scan, state: TrackState) -> list[tuple[Report, bool]]:
        if scan.named and not state.named:
            state.window[:] = [report for report in state.window if not report.bare]
            state.named = True
        return scan.lines()

    def _read(self, view: ClassifiedChunk, state: TrackState, place: int) -> tuple[Report | None, bool]:
        line = view.lines[place]
        self._parsed += 1
        fields = self._extractor.read(line, view.templates[place])
        if fields.row:
            fields = tables.row(line, state.header, fields.stamp)
        elif fields.layout.bar and state.pending and not fields.layout.has(Meaning.LOSS):
            fields.values += tables.losses_under(line, state.pending)
        report = read(fields, view.numbers[place], view.position.offset, view.times[place], line)
        return report, fields.fragment

    def _remember_loss(self, view: ClassifiedChunk, state: TrackState, reports: Sequence[Report]) -> None:
        """Keep the newest loss, which may be older than the newest reports (a bar redrawn between two of them)."""
        place = max((place for place, report in enumerate(reports) if report.has_loss), default=None)
        if place is not None:
            was_not_finite, newest = state.loss_not_finite, reports[place]
            state.loss, state.loss_not_finite = newest.loss, newest.loss is None
            if newest.loss is not None:
                state.loss_step = _step_at(reports, place)
            elif not was_not_finite:
                state.loss_step = _first_bad_step(max(reports, state.window, key=len))
            return
        for place in _newest_first(view):
            report = self._read(view, state, place)[0] if "loss" in view.lines[place].lower() else None
            if report is not None and report.has_loss:
                state.loss, state.loss_not_finite, state.loss_step = report.loss, report.loss is None, report.step
                return


def _first_bad_step(reports: Sequence[Report]) -> int | None:
    """Return the step since which no report has a finite loss."""
    lossy = [place for place, report in enumerate(reports) if report.has_loss]
    finite = max((place for place in lossy if reports[place].loss is not None), default=-1)
    return next((_step_at(reports, place) for place in lossy if place > finite), None)


def _step_at(reports: Sequence[Report], place: int) -> int | None:
    """Return the step that the report at `place`, or the newest before it, names."""
    return next((each.step for each in reversed(reports[: place + 1]) if each.step is not None), None)


def _newest_first(view: ClassifiedChunk) -> Iterator[int]:
    """Yield the places of the progress lines, the newest first."""
    place = view.classes.rfind(PROGRESS)
    while place >= 0:
        yield place
        place = view.classes.rfind(PROGRESS, 0, place)


@lru_cache(maxsize=4096)
def _holds_words(template: str) -> bool:
    """Return whether the lines of `template` are more than rows of numbers."""
    return re.search(r"[^\W\d_]|%", template) is not None
