"""The kernel's own log, `/dev/kmsg`: each read gives one record (Linux, Documentation/ABI/testing/dev-kmsg).

A record carries its number since the boot and its time, so nothing needs to be remembered: a collector that starts again reads all that
the kernel still holds, under the same numbers, and readers leave out what they had.
"""

import os
import re
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import structlog

from schedmate_records import NodeLogChunk

log = structlog.get_logger(__name__)


class KernelLog:
    """Reads records and makes chunks of them.

    Args:
        file: A descriptor that does not block and gives one record a read; owned from now on.
        monotonic: Seconds by the clock of the records.
        boot: Identifies this boot.

    Attributes:
        ready: Chunks to be shipped.
    """

    def __init__(
        self,
        file: int,
        node: str,
        *,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        boot: str | None = None,
    ) -> None:
        self.ready: deque[NodeLogChunk] = deque()
        self._file, self._node = file, node
        self._producer = f"{node}-kmsg-{(boot or Path('/proc/sys/kernel/random/boot_id').read_text().strip())[:8]}"
        self._clock, self._monotonic = clock, monotonic

    def read(self) -> int:
        """Read what is there, at most some thousand records, and return how many."""
        total = 0
        # Return after 20 chunks: a flood in the kernel must not delay job logs.
        while len(self.ready) < 20 and (records := self._records()):
            total += len(records)
            self._chunk(records)
        return total

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def _records(self) -> list[tuple[int, float, str]]:
        """Return the next records: number, time, text."""
        found: list[tuple[int, float, str]] = []
        booted = self._clock() - self._monotonic()  # anew each time: a host that starts sets its clock later
        # 500 lines a chunk, as in chunks of job logs.
        for _ in range(500):
            try:
                # A read needs room for a whole record: the kernel makes records of up to 8 KB.
                record = os.read(self._file, 16 * 1024)
            except BlockingIOError:
                break
            except BrokenPipeError:  # the kernel wrote over what was next; the record after it is read now
                log.warning("kernel_lines_lost", node=self._node)
                continue
            if not record:
                break
            if (parts := re.match(rb"(\d+),(\d+),(\d+),[^;]*;([^\n]*)", record)) is not None:
                found.append((int(parts[2]), booted + int(parts[3]) / 1e6, _plain(parts[4])))
        return found

    def _chunk(self, records: list[tuple[int, float, str]]) -> None:
        """Make chunks of records without a gap in their numbers, and without a long one in their times."""
        start = 0
        for end in range(1, len(records) + 1):
            goes_on = end < len(records) and records[end][0] == records[end - 1][0] + 1
            # Lines of a chunk come within an hour: the kernel still holds lines of weeks ago, and no reader takes a chunk of
            # weeks.
            if goes_on and records[end][1] - records[start][1] <= 3600.0:
                continue
            part = records[start:end]
            first, opened = part[0][0], part[0][1]
            self.ready.append(
                NodeLogChunk(
                    node=self._node,
                    producer=self._producer,
                    seq=first,
                    first_line=first + 1,
                    first_piece=first + 1,
                    lines=[text for _, _, text in part],
                    time=opened,
                    # Each processor has a clock: two records may stand in another order than their times.
                    after_ms=[max(round(1000 * (at - opened)), 0) for _, at, _ in part],
                )
            )
            start = end


def _plain(text: bytes) -> str:
    r"""Return `text` with the kernel's `\x5c` for a backslash and the like undone, save for control characters."""
    undone = re.sub(
        rb"\\x([0-9a-f]{2})", lambda code: code[0] if int(code[1], 16) < 32 else bytes([int(code[1], 16)]), text
    )
    return undone.decode(errors="backslashreplace")
