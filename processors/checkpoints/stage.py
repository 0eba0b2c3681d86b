"""Checkpoints of a job, as its log tells of them: a save begins, and something shows later that it is complete.

With asynchronous saving the line comes before the data is safe. A save counts as durable when a line says that it is complete, when the
file that names the newest was written, when the next one begins, or when the job ends well. Where training stands still during a save
and then goes on, that shows it too; but not in a job whose own lines say when a save is complete, or that it saves in the background.
"""

from collections.abc import Sequence
from itertools import compress

from prometheus_client import Counter

from schedmate_records import Checkpoint, CheckpointState, DurableBy, EventKind, JobEvent, Position

from ..classified_chunk import PROGRESS, ClassifiedChunk
from ..stage import Stage
from . import places
from .language import Says
from .reader import CheckpointReader, SaveLine
from .saves import CheckpointsState, Save, Shown, durable, failed, started

PAUSE_S = 1.0
PAUSE = 3.0
"""A pause shows a save where it lasts at least so many seconds, and so many times the usual time between two reports."""
PART_S = 60.0
"""In a job that prints no progress, lines so far apart tell of two saves."""


_IS_PROGRESS = bytes(letter == ord(PROGRESS) for letter in range(256))


class CheckpointMetrics:
    """What was told of saves."""

    def __init__(self) -> None:
        about = "Saves of checkpoints that began (started), were complete (durable) or failed."
        self.saves = Counter("schedmate_checkpoints_saves", about, ["state"], registry=None)
        for state in CheckpointState:
            self.saves.labels(state)


class Checkpoints(Stage[CheckpointsState]):
    """Tells when a job begins to save a checkpoint, and when one is durable or has failed."""

    name = "checkpoints"

    def __init__(self, reader: CheckpointReader | None = None) -> None:
        self.reader = reader or CheckpointReader()
        self.metrics = CheckpointMetrics()

    def metric_groups(self) -> Sequence[object]:
        """Return its metrics."""
        return (self.metrics,)

    def on_chunk(self, chunk: ClassifiedChunk, position: Position, state: CheckpointsState) -> list[Checkpoint]:
        """Return what lines and progress tell of saves, line by line: where the chunk was cut makes no difference."""
        told: list[Checkpoint] = []
        read = 0
        for line in self.reader.find(chunk, lambda at, says: state.wants(chunk.times[at], says)):
            told += _progress(chunk, read, line.at, position, state)
            told += _line(chunk, line, position, state)
            read = line.at + 1
        told += _progress(chunk, read, len(chunk.lines), position, state)
        if state.ended is not None:  # these lines came later than the end
            told += _ended(chunk.job, chunk.attempt, position, state)
        return self._counted(told)

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

    def _counted(self, told: list[Checkpoint]) -> list[Checkpoint]:
        for one in told:
            self.metrics.saves.labels(one.state).inc()
        return told


def _ended(job: str, attempt: int, position: Position, state: CheckpointsState) -> list[Checkpoint]:
    save = state.save
    if save is None or save.over or state.ended is None:
        return []
    return [durable(DurableBy.ENDED, Shown(job, attempt, position, state.ended), state, save)]


def _progress(
    chunk: ClassifiedChunk, start: int, stop: int, position: Position, state: CheckpointsState
) -> list[Checkpoint]:
    """Take the progress among the pieces from `start` to `stop`: where training stood still before it, a save is complete."""
    first = chunk.classes.find(PROGRESS, start, stop)
    if first < 0 or (state.rank is not None and chunk.rank > state.rank):
        return []
    if chunk.rank != state.rank:
        state.rank, state.reports, state.since = chunk.rank, 0, chunk.times[first]
    told, save = [], state.save
    if save is not None and not save.progressed:
        save.progressed = True
        pause, usual = chunk.times[first] - save.time, state.usual_gap_s
        shows = usual > 0 and pause >= max(PAUSE_S, PAUSE * usual)
        if shows and not (save.over or save.asynchronous or state.completes):
            told = [durable(DurableBy.PROGRESS, _shown(chunk, first, position), state, save, pause)]
    last = chunk.classes.rfind(PROGRESS, start, stop)
    moments = _moments(chunk, first, last)
    state.reports += len(moments) - (state.reports > 0 and state.until in moments)
    state.until = chunk.times[last]
    return told


