"""What jobs print, on its way to `job-logs`: the splitter and the chunker that `pipe` and `collect` use."""

import threading
import time
from collections.abc import Callable
from functools import partial

from schedmate_records import LogChunk, Record
from scheduler_bridge.schedulers.local.actuator import StreamOutput
from streams.producers.chunker import Chunker, Ready
from streams.producers.pieces import PieceSplitter


class Shipping:
    """Takes bytes from the scheduler's thread and publishes chunks. Safe for threads."""

    def __init__(self, publish: Callable[[Record], None]) -> None:
        self._publish = publish
        self.pieces = 0
        """Pieces of text that were published."""
        self._streams: dict[str, tuple[PieceSplitter, Chunker[LogChunk]]] = {}
        self._lock = threading.Lock()

    def add_output(self, output: StreamOutput) -> None:
        """Publish output of a job; empty data ends its stream."""
        name = f"local/{output.job}/{output.attempt}/{output.rank}/{output.stream}"
        with self._lock:
            if name not in self._streams:
                make = partial(
                    LogChunk,
                    producer=name,
                    job=output.job,
                    attempt=output.attempt,
                    node=output.node,
                    rank=output.rank,
                    stream=output.stream,
                )
                self._streams[name] = PieceSplitter(), Chunker(make)
            splitter, chunker = self._streams[name]
            pieces = splitter.feed(output.data, output.time) if output.data else splitter.finish()
            self._ship(chunker.add(pieces, time.monotonic()))
            if not output.data:
                self._ship(chunker.flush())
                del self._streams[name]

    def flush_due(self) -> None:
        """Publish the chunks that have waited long enough for more lines."""
        with self._lock:
            for _, chunker in self._streams.values():
                self._ship(chunker.due(time.monotonic()))

    def _ship(self, ready: list[Ready[LogChunk]]) -> None:
        for chunk in ready:
            self.pieces += chunk.pieces
            self._publish(chunk.record)
