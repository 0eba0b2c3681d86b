"""Reads systemd's journal through `journalctl --follow`: new lines of the kernel and the daemons of a node."""

import os
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

import msgspec
import structlog

from schedmate_records import NOT_JSON, NodeLogChunk

from .chunker import Chunker, Ready
from .pieces import PieceSplitter

log = structlog.get_logger(__name__)

COMMAND = (
    "journalctl",
    "--follow",
    "--lines=0",
    "--all",  # without it a message of more than 4 kB is null
    "--output=json",
    "--output-fields=MESSAGE,SYSLOG_IDENTIFIER",
    "--no-pager",
    "--quiet",
)
AGAIN_S = 10.0
"""Seconds between two starts of a program that ended: one that fails at once costs next to nothing."""
LONGEST = 1 << 20
"""Bytes of an entry at most. A placeholder replaces the text of a longer one: it is a core dump or the like."""
PLACEHOLDER = "[schedmate: an entry of the journal that could not be read]"

_Value = str | list[int | str | list[int]] | None
"""A field: text, bytes as numbers, several of these where the entry has the field several times, or null where it is too long."""


class _Entry(msgspec.Struct):
    """An entry as `journalctl` writes it."""

    time: str = msgspec.field(name="__REALTIME_TIMESTAMP")
    message: _Value | msgspec.UnsetType = msgspec.field(name="MESSAGE", default=msgspec.UNSET)
    speaker: _Value = msgspec.field(name="SYSLOG_IDENTIFIER", default=None)


_decoder = msgspec.json.Decoder(_Entry)


class SystemJournal:
    """Reads entries and makes chunks of them.

    Args:
        command: What follows the journal.
        unreadable: Called for each entry whose text could not be read. A placeholder is shipped in its place.

    Attributes:
        ready: Chunks to be shipped.
    """

    def __init__(
        self,
        node: str,
        *,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        command: Sequence[str] = COMMAND,
        unreadable: Callable[[], None] = lambda: None,
    ) -> None:
        self.ready: deque[NodeLogChunk] = deque()
        self._clock, self._monotonic, self._command = clock, monotonic, command
        self._unreadable, self._reported = unreadable, False
        self._splitter = PieceSplitter()
        make = partial(NodeLogChunk, node=node, source="system", producer=f"{node}-journal-{int(clock() * 1000):x}")
        self._chunker: Chunker[NodeLogChunk] = Chunker(make, heartbeats=False)
        self._process: subprocess.Popen[bytes] | None = None
        self._start_at = float("-inf")
        self._rest = b""

    def read(self) -> int:
        """Read what is there and return the number of lines. Raises `OSError` where the program cannot be started."""
        total = 0
        # Return after 20 reads: a busy journal must not delay the job logs that the same thread reads.
        for _ in range(20):
            data = self._data()
            if not data:
                break
            *entries, self._rest = (self._rest + data).split(b"\n")
            self._rest = self._rest[:LONGEST]
            total += self._add([line for entry in entries for line in self._lines(entry)])
        return total

    def close(self) -> None:
        """End the program."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._process = None

    def _data(self) -> bytes:
        if self._process is None:
            if self._monotonic() < self._start_at:
                return b""
            self._start_at = self._monotonic() + AGAIN_S
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            assert self._process.stdout is not None
            os.set_blocking(self._process.stdout.fileno(), False)
        assert self._process.stdout is not None
        try:
            # A pipe holds 64 KB.
            data = os.read(self._process.stdout.fileno(), 64 * 1024)
        except BlockingIOError:
            return b""
        if not data:  # it ended, and is started again
            self.close()
            self._rest = b""
        return data

    def _add(self, lines: list[tuple[float, str]]) -> int:
        """Make chunks of lines and their times, and return the number of lines. No chunk waits for the next read."""
        opened = 0.0
        for number, (at, text) in enumerate(lines):
            # Lines of a chunk come within an hour: a host that starts sets its clock by years, and no reader takes a chunk of
            # years.
            if not number or abs(at - opened) > 3600.0:
                self._collect_ready(self._chunker.flush())
                opened = at
            pieces = self._splitter.feed(text.encode(errors="backslashreplace") + b"\n", at)
            self._collect_ready(self._chunker.add(pieces, self._monotonic()))
        self._collect_ready(self._chunker.flush())
        return len(lines)

    def _collect_ready(self, ready: list[Ready[NodeLogChunk]]) -> None:
        self.ready.extend(each.record for each in ready)

    def _lines(self, entry: bytes) -> list[tuple[float, str]]:
        """Return time and text of an entry's lines: a placeholder where its text cannot be read, nothing where it has none."""
        if len(entry) > LONGEST:
            return [(self._clock(), self._placeholder(f"expected an entry of at most {LONGEST} bytes"))]
        try:
            found = _decoder.decode(entry)
            at = int(found.time) / 1e6
            speaker, message = _text(found.speaker), found.message
            text = "" if message is None or message is msgspec.UNSET else _text(message)
            if message is None:
                text = self._placeholder("journalctl left its message out")
        except (ValueError, OverflowError, *NOT_JSON) as error:
            return [(self._clock(), self._placeholder(str(error)))] if entry else []
        return [(at, f"{speaker}: {line}" if speaker else line) for line in text.splitlines()]

    def _placeholder(self, reason: str) -> str:
        self._unreadable()
        if not self._reported:
            self._reported = True
            log.warning("journal_entry_unreadable", reason=reason, consequence="a placeholder is shipped in its place")
        return PLACEHOLDER


def _text(value: _Value) -> str:
    if isinstance(value, list):
        numbers = [each for each in value if isinstance(each, int)]
        if len(numbers) == len(value):
            return bytes(numbers).decode(errors="backslashreplace")
        return "\n".join(
            _text(each if isinstance(each, str) else [each] if isinstance(each, int) else [*each]) for each in value
        )
    return value or ""
