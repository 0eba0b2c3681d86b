"""The metric tracker (SchedMate §3.2): reverse scan, extract, drop outliers, report the median."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

import msgspec
from prometheus_client import Counter

from schedmate_records import Evidence, JobMetric, Position, derived_id

from ..classified_chunk import PROGRESS, ClassifiedChunk
from ..formats.reader import FormatReader
from ..formats.reading import read_format
from ..grammar.cache import GenerationCache
from ..grammar.extractor import CACHE_SIZE, Extractor
from ..grammar.names import Meaning
from ..read.column_search import ColumnSearch, WeighedColumn
from ..read.events import EVENT, FIELD, observe
from ..read.roles import Proposer
from . import tables
from .format_candidates import combine
from .not_finite import begins_at
from .of_columns import measured_before, of_columns, of_events
from .ranks import of_stream
from .reports import Report, add, read
from .scan import Scan, bare_bar, of_bar
from .section_scope import NestedBars, SectionScope
from .state import TrackState
from .step_time_candidates import rate_rounding
from .summary import Summary, agree, summarise, within_reach

REPORTS = 20
"""Newest reports that numbers rest on."""

_OF_BAR = 0.6
"""Confidence of the speed that a bar beside the reports shows."""

_COARSE = 0.01
"""Relative rounding error of a printed rate from which a bar is looked for."""

_MORE = 5
"""Reports read beyond those: whether a report begins a run shows beside the ones before it."""

SPACED_S = 1.9
"""Reports that arrive sooner after the newest metric wait for the next chunk: a summary costs more than all else that is done to a line."""

_SAYS = re.compile(r"[^\W\d_]|%")


class TrackerMetrics:
    """What the tracker has done."""

    def __init__(self) -> None:
        self.parsed = Counter("schedmate_tracker_parsed", "Lines whose fields were extracted.", registry=None)
        self.records = Counter("schedmate_tracker_records", "Progress records written.", registry=None)


class Printed(msgspec.Struct, frozen=True):
    """Who printed a report, and where the chunk that holds it stands."""

    job: str
    attempt: int
    node: str
    rank: int
    stream: str
    position: Position

    @classmethod
    def of(cls, view: ClassifiedChunk) -> "Printed":
        """Return what a chunk says of its lines."""
        return cls(view.job, view.attempt, view.node, view.rank, view.stream, view.position)


class MetricTracker:
    """Reads the newest reports of a chunk, and tells how the training goes.

    Numbers depend on the lines alone, not on how they are cut into chunks.

    Args:
        reports: Newest reports that numbers rest on.
        extractor: Reads the fields of a line; one of the usual size where not given.
        proposer: Says how likely each role of a number column is; the one that ships where not given.
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
        self._structured: GenerationCache[bool] = GenerationCache(CACHE_SIZE)
        self.metrics = TrackerMetrics()
        self.formats = formats
        self._parsed = 0

    def observe(self, view: ClassifiedChunk, state: TrackState, *, may_wait: bool = False) -> JobMetric | None:
        """Take in a chunk; return what is known now, or None where it holds no new report. `state` moves on.

        Args:
            view: The chunk.
            state: What is remembered of its stream.
            may_wait: Reports less than `SPACED_S` after the newest metric may wait; `waiting` says so, `catch_up` makes the metric.
        """
        metric = self._observe(view, state, may_wait=may_wait)
        if self._parsed:  # counted once a chunk: an increment takes a lock
            self.metrics.parsed.inc(self._parsed)
            self._parsed = 0
        if self.formats is not None and not self.formats.is_idle:
            metric = self._with_format(view, state, metric)
        return metric and within_reach(metric)

    def _with_format(self, view: ClassifiedChunk, state: TrackState, metric: JobMetric | None) -> JobMetric | None:
        """Return what the rules and the known format of the stream read together; None for a chunk without a report of either."""
        formats = self.formats
        assert formats is not None
        place = formats.observe(view, state.format)
        known = formats.format_of(state.format)
        if known is None or (metric is None and (place is None or self.waiting(state))):
            return metric
        reading = read_format(known, state.format)
        if metric is None:
            if not reading.credible or not reading.trains:
                return None
            metric = measured_before(view, state, place or 0, reading.rows)
        return combine(metric, state.window, reading)

    def weighed(self, state: TrackState) -> list[WeighedColumn]:
        """Return the columns that were weighed for step and loss; none where reports alone told both."""
        return self._columns.weighed(state.kept)

    @staticmethod
    def waiting(state: TrackState) -> bool:
        """Return whether there are reports that no metric was made of."""
        return bool(state.window) and 0 < state.reported_at < state.window[-1].time

    def catch_up(self, printed: Printed, state: TrackState) -> JobMetric:
        """Return the metric of the reports that wait; `state` does not move."""
        self.metrics.records.inc()
        metric = self._metric(printed, state, summarise(state.window))
        known = self.formats.format_of(state.format) if self.formats else None
        if known is not None:
            metric = combine(metric, state.window, read_format(known, state.format))
        return within_reach(metric)

    @staticmethod
    def flushed(state: TrackState) -> None:
        """Note that no report waits any more."""
        if state.reported_at and state.window:  # bars without a loss go once a report names its step
            state.reported_at = state.window[-1].time

    def _observe(self, view: ClassifiedChunk, state: TrackState, *, may_wait: bool) -> JobMetric | None:
        headers = tables.Headers(view, state.pending)
        headings, nested_bars = SectionScope(view, state.loop), NestedBars(view, state.drawn)
        tables.find_header(view, state, headers)
        state.loop, state.drawn = headings.last(), nested_bars.last()
        told = self._observe_events(view, state)
        reported = self._observe_reports(
            view, state, headers, lambda place: headings.foreign(place) or nested_bars.second(place), may_wait=may_wait
        )
        made = of_events(view, state, told, reported) or reported
        made = of_columns(view, state, self._columns, made) or made
        if reported is None and made is not None:
            self.metrics.records.inc()
        return made

    def _observe_events(self, view: ClassifiedChunk, state: TrackState) -> int | None:
        """Take in the events of a chunk; return the place of the newest, or None."""
        young = self._structured.young
        structured = {
            template
            for template in view.distinct
            if (young[template] if template in young else self._is_structured(template))
        }
        if not structured:
            return None
        found = [(place, line) for place, line in enumerate(view.lines) if view.templates[place] in structured]
        return observe(found, self._columns.reader, state.events)

    def _is_structured(self, template: str) -> bool:
        """Return whether the lines of `template` may be events. It is remembered: a look-up costs less than a search in each line."""
        known = self._structured.get(template)
        if known is None:
            known = EVENT in template or FIELD in template
            self._structured.put(template, known)
        return known

    def _observe_reports(
        self,
        view: ClassifiedChunk,
        state: TrackState,
        headers: tables.Headers,
        foreign: Callable[[int], bool],
        *,
        may_wait: bool,
    ) -> JobMetric | None:
        if PROGRESS not in view.classes:
            return None
        lines, whole = self._scan(view, state, headers, foreign)
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
        metric = self._metric(Printed.of(view), state, summarise(state.window))
        if began is not None and metric.loss_not_finite:
            metric = msgspec.structs.replace(metric, evidence=[*metric.evidence, view.evidence(began)])
        if metric.step_time_s is not None or metric.throughput is not None:
            state.reported_at = state.window[-1].time
            return self._of_finer_bar(view, state, metric) if metric.method == "rate" else metric
        state.reported_at = 0.0  # a first speed is worth a look at every report
        return self._of_bar(view, state, metric)

    def _of_finer_bar(self, view: ClassifiedChunk, state: TrackState, metric: JobMetric) -> JobMetric:
        """Take the speed of the newest bar where the rate in the reports is the same, printed in few digits: 0.005 it/s for 218.03 s/it."""
        error = rate_rounding(state.window)
        if error < _COARSE or metric.step_time_s is None:
            return metric
        finer = self._of_bar(view, state, metric)
        same = finer.step_time_s is not None and abs(finer.step_time_s / metric.step_time_s - 1) <= error
        return msgspec.structs.replace(finer, confidence=metric.confidence) if same else metric

    def _of_bar(self, view: ClassifiedChunk, state: TrackState, metric: JobMetric) -> JobMetric:
        """Add the speed of the newest bar that stands where the reports do: they name their step, but no time."""
        place = view.classes.rfind(PROGRESS)
        while place >= 0 and not bare_bar(view.lines[place]):
            place = view.classes.rfind(PROGRESS, 0, place)
        bar = self._read(view, state, place)[0] if place >= 0 else None
        state.bar = bar or state.bar
        seconds = of_bar(state.bar, metric.step, metric.epoch) if state.bar else None
        if seconds is None:
            return metric
        return msgspec.structs.replace(metric, step_time_s=seconds, method="rate", confidence=_OF_BAR)

    def _scan(
        self, view: ClassifiedChunk, state: TrackState, headers: tables.Headers, foreign: Callable[[int], bool]
    ) -> tuple[list[tuple[Report, bool]], bool]:
        """Read progress lines from the newest backwards until enough reports are found; not those of other work (`foreign`).

        Returns:
            The lines read that hold a field, oldest first, each with whether it is a fragment; and whether that is all of them.
        """
        scan = Scan(self._reports + _MORE, state.named)
        rows = bool(tables.columns(tuple(state.header))[0])
        place = view.classes.rfind(PROGRESS)
        while place >= 0 and not scan.done:
            bare = bare_bar(view.lines[place])
            said = rows or _says(view.templates[place])  # numbers alone say nothing without a header
            if scan.wants(bare) and said and not foreign(place):
                scan.take(*self._read(view, state, place, headers), bare)
            place = view.classes.rfind(PROGRESS, 0, place)
        if scan.named and not state.named:
            state.window[:] = [report for report in state.window if not report.bare]
            state.named = True
        return scan.lines(), scan.whole and place < 0

    def _read(
        self, view: ClassifiedChunk, state: TrackState, place: int, headers: tables.Headers | None = None
    ) -> tuple[Report | None, bool]:
        line = view.lines[place]
        self._parsed += 1
        reading = self._extractor.read(line, view.templates[place])
        if reading.row:
            reading = tables.row(line, state.header, reading.stamp)
        elif headers is not None and tables.is_mixed(line) and not reading.layout.has(Meaning.LOSS):
            reading.values += tables.under(line, headers.above(place))
        report = read(reading, view.numbers[place], view.position.offset, view.times[place], line)
        return report, reading.fragment

    def _remember_loss(self, view: ClassifiedChunk, state: TrackState, reports: Sequence[Report]) -> None:
        """Keep the newest loss, which may stand further back than the newest reports (a bar redrawn between two of them)."""
        lossy = [place for place, report in enumerate(reports) if report.has_loss]
        if lossy:
            was_not_finite, newest = state.loss_not_finite, reports[lossy[-1]]
            state.loss, state.loss_not_finite = newest.loss, newest.loss is None
            if newest.loss is not None:
                state.loss_step = _step_at(reports, lossy[-1])
            elif not was_not_finite:
                state.loss_step = _first_bad_step(max(reports, state.window, key=len))
            return
        place = view.classes.rfind(PROGRESS)
        while place >= 0:
            line = view.lines[place]
            if "oss" in line or "LOSS" in line:
                report, _ = self._read(view, state, place)
                if report is not None and report.has_loss:
                    state.loss, state.loss_not_finite, state.loss_step = report.loss, report.loss is None, report.step
                    return
            place = view.classes.rfind(PROGRESS, 0, place)

    @staticmethod
    def _metric(printed: Printed, state: TrackState, summary: Summary) -> JobMetric:
        newest, oldest = state.window[-1], state.window[0]
        resting = [newest, oldest] if summary.method in ("timestamps", "arrival") and oldest is not newest else [newest]
        return JobMetric(
            id=derived_id("metric", printed.job, printed.position, newest.line),
            job=printed.job,
            attempt=printed.attempt,
            node=printed.node,
            rank=printed.rank,
            time=newest.time,
            step=summary.step,
            step_name=summary.step_name,
            step_total=summary.step_total,
            epoch=summary.epoch,
            epoch_total=summary.epoch_total,
            left_s=summary.left_s,
            step_time_s=summary.step_time_s,
            throughput=summary.throughput,
            throughput_unit=summary.throughput_unit,
            loss=summary.loss if summary.has_loss else state.loss,
            loss_not_finite=summary.loss is None if summary.has_loss else state.loss_not_finite,
            loss_step=state.loss_step if state.loss_not_finite or summary.loss_step is None else summary.loss_step,
            confidence=summary.confidence,
            method=summary.method,
            reports=len(state.window),
            since=oldest.time,
            since_step=oldest.step if summary.step is not None else None,
            over_ranks=of_stream(state.window, summary.step_time_s),
            evidence=[_evidence(report, printed) for report in resting],
        )


def _first_bad_step(reports: Sequence[Report]) -> int | None:
    """Return the step since which no report has a finite loss."""
    lossy = [place for place, report in enumerate(reports) if report.has_loss]
    finite = max((place for place in lossy if reports[place].loss is not None), default=-1)
    return next((_step_at(reports, place) for place in lossy if place > finite), None)


def _step_at(reports: Sequence[Report], place: int) -> int | None:
    """Return the step that the report at `place`, or the newest before it, names."""
    return next((each.step for each in reversed(reports[: place + 1]) if each.step is not None), None)


@lru_cache(maxsize=4096)
def _says(template: str) -> bool:
    """Return whether the lines of `template` are more than rows of numbers."""
    return _SAYS.search(template) is not None


def _evidence(report: Report, printed: Printed) -> Evidence:
    return Evidence(
        topic=printed.position.topic,
        partition=printed.position.partition,
        offset=report.offset,
        line=report.line,
        text=report.text,
        rank=printed.rank,
        stream=printed.stream,
    )
