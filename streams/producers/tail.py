"""One log that grows: reading on, through rotation and truncation, from an acknowledged place."""

import os
import zlib
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
import structlog

from records import LogChunk, NodeLogChunk

from .checkpoint import FilePosition
from .chunker import Chunker, ChunkLimits, Ready
from .log_files import RefusedFile, open_log
from .pieces import Mark, PieceSplitter

log = structlog.get_logger(__name__)

READ = 256 * 1024
"""Bytes read at once from one file, so that one loud job does not hold up the others."""
HEAD = 256
"""Bytes at a file's beginning whose checksum tells it from another file that got the same inode: its first line or two."""
ROTATION_SECONDS = 2.0
"""A renamed file that has been quiet for so long is finished: its writer has opened the new one."""

MOST_WAITING = 64
"""Files that wait behind the one that is read. Each is held open: who renames his log every second must not take all descriptors."""

_COMPRESSED = frozenset({".gz", ".bz2", ".xz", ".zst", ".tmp"})
"""Endings of rotated files that hold no text any more, or none yet: a kubelet compresses all but the newest of a container's."""


@dataclass(frozen=True, slots=True)
class Shippable:
    """A chunk, and the place to remember once it is acknowledged."""

    record: LogChunk | NodeLogChunk
    after: FilePosition
    lines: int


class Tail:
    """Follows the log that stands at `path`, holding its file open so that a rename or a deletion takes nothing away.

    Args:
        path: Where the log stands.
        template: An empty chunk with everything but lines, numbers and producer.
        place: Where to go on: the inode there must be that of `file`.
        file: An open descriptor, owned by the tail from now on.
        name: Makes a producer name for a file that is numbered from its beginning.
        limits: When a chunk is closed.
    """

    def __init__(
        self,
        path: str,
        template: LogChunk | NodeLogChunk,
        place: FilePosition,
        file: int,
        *,
        name: Callable[[os.stat_result], str],
        limits: ChunkLimits,
    ) -> None:
        self.path = path
        self.ready: deque[Shippable] = deque()
        self.acknowledged = place
        self.unsaved = not place.offset
        """True while no checkpoint holds the producer name: nothing may be shipped under a name that a crash would take away."""
        self.idle_since: float | None = None
        self._template, self._name, self._limits = template, name, limits
        self._waiting: deque[int] = deque()
        self._open(file, place)

    @property
    def inodes(self) -> list[tuple[int, int]]:
        """Device and inode of the file being read and of those that come after it."""
        return [(self._place.device, self._place.inode), *map(identity, self._waiting)]

    @property
    def deleted(self) -> bool:
        """True where the file has no name any more and nothing follows it."""
        return not self._waiting and os.fstat(self._file).st_nlink == 0

    @property
    def full(self) -> bool:
        """True where no further file may wait: one that stands there still is followed later."""
        return len(self._waiting) >= MOST_WAITING

    @property
    def deadline(self) -> float | None:
        """When the open chunk is due."""
        return self._chunker.deadline

    def follow(self, file: int) -> None:
        """Go on with `file`, a new file under the same path, once the present one is finished."""
        self._waiting.append(file)

    def read(self, arrived: float, now: float) -> int:
        """Read on, at `now` (a clock that never goes back), and return the number of bytes.

        Chunks that became complete stand in `ready`.
        """
        size = os.fstat(self._file).st_size
        if size < self._offset:
            self._restart(size)
        data = os.pread(self._file, READ, self._offset)
        if data:
            self.idle_since = None
            self._offset += len(data)
            self._take(self._chunker.add(self._splitter.feed(data, arrived), now))
        else:
            self.idle_since = now if self.idle_since is None else self.idle_since
            if self._waiting and now - self.idle_since >= ROTATION_SECONDS:
                self._next(now)
        self._take(self._chunker.due(now))
        return len(data)

    def flush(self) -> None:
        """Put the open chunk into `ready`. What waits for the end of its line goes on waiting."""
        self._take(self._chunker.flush())

    def finish(self, now: float) -> None:
        """The file ends here: put everything into `ready`, a last line without its newline too."""
        self._take(self._chunker.add(self._splitter.finish(), now))
        self.flush()

    def close(self) -> None:
        """Let go of the files."""
        for file in (self._file, *self._waiting):
            os.close(file)
        self._waiting.clear()

    def _open(self, file: int, place: FilePosition) -> None:
        self._file, self._place, self._offset = file, place, place.offset
        mark = Mark(place.offset, place.line, place.piece)
        self._splitter = PieceSplitter(mark)
        make = partial(msgspec.structs.replace, self._template, producer=place.producer)
        of_job = isinstance(self._template, LogChunk)
        self._chunker = Chunker(make, seq=place.seq, start=mark, limits=self._limits, heartbeats=of_job)
        self._seq = place.seq

    def _take(self, ready: list[Ready[LogChunk | NodeLogChunk]]) -> None:
        for chunk in ready:
            if chunk.after.offset > self._place.head_size < HEAD:
                head, head_size = read_head(self._file, chunk.after.offset)
                self._place = msgspec.structs.replace(self._place, head=head, head_size=head_size)
            after, self._seq = chunk.after, chunk.next_seq
            place = msgspec.structs.replace(
                self._place, offset=after.offset, line=after.line, piece=after.piece, seq=chunk.next_seq
            )
            self.ready.append(Shippable(chunk.record, place, chunk.pieces))

    def _restart(self, size: int) -> None:
        """The file was truncated: what comes is numbered anew, under a new name."""
        log.info("log_truncated", path=self.path, offset=self._offset, size=size)
        self.flush()
        status = os.fstat(self._file)
        self.acknowledged = FilePosition(
            device=status.st_dev, inode=status.st_ino, owner=status.st_uid, producer=self._name(status)
        )
        self.unsaved = True
        self._open(self._file, self.acknowledged)

    def _next(self, now: float) -> None:
        """Go on with the next file; lines and pieces are counted on."""
        before = self._splitter.mark.piece
        self.finish(now)
        os.close(self._file)
        file = self._waiting.popleft()
        device, inode = identity(file)
        mark = self._splitter.mark
        unfinished = mark.piece > before
        place = FilePosition(
            device=device,
            inode=inode,
            owner=os.fstat(file).st_uid,
            producer=self._place.producer,
            line=mark.line + unfinished,
            piece=mark.piece,
            seq=self._seq,
        )
        log.info("log_rotated", path=self.path)
        self.idle_since = None
        self._open(file, place)


