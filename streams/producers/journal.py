"""systemd's journal, through `journalctl --follow`: what the kernel and the daemons of a node say from now on."""

import os
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import takewhile

import msgspec

from records import NOT_JSON, NodeLogChunk

COMMAND = (
    "journalctl",
    "--follow",
    "--lines=0",
    "--output=json",
    "--output-fields=MESSAGE,SYSLOG_IDENTIFIER",
    "--no-pager",
    "--quiet",
)
AGAIN_S = 10.0
"""Seconds between two starts of a program that ended: one that fails at once costs next to nothing."""
READ = 64 * 1024
"""Bytes of one read: what a pipe holds."""
LONGEST = 1 << 20
"""Bytes of an entry; what is longer is left out: a core dump that a program put there, not a line."""
APART_S = 3600.0
"""Lines of a chunk come within so much: a host that starts sets its clock by years, and no reader takes a chunk of years."""
ROUNDS = 20
"""Reads before the caller gets its turn: a loud journal does not hold up the job logs that the same thread reads."""


class _Entry(msgspec.Struct):
    """An entry as `journalctl` writes it: numbers as text, a message that is no UTF-8 as bytes, one that is too long as null."""

    time: str = msgspec.field(name="__REALTIME_TIMESTAMP")
    message: str | list[int] | None = msgspec.field(name="MESSAGE", default=None)
    speaker: str | list[int] | None = msgspec.field(name="SYSLOG_IDENTIFIER", default=None)


_decoder = msgspec.json.Decoder(_Entry)


class SystemJournal:
    """Reads entries and makes chunks of them.

    Args:
        node: This host.
        clock: Seconds since 1970.
        monotonic: A clock that never goes back.
        command: What follows the journal.

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
    ) -> None:
        self.ready: deque[NodeLogChunk] = deque()
        self._node, self._monotonic, self._command = node, monotonic, command
        self._producer = f"{node}-journal-{int(clock() * 1000):x}"
        self._process: subprocess.Popen[bytes] | None = None
        self._start_at = float("-inf")
        self._rest = b""
        self._seq, self._next = 0, 1

    def read(self) -> int:
        """Read what is there and return the number of lines. Raises `OSError` where the program cannot be started."""
        total = 0
        for _ in range(ROUNDS):
            data = self._data()
            if not data:
                break
            *entries, self._rest = (self._rest + data).split(b"\n")
            self._rest = self._rest[:LONGEST]
            lines = [line for entry in entries for line in _lines(entry)]
            total += len(lines)
            while lines:
                near = list(takewhile(partial(_is_near, lines[0]), lines))
                self._chunk(near)
                lines = lines[len(near) :]
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
            data = os.read(self._process.stdout.fileno(), READ)
        except BlockingIOError:
            return b""
        if not data:  # it ended, and is started again
            self.close()
            self._rest = b""
        return data

    def _chunk(self, lines: list[tuple[float, str]]) -> None:
        opened = lines[0][0]
        chunk = NodeLogChunk(
            node=self._node,
            source="system",
            producer=self._producer,
            seq=self._seq,
            first_line=self._next,
            first_piece=self._next,
            lines=[text for _, text in lines],
            time=opened,
            after_ms=[max(round(1000 * (at - opened)), 0) for at, _ in lines],
        )
        self.ready.append(chunk)
        self._seq, self._next = self._seq + 1, self._next + len(lines)


def _is_near(first: tuple[float, str], line: tuple[float, str]) -> bool:
    return abs(line[0] - first[0]) <= APART_S


def _lines(entry: bytes) -> list[tuple[float, str]]:
    """Return time and text of an entry's lines; nothing of what is no entry."""
    try:
        found = _decoder.decode(entry)
        at = int(found.time) / 1e6
        speaker, message = _text(found.speaker), _text(found.message)
    except (ValueError, OverflowError, *NOT_JSON):
        return []
    return [(at, f"{speaker}: {line}" if speaker else line) for line in message.splitlines()]


def _text(value: str | list[int] | None) -> str:
    if isinstance(value, list):
        return bytes(value).decode(errors="backslashreplace")
    return value or ""
