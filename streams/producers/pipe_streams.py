"""The streams of a pipe on the side that ships them: bytes in, chunks out, and how far all of it is safe.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Protocol

from .chunker import Chunker, ChunkLimits, Ready
from .envelope import Envelope, Source
from .frames import Block, Close, End, FrameReader, Gap, InvalidFrames
from .life import Life
from .pieces import Mark, Pieces, PieceSplitter
from .pipe_records import log_chunk
from .progress import ENDED, STARTED
from .rest import Start

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..producer import Outgoing
    from .pipe_settings import PipeSettings
    from .progress import Progress, Totals
    from .rest import Rest

STREAMS = ("stdout", "stderr")


class Sink(Protocol):
    """Receiver of chunks and counts: a shipper, or the remains of a pipe."""

    @property
    def losses_kept(self) -> bool:
        """True where all counts would outlast this process, or are acknowledged."""

    def offer(self, envelope: Envelope) -> bool:
        """Take over `envelope`. False where its lines are counted instead."""

    def lose(self, source: Source, lines: int, place: str) -> None:
        """Count lines that are given up at `place`."""


def read_rest(job: PipeStreams, reader: FrameReader, rest: Rest, position: int | None) -> Iterator[None]:
    """Take what is in `rest` from `position` on, part by part, and count what is missing there and at its end."""
    with suppress(OSError, InvalidFrames):
        for part in rest.parts(position):
            if isinstance(part, Start):
                reader.jump(part.position)
                job.jump(part.totals)
            else:
                for item in reader.feed(part):
                    job.accept(item, time.monotonic())
            yield
    job.jump_to_end()


class PipeStreams:
    """The streams of a job, or of a rank of it, and its start and end where this pipe sends them.

    Begins behind what is safe already.
    """

    def __init__(self, settings: PipeSettings, sink: Sink, progress: Progress) -> None:
        who = settings.identity
        source = Source(who.job, who.attempt, who.node)
        self.closed = False
        """True once it is known that nothing follows."""
        self._sink = sink
        self._progress = progress
        self._source = source._replace(ordering_key=f"{settings.name}/life")
        self._streams = [_Stream(settings, number, source, sink, progress) for number in range(len(STREAMS))]
        self._events: deque[tuple[int, _Pending]] = deque()
        self._life = None if settings.run is None else Life(who, settings.run, settings.name)
        if self._life is not None and progress.safe_events < STARTED:
            self._offer(STARTED, self._life.started())

    @property
    def deadline(self) -> float | None:
        """Time at which the next chunk is due."""
        return min((due for each in self._streams if (due := each.chunker.deadline) is not None), default=None)

    @property
    def unsafe(self) -> bool:
        """True where something was offered that was not safe when it was last looked at."""
        return bool(self._events) or any(each.pending for each in self._streams)

    def accept(self, item: Block | Gap | End | Close, now: float) -> None:
        """Take in what the pass-through wrote."""
        if isinstance(item, Close):
            self.closed = True
        elif not isinstance(item, End):
            self._streams[item.stream].accept(item, now)
        elif self._progress.safe_events < ENDED:
            for each in self._streams:
                each.ship(each.chunker.flush())
            self._offer(ENDED, None if self._life is None else self._life.ended(item.time, item.status))

    def jump(self, totals: Totals) -> None:
        """Go on where `totals` came before: count what is missing until there, and pass over what was taken already."""
        for number, each in enumerate(self._streams):
            each.jump(totals.sizes[number], totals.newlines[number])

    def jump_to_end(self) -> None:
        """Count what passed and did not come."""
        self.jump(self._progress.passed)
        self.closed = True

    def ship_due(self, now: float) -> None:
        """Ship the chunks whose time has come."""
        for each in self._streams:
            each.ship(each.chunker.due(now))

    def finish(self, now: float) -> None:
        """Ship the last, unfinished lines: nothing follows."""
        for each in self._streams:
            each.finish(now)

    def note_safe(self, *, everything: bool = False) -> None:
        """Note in the progress what is safe by now: with `everything`, all that was offered."""
        counted = everything or self._sink.losses_kept
        for each in self._streams:
            each.note_safe(counted, everything)
        while self._events and (everything or self._events[0][1].safe(counted)):
            self._progress.safe_events = self._events.popleft()[0]

    def _offer(self, number: int, event: Outgoing | None) -> None:
        pending = _Pending()
        self._events.append((number, pending))
        if event is None:
            pending.done = True
        else:
            pending.offer(Envelope(self._source, event, 0), self._sink)


class _Pending:
    """A message that was offered, or a count, and how far the stream is once it is safe."""

    __slots__ = ("done", "envelope", "mark", "seq")

    def __init__(self, mark: Mark | None = None, seq: int = 0) -> None:
        self.mark, self.seq = mark, seq
        self.done = False
        self.envelope: Envelope | None = None

    def offer(self, envelope: Envelope, sink: Sink) -> None:
        """Offer `envelope`. Where it is not taken, its lines are counted."""
        envelope.done = self._acknowledged
        self.envelope = envelope if sink.offer(envelope) else None

    def safe(self, counted: bool) -> bool:
        """Return whether it would outlast this process, where that is true of counts if `counted`."""
        return self.done or (counted if self.envelope is None else self.envelope.entry is not None)

    def _acknowledged(self, _refused: Exception | None) -> None:
        self.done = True


class _Stream:
    """Splitter and chunker of one stream."""

    def __init__(self, settings: PipeSettings, number: int, source: Source, sink: Sink, progress: Progress) -> None:
        who, name = settings.identity, f"{settings.name}/{STREAMS[number]}"
        self._number = number
        self._source = source._replace(ordering_key=name)
        self._sink = sink
        self._progress = progress
        self._safe, self._seq = progress.safe(number)
        self._splitter = PieceSplitter(self._safe)
        self._skip = 0
        self.pending: deque[_Pending] = deque()
        make = partial(
            log_chunk,
            producer=name,
            job=who.job,
            attempt=who.attempt,
            node=who.node,
            rank=who.rank,
            stream=STREAMS[number],
        )
        if settings.run is not None:
            make = partial(make, incarnation=settings.run.incarnation)
        limits = ChunkLimits(settings.chunk_lines, seconds=settings.chunk_seconds)
        self.chunker = Chunker(make, seq=self._seq, start=self._safe, limits=limits)

    def accept(self, item: Block | Gap, now: float) -> None:
        skipped = min(self._skip, item.size if isinstance(item, Gap) else len(item.data))
        self._skip -= skipped
        if isinstance(item, Block):
            self._add(self._splitter.feed(item.data[skipped:], item.time), now)
        elif item.size > skipped:
            self._leave_out(item.size - skipped, item.newlines, now)

    def jump(self, size: int, newlines: int) -> None:
        """Go on behind `size` bytes with `newlines` newlines."""
        mark = self._splitter.mark
        taken = mark.offset + self._splitter.waiting
        self._skip = max(0, taken - size)
        if size > taken:
            self._leave_out(size - taken, max(0, newlines - (mark.line - 1)), time.monotonic())

    def finish(self, now: float) -> None:
        self._add(self._splitter.finish(), now)
        self.ship(self.chunker.flush())

    def ship(self, ready: list[Ready[Outgoing]]) -> None:
        for chunk in ready:
            self._seq = chunk.next_seq
            pending = _Pending(chunk.after, chunk.next_seq)
            self.pending.append(pending)
            pending.offer(Envelope(self._source, chunk.record, chunk.pieces), self._sink)

    def note_safe(self, counted: bool, everything: bool) -> None:
        """Note how far everything is safe, where counts are if `counted`."""
        before, seq = self._safe, self._seq
        while self.pending and (everything or self.pending[0].safe(counted)):
            first = self.pending.popleft()
            assert first.mark is not None
            self._safe, seq = first.mark, first.seq
        if not self.pending and self.chunker.empty:
            # Bytes that make no piece are safe once all before them are.
            self._safe, seq = self._splitter.mark, self._seq
        if self._safe != before:
            self._progress.set_safe(self._number, self._safe, seq)

    def _leave_out(self, size: int, newlines: int, now: float) -> None:
        """Go on behind a gap, whose lines are counted as lost."""
        begun = self._splitter.finish()
        self._add(begun, now)
        self.ship(self.chunker.flush())
        self._splitter.skip(size, newlines)
        # The first newline of the gap ends a line whose beginning went on, or was counted, as a piece.
        self._sink.lose(self._source, max(newlines - len(begun.lines), 1), place=str(self._splitter.mark.offset))
        self.pending.append(_Pending(self._splitter.mark, self._seq))

    def _add(self, pieces: Pieces, now: float) -> None:
        self.ship(self.chunker.add(pieces, now))
