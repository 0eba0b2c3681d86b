"""Follows the checkpoints that a job saves: a save begins, and later evidence shows that it is complete.

With asynchronous saving, the line is printed before the data is durable. A save is durable when a line reports that it is complete, when
the file that names the newest checkpoint was written, when the next save begins, or when the job succeeds. A pause of the training during
the save is evidence too, but not in a job whose lines report when a save is complete, or that it saves in the background.
"""

from collections.abc import Sequence
from itertools import compress

from prometheus_client import Counter

from schedmate_records import Checkpoint, CheckpointState, DurableBy, EventKind, JobEvent, Position

from ..classified_chunk import PROGRESS, ClassifiedChunk
from ..stage import Stage
from . import places
from .language import SaveReport
from .reader import CheckpointReader, SaveLine
from .saves import CheckpointsState, Save, SaveSource, durable, failed, started

_IS_PROGRESS = bytes(letter == ord(PROGRESS) for letter in range(256))


class CheckpointMetrics:
    """Counts of saves."""

    def __init__(self) -> None:
        about = "Saves of checkpoints that began (started), were complete (durable) or failed."
        self.saves = Counter("schedmate_checkpoints_saves", about, ["state"], registry=None)
        for state in CheckpointState:
            self.saves.labels(state)


class Checkpoints(Stage[CheckpointsState]):
    """Reports when a job begins to save a checkpoint, and when a checkpoint is durable or its save failed."""

    name = "checkpoints"
    state = CheckpointsState
    order = 40

    def __init__(self, reader: CheckpointReader | None = None) -> None:
        self.reader = reader or CheckpointReader()
        self.metrics = CheckpointMetrics()

    def metric_groups(self) -> Sequence[object]:
        """Return its metrics."""
        return (self.metrics,)

    def on_chunk(self, chunk: ClassifiedChunk, position: Position, state: CheckpointsState) -> list[Checkpoint]:
        """Return the saves that lines and progress report, line by line, so that the borders of chunks make no difference."""
        records: list[Checkpoint] = []
        read = 0
        for line in self.reader.find(chunk, lambda at, report: state.wants(chunk.times[at], report)):
            records += _progress(chunk, read, line.at, position, state)
            records += _line(chunk, line, position, state)
            read = line.at + 1
        records += _progress(chunk, read, len(chunk.lines), position, state)
        if state.ended is not None:  # these lines came later than the end
            records += _ended(chunk.job, chunk.attempt, position, state)
        return self._counted(records)

    def on_event(self, event: JobEvent, position: Position, state: CheckpointsState) -> list[Checkpoint]:
        """Return that the save under way is durable, where the attempt ends well."""
        if event.kind is not EventKind.ENDED or event.exit_code != 0 or event.signal:
            return []
        state.ended = event.time
        return self._counted(_ended(event.job, event.attempt, position, state))

    def on_reopened(
        self, job: str, attempt: int, time: float, position: Position, state: CheckpointsState
    ) -> list[Checkpoint]:
        """Count no later save as durable because of an end. A save that was counted so stays durable."""
        state.ended = None
        return []

    def _counted(self, records: list[Checkpoint]) -> list[Checkpoint]:
        for one in records:
            self.metrics.saves.labels(one.state).inc()
        return records


def _ended(job: str, attempt: int, position: Position, state: CheckpointsState) -> list[Checkpoint]:
    save = state.save
    if save is None or save.is_over or state.ended is None:
        return []
    return [durable(DurableBy.ENDED, SaveSource(job, attempt, position, state.ended), state, save)]


def _progress(
    chunk: ClassifiedChunk, start: int, stop: int, position: Position, state: CheckpointsState
) -> list[Checkpoint]:
    """Process the progress in the pieces from `start` to `stop`. A pause of the training before it completes a save."""
    first = chunk.classes.find(PROGRESS, start, stop)
    if first < 0 or (state.rank is not None and chunk.rank > state.rank):
        return []
    if chunk.rank != state.rank:
        state.rank, state.reports, state.since = chunk.rank, 0, chunk.times[first]
    records, save = [], state.save
    if save is not None and not save.progressed:
        save.progressed = True
        pause, usual = chunk.times[first] - save.time, state.usual_gap_s
        # A pause of 1 s that is three times the usual one shows a save. A higher limit misses short saves, a lower one
        # finds noise.
        shows = usual > 0 and pause >= max(1.0, 3.0 * usual)
        if shows and not (save.is_over or save.asynchronous or state.completes):
            records = [durable(DurableBy.PROGRESS, _source(chunk, first, position), state, save, pause)]
    last = chunk.classes.rfind(PROGRESS, start, stop)
    moments = _moments(chunk, first, last)
    state.reports += len(moments) - (state.reports > 0 and state.until in moments)
    state.until = chunk.times[last]
    return records


