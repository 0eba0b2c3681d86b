"""What jobs print, on its way to `job-logs`: the splitter, chunker and shipper that `pipe` and `collect` use."""

import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from schedmate_records import LogChunk
from scheduler_bridge.schedulers.local.actuator import StreamOutput
from streams.memory import MemoryBroker
from streams.producers.chunker import Chunker, Ready
from streams.producers.pieces import PieceSplitter
from streams.producers.shipper import Envelope, Shipper, Source
from streams.producers.spool import SpoolSettings
from streams.transport import outgoing


class _Stream:
    """One stream of one rank of one attempt."""

    def __init__(self, output: StreamOutput, offer: Callable[[Envelope], None]) -> None:
        name = f"local/{output.job}/{output.attempt}/{output.rank}/{output.stream}"
        self._source = Source(output.job, output.attempt, output.node, name)
        self._offer = offer
        self._splitter = PieceSplitter()
        self._chunker = Chunker(
            partial(
                LogChunk,
                producer=name,
                job=output.job,
                attempt=output.attempt,
                node=output.node,
                rank=output.rank,
                stream=output.stream,
            )
        )

    def feed(self, data: bytes, arrived: float) -> None:
        self._ship(self._chunker.add(self._splitter.feed(data, arrived), time.monotonic()))

    def flush_due(self) -> None:
        self._ship(self._chunker.due(time.monotonic()))

    def finish(self) -> None:
        self._ship(self._chunker.add(self._splitter.finish(), time.monotonic()))
        self._ship(self._chunker.flush())

    def _ship(self, ready: list[Ready[LogChunk]]) -> None:
        for chunk in ready:
            self._offer(Envelope(self._source, outgoing(chunk.record), chunk.pieces))


class Shipping:
    """Takes bytes from the scheduler's thread and ships chunks. Safe for threads."""

    def __init__(self, broker: MemoryBroker, spool: Path) -> None:
        # More than all jobs of the demo print.
        self._shipper = Shipper(broker.producer, "demo", spool=SpoolSettings(spool, 64 << 20))
        self.counters = self._shipper.counters
        self.pieces = 0
        """Pieces of text handed over."""
        self._streams: dict[tuple[str, int, int, str], _Stream] = {}
        self._lock = threading.Lock()

    def add_output(self, output: StreamOutput) -> None:
        """Ship output of a job; empty data ends its stream."""
        key = (output.job, output.attempt, output.rank, output.stream)
        with self._lock:
            stream = self._streams.get(key)
            if stream is None:
                stream = self._streams[key] = _Stream(output, self._offer)
            if output.data:
                stream.feed(output.data, output.time)
            else:
                stream.finish()
                del self._streams[key]

    def flush_due(self) -> None:
        """Ship the chunks that have waited long enough for more lines."""
        with self._lock:
            for stream in self._streams.values():
                stream.flush_due()

    def wait(self, seconds: float) -> None:
        """Return once all that was handed over is acknowledged, at the latest after so many seconds."""
        deadline = time.monotonic() + seconds
        while not self._shipper.idle and time.monotonic() < deadline:
            time.sleep(0.005)

    def close(self) -> None:
        """End the shipper."""
        self._shipper.close(1.0)

    def _offer(self, envelope: Envelope) -> None:
        self.pieces += envelope.lines
        self._shipper.offer(envelope)
