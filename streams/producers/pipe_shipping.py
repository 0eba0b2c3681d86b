"""What the shipping process of a pipe does: cut what was copied into pieces, gather them into chunks, and ship these.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import os
import select
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .chunker import SHIPPED, Chunker, Ready
from .counters import Unsent
from .frames import Block, End, FrameReader, Gap
from .life import Life
from .pieces import Pieces, PieceSplitter
from .pipe_records import log_chunk
from .pipe_settings import ShippingReport
from .shipper import Envelope, Shipper, Source
from .spool import SpoolSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.producer import Outgoing, Producer

    from .pipe_settings import PipeSettings

STREAMS = ("stdout", "stderr")


def ship(
    settings: PipeSettings, connect: Callable[[], Producer], data: int, report: Callable[[ShippingReport], None]
) -> None:
    """Ship what the pass-through writes into `data` until that is closed. Reports when nothing can be lost any more, and at its end."""
    spool = SpoolSettings(Path(settings.spool), settings.spool_bytes)
    shipper = Shipper(
        connect,
        settings.name,
        spool=spool._replace(budget=spool.budget // 2),
        adopt=spool,
        memory=settings.memory,
    )
    job = _Job(settings, shipper)
    reader = FrameReader()
    poller = select.poll()
    poller.register(data, select.POLLIN)
    while True:
        wait = None if job.deadline is None else max(0.0, job.deadline - time.monotonic()) * 1000 + 1
        if poller.poll(wait):
            read = os.read(data, 1 << 20)
            if not read:
                break
            for item in reader.feed(read):
                job.take(item, time.monotonic())
        job.ship_due(time.monotonic())
    job.finish(time.monotonic())
    report(_report(shipper, shipper.secure(settings.hold / 2)))
    report(_report(shipper, shipper.close(settings.close_timeout)))


def _report(shipper: Shipper, unsent: Unsent) -> ShippingReport:
    return ShippingReport(unsent.kept, unsent.lost, shipper.away, shipper.refused, shipper.refusal)


class _Job:
    """The streams of a job, or of a rank of it, and its start and end where this pipe tells of them."""

    def __init__(self, settings: PipeSettings, shipper: Shipper) -> None:
        who = settings.identity
        source = Source(who.job, who.attempt, who.node)
        self._shipper = shipper
        self._source = source._replace(ordering_key=f"{settings.name}/life")
        self._streams = [_Stream(settings, stream, source, shipper) for stream in STREAMS]
        self._life = None if settings.run is None else Life(who, settings.run, settings.name)
        if self._life is not None:
            self._offer(self._life.started())

    @property
    def deadline(self) -> float | None:
        """When the next chunk is due."""
        return min((due for each in self._streams if (due := each.chunker.deadline) is not None), default=None)

    def take(self, item: Block | Gap | End, now: float) -> None:
        if not isinstance(item, End):
            self._streams[item.stream].take(item, now)
            return
        for each in self._streams:
            each.ship(each.chunker.flush())
        if self._life is not None:
            self._offer(self._life.ended(item.time, item.status))

    def ship_due(self, now: float) -> None:
        for each in self._streams:
            each.ship(each.chunker.due(now))

    def finish(self, now: float) -> None:
        for each in self._streams:
            each.finish(now)

    def _offer(self, event: Outgoing) -> None:
        self._shipper.offer(Envelope(self._source, event, 0))


class _Stream:
    """Splitter and chunker of one stream."""

    def __init__(self, settings: PipeSettings, stream: str, source: Source, shipper: Shipper) -> None:
        who, name = settings.identity, f"{settings.name}/{stream}"
        self._source = source._replace(ordering_key=name)
        self._shipper = shipper
        self._splitter = PieceSplitter()
        make = partial(
            log_chunk, producer=name, job=who.job, attempt=who.attempt, node=who.node, rank=who.rank, stream=stream
        )
        if settings.run is not None:
            make = partial(make, incarnation=settings.run.incarnation)
        self.chunker = Chunker(make, limits=settings.limits or SHIPPED)

    def take(self, item: Block | Gap, now: float) -> None:
        if isinstance(item, Block):
            self._add(self._splitter.feed(item.data, item.time), now)
            return
        begun = self._splitter.finish()
        self._add(begun, now)
        self.ship(self.chunker.flush())
        self._splitter.skip(item.size, item.newlines)
        # The first newline of the gap ends a line whose beginning went on, or was counted, as a piece.
        self._shipper.lose(self._source, max(item.newlines - len(begun.lines), 1))

    def finish(self, now: float) -> None:
        self._add(self._splitter.finish(), now)
        self.ship(self.chunker.flush())

    def _add(self, pieces: Pieces, now: float) -> None:
        self.ship(self.chunker.add(pieces, now))

    def ship(self, ready: list[Ready[Outgoing]]) -> None:
        for chunk in ready:
            self._shipper.offer(Envelope(self._source, chunk.record, chunk.pieces))