def _moments(chunk: ClassifiedChunk, first: int, last: int) -> set[float]:
    """Return when the progress among the pieces from `first` to `last`, both progress, arrived."""
    if chunk.times[first] == chunk.times[last]:
        return {chunk.times[last]}
    flags = chunk.classes[first : last + 1].encode().translate(_IS_PROGRESS)
    return set(compress(chunk.times[first : last + 1], flags))


def _line(chunk: ClassifiedChunk, line: SaveLine, position: Position, state: CheckpointsState) -> list[Checkpoint]:
    """Take a line that tells of a save."""
    shown, says = _shown(chunk, line.at, position), line.says
    if says is Says.FAILED:
        return _failed(chunk, line, shown, state)
    if state.reporter is not None and chunk.rank > state.reporter:
        return []
    told: list[Checkpoint] = []
    save = state.save
    if save is None or not _same(save, line, shown.time, state):
        if says is Says.TRACKER:
            return []
        state.reporter = chunk.rank
        told, save = _begin(chunk, line, shown, state)
    elif not save.over:
        save.newest = max(save.newest, shown.time)
        save.asynchronous |= line.asynchronous
        if save.step is None:
            save.step = line.step
    part = bool(save.path and line.path) and line.path != save.path and places.within(line.path, save.path)
    save.path = save.path or line.path
    if says is Says.TRACKER or (says is Says.COMPLETE and not part):
        own = shown.line == save.first
        state.completes |= not own
        if not save.over:
            by = DurableBy.TRACKER if says is Says.TRACKER else DurableBy.COMPLETION
            took = line.seconds if own else max(shown.time - save.time, 0.0)
            told.append(durable(by, shown, state, save, took))
    return told


def _begin(
    chunk: ClassifiedChunk, line: SaveLine, shown: Shown, state: CheckpointsState
) -> tuple[list[Checkpoint], Save]:
    """Return the save that begins with a line, and what follows; the save before it is complete then."""
    told, before, save = [], state.save, _new(chunk, line, shown, state)
    if before is not None and not before.over:
        told.append(durable(DurableBy.NEXT_SAVE, shown, state, before))
    state.begin(save)
    if line.says is not Says.COMPLETE:
        told.append(started(shown, state, save))
    return told, save


def _failed(chunk: ClassifiedChunk, line: SaveLine, shown: Shown, state: CheckpointsState) -> list[Checkpoint]:
    """Take a line that says that a save failed, of whatever rank: the one under way, or one that no line told of before."""
    save = state.save
    if save is not None and save.state is CheckpointState.FAILED and not save.progressed:
        return []
    if save is None or save.over:
        save = _new(chunk, line, shown, state)
        state.begin(save)
    return [failed(shown, state, save)]


def _same(save: Save, line: SaveLine, time: float, state: CheckpointsState) -> bool:
    """Return whether `line` tells of `save`, and not of another one."""
    if save.state is CheckpointState.FAILED:
        return False
    if save.step is not None and line.step is not None:
        return save.step == line.step
    if not save.progressed:
        return state.reports > 0 or time - save.newest <= PART_S
    if save.over:
        return False
    if not save.path or not line.path:
        return line.says is not Says.BEGINS
    return places.within(line.path, save.path) and (line.says is not Says.BEGINS or line.path != save.path)


def _new(chunk: ClassifiedChunk, line: SaveLine, shown: Shown, state: CheckpointsState) -> Save:
    place = chunk.evidence(line.at)
    save = Save(state.count + 1, shown.time, shown.time, place, chunk.node, chunk.rank, line.step, line.path)
    save.asynchronous = line.asynchronous
    return save


def _shown(chunk: ClassifiedChunk, index: int, position: Position) -> Shown:
    return Shown(chunk.job, chunk.attempt, position, chunk.times[index], chunk.evidence(index))
