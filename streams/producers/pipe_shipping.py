"""The shipping process of a pipe: it splits copied bytes into pieces, gathers them into chunks, and ships these.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import fcntl
import os
import select
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .counters import Unsent
from .frames import FrameReader
from .pipe_settings import ShippingReport, rest_directory
from .pipe_streams import PipeStreams, read_rest
from .rest import Rest, Start
from .shipper import Shipper
from .spool import SpoolSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..producer import Producer
    from .pipe_settings import PipeSettings
    from .progress import Progress


class Received(NamedTuple):
    """Inputs of a shipping process.

    Attributes:
        data: Read end of the pipe from the pass-through.
        start: Where the first byte in it belongs.
        number: Shipping processes of this pipe before this one.
    """

    data: int
    start: Start
    number: int


def ship(
    settings: PipeSettings,
    connect: Callable[[], Producer],
    received: Received,
    progress: Progress,
    report: Callable[[ShippingReport], None],
) -> None:
    """Ship what the pass-through writes until it ends. Reports when nothing can be lost any more, and at its end."""
    kept = _Kept(rest_directory(settings), progress)
    kept.store()  # before the shipper looks for what others left behind
    spool = SpoolSettings(Path(settings.spool), settings.spool_bytes)
    shipper = Shipper(
        connect,
        # The spool of one that was killed is sent like every other that was left behind.
        f"{settings.name}.{received.number}" if received.number else settings.name,
        spool=spool._replace(budget=spool.budget // 2),
        adopt=spool,
        memory=settings.memory,
    )
    job = PipeStreams(settings, shipper, progress)
    job.jump(received.start.totals)
    reader = FrameReader(received.start.position)
    poller = select.poll()
    poller.register(received.data, select.POLLIN)
    progress.reads = True
    while True:
        if poller.poll(_wait_ms(job)):
            read = os.read(received.data, 1 << 20)
            if not read:
                break
            for item in reader.feed(read):
                job.accept(item, time.monotonic())
                job.note_safe()
                kept.store()
        job.ship_due(time.monotonic())
        job.note_safe()
        kept.store()
    whole = job.closed or kept.read(job, reader)
    if whole:
        job.finish(time.monotonic())
    unsent = shipper.secure(settings.hold / 2)
    job.note_safe()
    kept.store()
    report(_report(shipper, unsent))
    unsent = shipper.close(settings.close_timeout)
    job.note_safe(everything=shipper.losses_kept)
    kept.store()
    report(_report(shipper, unsent))
    if whole and not job.unsafe:
        kept.remove()


def _wait_ms(job: PipeStreams) -> float | None:
    """Return for how long there is nothing to do, where nothing comes; None: for ever."""
    waits = [] if job.deadline is None else [max(0.0, job.deadline - time.monotonic())]
    if job.unsafe:
        # What is sent and not safe yet is looked at every 0.05 s.
        waits.append(0.05)
    return min(waits) * 1000 + 1 if waits else None


def _report(shipper: Shipper, unsent: Unsent) -> ShippingReport:
    return ShippingReport(unsent.kept, unsent.lost, shipper.away, shipper.refused, shipper.refusal)


class _Kept:
    """The directory in which the pass-through leaves what it could not hand over, where there is one."""

    def __init__(self, directory: str, progress: Progress) -> None:
        self._directory = directory
        self._progress = progress
        self._rest: Rest | None = None
        self._stored = b""

    def store(self) -> None:
        """Store what is safe, for those who ship the rest where this process is killed."""
        if self._rest is None and self._progress.has_rest:
            self._rest = Rest.open(self._directory, fcntl.LOCK_SH | fcntl.LOCK_NB)
        content = self._progress.safe_bytes
        if self._rest is not None and content != self._stored:
            with suppress(OSError):
                self._rest.store_safe(content)
                self._stored = content

    def read(self, job: PipeStreams, reader: FrameReader) -> bool:
        """Wait until the pass-through has ended, and take what it left. False where somebody else has taken it."""
        if not self._progress.has_rest:
            job.jump_to_end()
            return True
        if not self._lock():
            return False
        assert self._rest is not None
        for _ in read_rest(job, reader, self._rest, reader.position):
            job.note_safe()
            self.store()
        return True

    def remove(self) -> None:
        """Remove the directory once the pass-through has ended: everything is safe."""
        if self._progress.has_rest and self._lock():
            assert self._rest is not None
            self._rest.remove()

    def _lock(self) -> bool:
        if self._rest is None:
            self._rest = Rest.open(self._directory, fcntl.LOCK_EX)
            return self._rest is not None
        return self._rest.change_lock(fcntl.LOCK_EX)
