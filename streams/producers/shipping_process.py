"""The process beside a pass-through that understands and ships what it copied.

It is a process of its own so that nothing in it, neither a crash nor Python's global lock, can hold up the job.
"""

import json
import os
import select
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

from records import JobEvent, LogChunk
from streams.transport import Producer, outgoing

from .chunker import Chunker, Limits, Ready
from .environment import Identity
from .frames import Block, End, FrameReader, Gap
from .life import Run, ended, started
from .parcel import Parcel, Source
from .passthrough import step_aside
from .pieces import Pieces, PieceSplitter
from .shipper import Shipper, SpoolSettings
from .tap import Tap

STREAMS = ("stdout", "stderr")


@dataclass(frozen=True)
class PipeSettings:
    """How a pipe ships.

    Attributes:
        identity: Whose lines these are.
        name: Name of this producer, fresh for each run; also that of its spool directory.
        spool: Where lines wait while the broker is away. Half of its budget is for chunks, half for what could not even be read in
            time.
        hold: Seconds for which the end of a job may be held up, where 1 % of the job's time is not more.
        close_timeout: Seconds for which what is left is still sent after the job has ended, in the background.
        memory: Bytes to keep in memory, before and after chunking alike.
        limits: When a chunk is closed.
        log: File for the shipping process's own log; None for none. Its terminal is the job's and is left alone.
        run: What runs, where this pipe is to tell of its start and its end; None where somebody else does.
    """

    identity: Identity
    name: str
    spool: SpoolSettings
    hold: float = 0.03
    close_timeout: float = 5.0
    memory: int = 16 << 20
    limits: Limits = field(default_factory=Limits)
    log: Path | None = None
    run: Run | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What the shipping process says once it has read all: when nothing can be lost any more, and again at its end.

    Attributes:
        kept: Lines that wait in the spool.
        lost: Lines given up and not yet told to anyone.
        away: The broker does not answer.
        error: Why it ended early; empty where it did not.
    """

    kept: int = 0
    lost: int = 0
    away: bool = False
    error: str = ""


class _Stream:
    """Splitter and chunker of one stream."""

    def __init__(self, settings: PipeSettings, stream: str, shipper: Shipper) -> None:
        who = settings.identity
        lane = f"{settings.name}/{stream}"
        template = LogChunk(
            producer=lane,
            job=who.job,
            attempt=who.attempt,
            node=who.node,
            rank=who.rank,
            stream=stream,
            lines=[],
            time=0.0,
        )
        self._source = Source(who.job, who.attempt, who.node, lane)
        self._shipper = shipper
        self._splitter = PieceSplitter()
        self.chunker = Chunker(template, limits=settings.limits)

    def take(self, item: Block | Gap, now: float) -> None:
        if isinstance(item, Block):
            self._shipper.counters.bytes += len(item.data)
            self._add(self._splitter.feed(item.data, item.time), now)
            return
        self._add(self._splitter.finish(), now)
        self.ship(self.chunker.flush())
        self._splitter.skip(item.size, item.newlines)
        self._shipper.lose(self._source, max(item.newlines, 1))

    def finish(self, now: float) -> None:
        self._add(self._splitter.finish(), now)
        self.ship(self.chunker.flush())

    def _add(self, pieces: Pieces, now: float) -> None:
        counters = self._shipper.counters
        counters.pieces += len(pieces.lines)
        if pieces.lines:
            counters.lines += pieces.after.line - pieces.numbers[0]
        self.ship(self.chunker.add(pieces, now))

    def ship(self, ready: list[Ready]) -> None:
        for chunk in ready:
            self._shipper.counters.chunks += 1
            lines = chunk.after.piece - chunk.record.first_piece
            self._shipper.offer(Parcel(self._source, outgoing(chunk.record), lines))


class _Life:
    """Tells of the start and the end of what runs."""

    def __init__(self, settings: PipeSettings, shipper: Shipper) -> None:
        self._settings, self._shipper = settings, shipper
        if settings.run is not None:
            self._tell(started(settings.identity, settings.run, settings.name))

    def end(self, end: End) -> None:
        settings = self._settings
        if settings.run is not None:
            self._tell(ended(settings.identity, settings.run, settings.name, end.time, end.status))

    def _tell(self, event: JobEvent) -> None:
        who = self._settings.identity
        source = Source(who.job, who.attempt, who.node, f"{self._settings.name}/life")
        self._shipper.offer(Parcel(source, outgoing(event), 0))


class ShippingProcess:
    """A forked process and the tap that feeds it.

    `start` must be called while the process has one thread.
    """

    def __init__(self, settings: PipeSettings, tap: Tap, pid: int, report: int) -> None:
        self._settings = settings
        self.tap = tap
        self._pid = pid
        self._report = report

    @classmethod
    def start(cls, settings: PipeSettings, connect: Callable[[], Producer]) -> "ShippingProcess":
        """Fork the shipping process. Raises `OSError` where the system allows no further process."""
        data_out, data_in = os.pipe()
        report_out, report_in = os.pipe()
        try:
            pid = os.fork()
        except OSError:
            for descriptor in (data_out, data_in, report_out, report_in):
                os.close(descriptor)
            raise
        if pid == 0:
            os.close(data_in)
            os.close(report_out)
            _main(settings, connect, data_out, report_in)
        os.close(data_out)
        os.close(report_in)
        tap = Tap(data_in, settings.spool.root, settings.memory, settings.spool.budget // 2)
        tap.start()
        return cls(settings, tap, pid, report_out)

    def finish(self, patience: float) -> Report:
        """Hand over the rest and return what the process says, after `patience` seconds at most. It goes on by itself."""
        deadline = time.monotonic() + patience
        left = self.tap.close(patience, linger=self._settings.close_timeout)
        said = b""
        poller = select.poll()
        poller.register(self._report, select.POLLIN)
        while poller.poll(max(0.0, deadline - time.monotonic()) * 1000):
            if not (data := os.read(self._report, 65536)):
                if not said:
                    return Report(error="the shipping process ended without a word")
                break
            said += data
            if (report := _last(said)) and (report.away or not report.kept):
                break
        report = _last(said) or Report()
        if left and not report.error:
            return replace(report, error=f"{left} bytes could not be read in time")
        return report


def _last(said: bytes) -> Report | None:
    """Return the last report that is complete."""
    lines = said.split(b"\n")[:-1]
    return Report(**json.loads(lines[-1])) if lines else None


def _tell(descriptor: int, report: Report) -> None:
    with suppress(OSError):  # nobody waits for it any more
        os.write(descriptor, json.dumps(asdict(report)).encode() + b"\n")


def _main(settings: PipeSettings, connect: Callable[[], Producer], data: int, report: int) -> None:
    """The life of the shipping process; never returns."""
    status = 1
    try:
        step_aside(data, report)
        if settings.log is not None:
            log = os.open(settings.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(log, 2)
            os.close(log)
        sys.stdin.close()
        _ship(settings, connect, data, partial(_tell, report))
        status = 0
    except BaseException as error:  # noqa: BLE001  the last frame of this process: say it and go
        _tell(report, Report(error=f"the shipping process failed: {type(error).__name__}: {error}"))
    finally:
        os._exit(status)


def _ship(settings: PipeSettings, connect: Callable[[], Producer], data: int, tell: Callable[[Report], None]) -> None:
    shipper = Shipper(
        connect,
        settings.name,
        spool=SpoolSettings(settings.spool.root, settings.spool.budget // 2),
        adopt=settings.spool,
        memory=settings.memory,
    )
    life = _Life(settings, shipper)
    streams = [_Stream(settings, stream, shipper) for stream in STREAMS]
    reader = FrameReader()
    poller = select.poll()
    poller.register(data, select.POLLIN)
    while True:
        deadlines = [each.chunker.deadline for each in streams if each.chunker.deadline is not None]
        wait = max(0.0, min(deadlines) - time.monotonic()) * 1000 + 1 if deadlines else None
        if poller.poll(wait):
            read = os.read(data, 1 << 20)
            if not read:
                break
            for item in reader.feed(read):
                if isinstance(item, End):
                    for each in streams:
                        each.ship(each.chunker.flush())
                    life.end(item)
                else:
                    streams[item.stream].take(item, time.monotonic())
        for each in streams:
            each.ship(each.chunker.due(time.monotonic()))
    for each in streams:
        each.finish(time.monotonic())
    left = shipper.secure(settings.hold / 2)
    tell(Report(left.kept, left.lost, shipper.away))
    left = shipper.close(settings.close_timeout)
    tell(Report(left.kept, left.lost, shipper.away))