def _moments(chunk: ClassifiedChunk, first: int, last: int) -> set[float]:
    """Return when the progress among the pieces from `first` to `last`, both progress, arrived."""
    if chunk.times[first] == chunk.times[last]:
        return {chunk.times[last]}
    flags = chunk.classes[first : last + 1].encode().translate(_IS_PROGRESS)
    return set(compress(chunk.times[first : last + 1], flags))


def _line(chunk: ClassifiedChunk, line: SaveLine, position: Position, state: CheckpointsState) -> list[Checkpoint]:
    """Process a line that reports a save."""
    source, report = _source(chunk, line.at, position), line.report
    if report is SaveReport.FAILED:
        return _failed(chunk, line, source, state)
    if state.reporter is not None and chunk.rank > state.reporter:
        return []
    records: list[Checkpoint] = []
    save = state.save
    if save is None or not _reports_save(save, line, source.time, state):
        if report is SaveReport.TRACKER:
            return []
        state.reporter = chunk.rank
        records, save = _begin(chunk, line, source, state)
    elif not save.is_over:
        save.newest = max(save.newest, source.time)
        save.asynchronous |= line.asynchronous
        if save.step is None:
            save.step = line.step
    part = bool(save.path and line.path) and line.path != save.path and places.is_within(line.path, save.path)
    save.path = save.path or line.path
    if report is SaveReport.TRACKER or (report is SaveReport.COMPLETE and not part):
        own = source.line == save.first
        state.completes |= not own
        if not save.is_over:
            by = DurableBy.TRACKER if report is SaveReport.TRACKER else DurableBy.COMPLETION
            took = line.seconds if own else max(source.time - save.time, 0.0)
            records.append(durable(by, source, state, save, took))
    return records


def _begin(
    chunk: ClassifiedChunk, line: SaveLine, source: SaveSource, state: CheckpointsState
) -> tuple[list[Checkpoint], Save]:
    """Return the save that begins with a line, and what follows; the save before it is complete then."""
    records, before, save = [], state.save, _new(chunk, line, source, state)
    if before is not None and not before.is_over:
        records.append(durable(DurableBy.NEXT_SAVE, source, state, before))
    state.begin(save)
    if line.report is not SaveReport.COMPLETE:
        records.append(started(source, state, save))
    return records, save


def _failed(chunk: ClassifiedChunk, line: SaveLine, source: SaveSource, state: CheckpointsState) -> list[Checkpoint]:
    """Process a line of any rank that reports a failed save: the current one, or one without an earlier line."""
    save = state.save
    if save is not None and save.state is CheckpointState.FAILED and not save.progressed:
        return []
    if save is None or save.is_over:
        save = _new(chunk, line, source, state)
        state.begin(save)
    return [failed(source, state, save)]


def _reports_save(save: Save, line: SaveLine, time: float, state: CheckpointsState) -> bool:
    """Return whether `line` reports `save`, and not another one."""
    if save.state is CheckpointState.FAILED:
        return False
    if save.step is not None and line.step is not None:
        return save.step == line.step
    if not save.progressed:
        # In a job without progress, lines with more than 60 s between them report two saves.
        return state.reports > 0 or time - save.newest <= 60.0
    if save.is_over:
        return False
    if not save.path or not line.path:
        return line.report is not SaveReport.BEGINS
    return places.is_within(line.path, save.path) and (line.report is not SaveReport.BEGINS or line.path != save.path)


def _new(chunk: ClassifiedChunk, line: SaveLine, source: SaveSource, state: CheckpointsState) -> Save:
    place = chunk.evidence(line.at)
    save = Save(state.count + 1, source.time, source.time, place, chunk.node, chunk.rank, line.step, line.path)
    save.asynchronous = line.asynchronous
    return save


def _source(chunk: ClassifiedChunk, index: int, position: Position) -> SaveSource:
    return SaveSource(chunk.job, chunk.attempt, position, chunk.times[index], chunk.evidence(index))