def identity(file: int) -> tuple[int, int]:
    """Return device and inode of an open file."""
    status = os.fstat(file)
    return status.st_dev, status.st_ino


def read_head(file: int, limit: int) -> tuple[int, int]:
    """Return the CRC-32 of the first bytes, at most `HEAD` and at most `limit`, and their number."""
    head = os.pread(file, min(HEAD, limit), 0)
    return zlib.crc32(head), len(head)


def continues(file: int, place: FilePosition) -> bool:
    """True where `file` is the file of `place`, and not another one that got its inode number or was written over."""
    return (
        identity(file) == (place.device, place.inode)
        and os.fstat(file).st_size >= place.offset
        and read_head(file, place.head_size) == (place.head, place.head_size)
    )


def rotated(path: str, place: FilePosition, owner: int) -> list[int]:
    """Open the files that stood at `path` since `place` and were renamed: that of `place`, then younger ones, oldest first.

    They are looked for beside `path`, under names that begin like it (`train.log.1`), among the files of `owner`. An empty list where the
    file of `place` is gone, or was compressed since.
    """
    here = Path(path)
    beside: list[tuple[int, int]] = []
    for each in here.parent.glob(f"{_escape(here.name)}?*"):
        if each.suffix in _COMPRESSED:
            continue
        with suppress(OSError, RefusedFile):
            opened = open_log(str(each))
            if opened.status.st_uid == owner:
                beside.append((opened.status.st_mtime_ns, opened.file))
            else:
                os.close(opened.file)
    found: list[int] = []
    for _, file in sorted(beside):
        if found or continues(file, place):
            found.append(file)
        else:
            os.close(file)
    return found


def _escape(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
