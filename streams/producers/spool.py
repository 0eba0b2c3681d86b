"""Append-only files that keep what could not be sent, in order, until it is acknowledged.

A spool is a directory with a lock, numbered segments, and room reserved for the records that are needed when the disk is full. Its
owner holds the lock; when the owner is gone, the next process that gets the lock may send what is left. A segment is deleted once
everything in it is acknowledged, so that after a crash at most one segment is sent twice, which is harmless: pieces carry numbers.

An entry is its length and its CRC-32 (two little-endian 32-bit numbers) and then its bytes. A torn entry at the end of a
segment is the mark of a crash and is passed over.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import fcntl
import logging
import os
import stat
import struct
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

log = logging.getLogger(__name__)

HEAD = struct.Struct("<II")
"""Head of an entry: the number of its bytes and their CRC-32."""
_LOCK = "lock"
_SUFFIX = ".segment"
LOSSES = "losses"
"""The file with the room taken in advance: entries as in a segment, and zeros behind them."""
RESERVED = 16 * 1024
"""Bytes of it: some dozens of counts."""


class SpoolBusy(Exception):
    """Another process owns the spool."""


class SpoolFull(OSError):
    """The budget of the spool does not allow another entry."""


class SpoolSettings(NamedTuple):
    """Location of spools: each producer has its own directory under `root`; `budget` is in bytes."""

    root: Path
    budget: int = 1 << 30


class _Segment:
    __slots__ = ("path", "read", "size", "unacknowledged")

    def __init__(self, path: Path, size: int) -> None:
        self.path, self.size = path, size
        self.unacknowledged = 0
        self.read = False


class SpoolEntry(NamedTuple):
    """Entry that `Spool.append` and `Spool.read` return, for `Spool.acknowledge`."""

    segment: _Segment | None
    payload: bytes


class Entries(Protocol):
    """Entries on disk that wait to be sent: a spool, or the remains of a pipe."""

    @property
    def empty(self) -> bool:
        """True where everything is acknowledged."""

    def read(self) -> SpoolEntry | None:
        """Return the oldest entry that was not read, or None."""

    def acknowledge(self, entry: SpoolEntry) -> None:
        """Give up `entry`: it is where it belongs."""

    def close(self) -> None:
        """Let go of it; remove it where nothing is left."""


def framed(payload: bytes) -> bytes:
    """Return `payload` as an entry."""
    return HEAD.pack(len(payload), zlib.crc32(payload)) + payload


class Spool:
    """One spool directory, owned by this object until `close`. Not thread-safe: the shipper holds its own lock.

    Args:
        directory: Made where it does not exist.
        budget: Bytes that the segments may take together.
        clock: Seconds, never going back; when to force written bytes to the disk.

    Raises:
        SpoolBusy: Another process owns it.
        OSError: The directory cannot be made or written.
    """

    def __init__(self, directory: Path, budget: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._directory = directory
        self._budget = budget
        self._clock = clock
        self._segment_size = max(1, min(4 << 20, budget // 8))
        self._lock = _lock(directory)
        paths = sorted(directory.glob(f"*{_SUFFIX}"))
        if _noted(directory / LOSSES):
            paths.append(directory / LOSSES)
        self._segments = [_Segment(path, path.stat().st_size) for path in paths]
        self._reserve: int | None = None
        self._next = max((int(path.stem) for path in paths if path.suffix == _SUFFIX), default=0) + 1
        self._out: int | None = None
        self._in: int | None = None
        self._in_offset = 0
        self._synced = clock()

    @property
    def size(self) -> int:
        """Bytes in all segments."""
        return sum(segment.size for segment in self._segments)

    @property
    def unread(self) -> bool:
        """True where an entry waits to be read."""
        first = self._reading()
        return first is not None and (first is not self._segments[-1] or first.size > self._in_offset)

    @property
    def empty(self) -> bool:
        """True where everything is acknowledged."""
        return not self._segments

    def reserve(self) -> None:
        """Take room for `note`. Raises `OSError` where there is none."""
        if self._reserve is None:
            self._reserve = os.open(self._directory / LOSSES, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            os.posix_fallocate(self._reserve, 0, RESERVED)

    def note(self, payloads: Iterable[bytes]) -> bool:
        """Put `payloads`, as many as fit, in the place of what was noted before. False where no room was taken."""
        if self._reserve is None:
            return False
        noted = b""
        for payload in payloads:
            entry = framed(payload)
            if len(noted) + len(entry) <= RESERVED:
                noted += entry
        # In one piece, with the zeros that end it: a crash leaves the old or the new.
        os.pwrite(self._reserve, noted.ljust(RESERVED, b"\0"), 0)
        return True

    def append(self, payload: bytes, *, read: bool = False, beyond_budget: bool = False) -> SpoolEntry:
        """Write `payload` behind everything else.

        Args:
            payload: The bytes.
            read: The caller keeps them in memory too: `read` shall not return them. Only where nothing is unread.
            beyond_budget: Write them even where the budget is used up.

        Raises:
            SpoolFull: The budget is used up.
            OSError: The disk is full or fails. What was there before stays intact.
        """
        entry = framed(payload)
        if not beyond_budget and self.size + len(entry) > self._budget:
            raise SpoolFull(f"spool {self._directory} holds {self.size} of {self._budget} bytes")
        out, segment = self._writable()
        try:
            written = os.write(out, entry)
            if written < len(entry):
                raise OSError(f"disk full: {written} of {len(entry)} bytes written to {segment.path}")
            # A power cut loses at most one second of a spool; a crash of the process alone loses nothing.
            if self._clock() - self._synced >= 1.0:
                self._synced = self._clock()
                os.fdatasync(out)
        except OSError:
            os.ftruncate(out, segment.size)
            if not segment.size:
                self._drop(segment)
            raise
        segment.size += len(entry)
        if read:
            segment.unacknowledged += 1
            self._in_offset = segment.size
        return SpoolEntry(segment, payload)

    def read(self) -> SpoolEntry | None:
        """Return the oldest entry that was not read, or None."""
        while (segment := self._reading()) is not None:
            if self._in is None:
                self._in = os.open(segment.path, os.O_RDONLY)
                self._in_offset = self._read_offset(segment)
            payload = self._entry_at(segment)
            if payload is not None:
                self._in_offset += HEAD.size + len(payload)
                segment.unacknowledged += 1
                return SpoolEntry(segment, payload)
            if self._writing(segment):
                return None
            os.close(self._in)
            self._in, self._in_offset = None, 0
            segment.read = True
            self._drop_if_done(segment)
        return None

    def acknowledge(self, entry: SpoolEntry) -> None:
        """Give up `entry`: it is where it belongs."""
        assert entry.segment is not None
        entry.segment.unacknowledged -= 1
        self._drop_if_done(entry.segment)

    def close(self) -> None:
        """Force what is there to the disk and let go of it; remove the directory where nothing is left."""
        for descriptor in (self._in, self._out):
            if descriptor is not None:
                os.fsync(descriptor)
                os.close(descriptor)
        self._in = self._out = None
        if self._reserve is not None:
            os.fsync(self._reserve)
            os.close(self._reserve)
            self._reserve = None
        if self.empty and not _noted(self._directory / LOSSES):
            (self._directory / _LOCK).unlink(missing_ok=True)
            try:
                self._directory.rmdir()
            except OSError as error:
                log.warning("spool_directory_stays", extra={"directory": str(self._directory), "error": str(error)})
        os.close(self._lock)

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _writing(self, segment: _Segment) -> bool:
        return self._out is not None and segment is self._segments[-1]

    def _reading(self) -> _Segment | None:
        """The oldest segment that was not read to its end."""
        return next((each for each in self._segments if not each.read), None)

    def _read_offset(self, segment: _Segment) -> int:
        return self._in_offset if segment is self._reading() else 0

    def _writable(self) -> tuple[int, _Segment]:
        if self._out is not None and self._segments[-1].size < self._segment_size:
            return self._out, self._segments[-1]
        if self._out is not None:
            os.fdatasync(self._out)
            os.close(self._out)
            self._out = None
            self._finish_reading()
        path = self._directory / f"{self._next:010d}{_SUFFIX}"
        self._out = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        self._next += 1
        self._segments.append(_Segment(path, 0))
        return self._out, self._segments[-1]

    def _finish_reading(self) -> None:
        """The last segment grows no more: where all of it was read, note that."""
        segment = self._segments[-1]
        if not segment.read and self._read_offset(segment) >= segment.size:
            if self._in is not None:
                os.close(self._in)
            self._in, self._in_offset, segment.read = None, 0, True
            self._drop_if_done(segment)

    def _entry_at(self, segment: _Segment) -> bytes | None:
        assert self._in is not None
        head = os.pread(self._in, HEAD.size, self._in_offset)
        if not head:
            return None
        if len(head) == HEAD.size:
            length, checksum = HEAD.unpack(head)
            if segment.path.name == LOSSES and not length:
                self._in_offset = segment.size
                return None
            if self._in_offset + HEAD.size + length <= segment.size:
                payload = os.pread(self._in, length, self._in_offset + HEAD.size)
                if len(payload) == length and zlib.crc32(payload) == checksum:
                    return payload
        lost = {
            "segment": str(segment.path),
            "offset": self._in_offset,
            "passed_over": segment.size - self._in_offset,
        }
        log.warning("spool_entry_torn", extra={**lost, "then": "the rest of the segment is skipped"})
        self._in_offset = segment.size
        return None

    def _drop_if_done(self, segment: _Segment) -> None:
        all_read = segment.read or self._read_offset(segment) >= segment.size
        if segment.unacknowledged == 0 and all_read and segment in self._segments:
            self._drop(segment)

    def _drop(self, segment: _Segment) -> None:
        if self._writing(segment):
            assert self._out is not None
            os.close(self._out)
            self._out = None
        if not segment.read:
            if self._in is not None:
                os.close(self._in)
            self._in, self._in_offset = None, 0
        self._segments.remove(segment)
        segment.path.unlink(missing_ok=True)


def orphans(root: Path, budget: int) -> Iterator[Spool]:
    """Yield the spools of this user under `root` that no process owns, each already locked. Empty leftovers are removed on the way."""
    for directory in sorted(root.iterdir()) if root.is_dir() else []:
        try:
            status = (directory / _LOCK).lstat()
            if status.st_uid != os.geteuid() or not stat.S_ISREG(status.st_mode):
                continue  # another user's files are not ours to send
            spool = Spool(directory, budget)
        except (SpoolBusy, OSError):
            continue
        if spool.empty:
            spool.close()
        else:
            yield spool


def _noted(path: Path) -> bool:
    """Return whether something is noted in a file of losses; one without is removed."""
    try:
        with path.open("rb") as file:
            if any(file.read(HEAD.size)):
                return True
        path.unlink()
    except FileNotFoundError:
        pass
    return False


def _lock(directory: Path) -> int:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(directory / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The owner before may have removed the directory between our open and our lock.
        if os.fstat(descriptor).st_nlink == 0:
            raise SpoolBusy(f"spool {directory} was just removed")
    except BlockingIOError as error:
        os.close(descriptor)
        raise SpoolBusy(f"spool {directory} is owned by another process") from error
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
