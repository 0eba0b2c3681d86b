"""The directory with what a pipe has not shipped yet, for the shipping process to read on, or for others once both processes are gone.

`progress` holds the counts of `Progress` and a description of the pipe; its room is taken in advance, so that what is missing can be
counted on a full disk. The other files hold frames as they are written to the shipping process; each begins with its position in
the stream of frames and with the totals before it. Each process of the pipe holds a shared lock on `progress`; who gets an exclusive
lock may ship what is there, and remove it.

The pipe has two other stores for lines that were not sent. The spool holds numbered chunks while the broker is away. The pass-through
cannot write it: it would have to load the chunker and cut lines at the job's cost, and the shipping process, which may be stopped at that
time, holds the spool's lock. The copy in memory (`unsafe_slices`) spares the job one write to disk for each block that it prints.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import fcntl
import os
import stat
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from .progress import SAFE_AT, SIZE, Totals

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIX = ".rest"
"""Ends the names of these directories, which stand among the spools."""
PROGRESS = "progress"
_FRAMES = ".frames"
_LENGTH = struct.Struct("=I")
_HEAD = struct.Struct("=5Q")
_RESERVED = 16 * 1024


class Start(NamedTuple):
    """What follows begins at `position` in the stream of frames, and `totals` came before it."""

    position: int
    totals: Totals


class Rest:
    """The directory of one pipe, with a lock on it. Paths are strings: `pathlib` costs the start 5 ms."""

    def __init__(self, directory: str, lock: int) -> None:
        self.directory = directory
        self.lock = lock

    @classmethod
    def create(cls, directory: str, progress: bytes, about: bytes) -> Rest:
        """Make the directory of the pipe that `about` describes. Raises `OSError`."""
        os.makedirs(directory, mode=0o700, exist_ok=True)  # noqa: PTH103
        new = f"{directory}/new"
        lock = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_SH)
            os.posix_fallocate(lock, 0, _RESERVED)
            _write_all(lock, progress.ljust(SIZE, b"\0") + _LENGTH.pack(len(about)) + about, 0)
            os.rename(new, f"{directory}/{PROGRESS}")  # noqa: PTH104
        except BaseException:
            os.close(lock)
            with suppress(OSError):
                os.unlink(new)  # noqa: PTH108
                os.rmdir(directory)  # noqa: PTH106
            raise
        return cls(directory, lock)

    @classmethod
    def open(cls, directory: str, operation: int) -> Rest | None:
        """Open the directory and lock it as `operation` states. None where it is gone, locked or another user's."""
        try:
            lock = os.open(f"{directory}/{PROGRESS}", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        rest = cls(directory, lock)
        status = os.fstat(lock)
        if status.st_uid != os.geteuid() or not stat.S_ISREG(status.st_mode) or not rest.change_lock(operation):
            os.close(lock)
            return None
        return rest

    def change_lock(self, operation: int) -> bool:
        """Change the lock. False where others hold it, or have removed the directory."""
        try:
            fcntl.flock(self.lock, operation)
        except OSError:
            return False
        return os.fstat(self.lock).st_nlink > 0

    def store_passed(self, content: bytes) -> None:
        """Store the part of the pass-through. Raises `OSError`."""
        os.pwrite(self.lock, content, 0)

    def store_safe(self, content: bytes, modified: float | None = None) -> None:
        """Store the part of the shipping process, and `modified` as the time at which that was done. Raises `OSError`."""
        os.pwrite(self.lock, content, SAFE_AT)
        if modified is not None:
            os.utime(self.lock, (modified, modified))

    def load(self) -> tuple[bytes, bytes]:
        """Return the stored counts and the description of the pipe. Raises `OSError`, or `ValueError` where they are damaged."""
        content = os.pread(self.lock, _RESERVED, 0)
        if len(content) < SIZE + _LENGTH.size:
            raise ValueError(f"expected the progress of a pipe in {self.directory}")
        (length,) = _LENGTH.unpack_from(content, SIZE)
        return content[:SIZE], content[SIZE + _LENGTH.size :][:length]

    @property
    def modified(self) -> float:
        """Time at which the counts were last stored."""
        return os.fstat(self.lock).st_mtime

    def new_file(self, start: Start) -> tuple[int, str]:
        """Return a descriptor of a new file for frames from `start` on, and its path. Raises `OSError`."""
        # With the process: one that goes on after a fork must not reuse a file that the other may still remove.
        path = f"{self.directory}/{start.position:020d}-{os.getpid()}{_FRAMES}"
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            _write_all(file, _HEAD.pack(start.position, *start.totals.sizes, *start.totals.newlines), 0)
        except OSError:
            os.close(file)
            with suppress(OSError):
                os.unlink(path)  # noqa: PTH108
            raise
        return file, path

    def parts(self, position: int | None) -> Iterator[Start | bytes]:
        """Yield the frames behind `position`, or all, as bytes, and a `Start` before bytes that do not follow what came before."""
        names = sorted(name for name in os.listdir(self.directory) if name.endswith(_FRAMES))  # noqa: PTH208
        for name in names:
            file = os.open(f"{self.directory}/{name}", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                head = os.pread(file, _HEAD.size, 0)
                if len(head) < _HEAD.size:
                    continue
                first, *counts = _HEAD.unpack(head)
                end = first + os.fstat(file).st_size - _HEAD.size
                if position is None or first > position:
                    yield Start(first, Totals((counts[0], counts[1]), (counts[2], counts[3])))
                    position = first
                while position < end and (data := os.pread(file, 1 << 20, _HEAD.size + position - first)):
                    yield data
                    position += len(data)
            finally:
                os.close(file)

    def remove(self) -> None:
        """Remove the directory, whose lock must be exclusive, and let go of it."""
        with suppress(OSError):
            for name in os.listdir(self.directory):  # noqa: PTH208
                # Last: without it the directory would not be read again.
                if name != PROGRESS:
                    os.unlink(f"{self.directory}/{name}")  # noqa: PTH108
            os.unlink(f"{self.directory}/{PROGRESS}")  # noqa: PTH108
            os.rmdir(self.directory)  # noqa: PTH106
        self.close()

    def close(self) -> None:
        """Let go of the directory; what is there stays."""
        os.close(self.lock)


HEAD_BYTES = _HEAD.size
"""Bytes of a file before its frames."""


def _write_all(file: int, data: bytes, at: int) -> None:
    if os.pwrite(file, data, at) < len(data):
        raise OSError(f"disk full: expected to write {len(data)} bytes")
