"""One log that grows: reading on, through rotation and truncation, from an acknowledged place."""

import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
import structlog

from schedmate_records import LogChunk, NodeLogChunk

from .checkpoint import FilePosition
from .chunker import Chunker, ChunkLimits, Ready
from .fingerprint import Fingerprint, continues
from .gaps import SHORTEST, next_data, split_gaps
from .log_files import RefusedFile, open_log
from .metrics import CollectorMetrics
from .pieces import Mark, PieceSplitter

log = structlog.get_logger(__name__)

READ = 256 * 1024
"""Bytes read at once from one file, so that one loud job does not hold up the others."""

MOST_WAITING = 64
"""Files that wait behind the one that is read. Each is held open: who renames his log every second must not take all descriptors."""


@dataclass(frozen=True, slots=True)
class Shippable:
    """A chunk, and the place to remember once it is acknowledged."""

    record: LogChunk | NodeLogChunk
    after: FilePosition
    lines: int


class Tail:
    """Follows the log at `path`, holding its file open so that a rename or a deletion loses nothing.

    Args:
        template: An empty chunk with everything but lines, numbers and producer.
        place: Where to go on: the inode there must be that of `file`.
        file: An open descriptor, owned by the tail from now on.
        name: Makes a producer name for a file that is numbered from its beginning.
        limits: When a chunk is closed.
        metrics: Where truncations and holes are counted.
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
        metrics: CollectorMetrics,
    ) -> None:
        self.path = path
        self.ready: deque[Shippable] = deque()
        self.acknowledged = place
        self.unsaved = not place.offset
        """True while no checkpoint holds the producer's name and the beginning of the content. Nothing may be shipped before: after a
        crash the same name would number other lines."""
        self.idle_since: float | None = None
        self._template, self._name, self._limits, self._metrics = template, name, limits, metrics
        self._gap_reported = False
        self._waiting: deque[int] = deque()
        self._open(file, place)

    @property
    def inodes(self) -> list[tuple[int, int]]:
        """Device and inode of the file being read and of those that come after it."""
        return [(self._place.device, self._place.inode), *map(identity, self._waiting)]

    @property
    def position(self) -> FilePosition:
        """Content of a checkpoint: the acknowledged position, and the fingerprint of the file's content.

        Lines behind the border may have been shipped. Were the file written anew, its new lines must not get their numbers.
        """
        acknowledged = self.acknowledged
        same_file = (acknowledged.device, acknowledged.inode) == (self._place.device, self._place.inode)
        return self._known.added_to(acknowledged) if same_file else acknowledged

    def saved(self) -> None:
        """Note that a checkpoint holds `position`. That of a file of which nothing was read is not enough."""
        self.unsaved = False
        self._saved_empty = not self._known.end

    @property
    def deleted(self) -> bool:
        """True where the file has no name any more and nothing follows it."""
        return not self._waiting and os.fstat(self._file).st_nlink == 0

    @property
    def full(self) -> bool:
        """True where no further file may wait: a file that is still there is followed later."""
        return len(self._waiting) >= MOST_WAITING

    @property
    def deadline(self) -> float | None:
        """Time at which the open chunk is due."""
        return self._chunker.deadline

    def follow(self, file: int) -> None:
        """Go on with `file`, a new file under the same path, once the present one is finished."""
        self._waiting.append(file)

    def read(self, arrived: float, now: float) -> int:
        """Read on, at `now` (a clock that never goes back), and return the number of bytes.

        Chunks that became complete are in `ready`. A file whose content is no longer what was read is read from its beginning.
        """
        end = self._known.end
        count = self._read_on(arrived, now)
        if count or self._known.end != end:
            self.idle_since = None
        else:
            self.idle_since = now if self.idle_since is None else self.idle_since
            # A renamed file without output for 2 s is finished: its writer has opened the new one.
            if self._waiting and now - self.idle_since >= 2.0:
                self._next(now)
        self._collect_ready(self._chunker.due(now))
        return count

    def flush(self) -> None:
        """Put the open chunk into `ready`. What waits for the end of its line goes on waiting."""
        self._collect_ready(self._chunker.flush())

    def finish(self, now: float) -> None:
        """The file ends here: put everything into `ready`, a last line without its newline too."""
        self._collect_ready(self._chunker.add(self._splitter.finish(), now))
        self.flush()

    def close(self) -> None:
        """Let go of the files."""
        for file in (self._file, *self._waiting):
            os.close(file)
        self._waiting.clear()

    def _open(self, file: int, place: FilePosition) -> None:
        self._file, self._place = file, place
        self._known = Fingerprint(file, place.offset)
        self._saved_empty = False
        self._after_gap = not place.offset
        self._read_to_end: tuple[int, int, int] | None = None
        mark = Mark(place.offset, place.line, place.piece)
        self._splitter = PieceSplitter(mark)
        make = partial(msgspec.structs.replace, self._template, producer=place.producer)
        of_job = isinstance(self._template, LogChunk)
        self._chunker = Chunker(make, seq=place.seq, start=mark, limits=self._limits, heartbeats=of_job)
        self._seq = place.seq

    def _read_on(self, arrived: float, now: float) -> int:
        """Read what follows the known content, once that is found unchanged, and return the number of bytes."""
        status = os.fstat(self._file)
        state = (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        if state == self._read_to_end:
            return 0
        data, at_end = self._unread()
        if data is None or status.st_size < self._known.end or not self._known.has_head_of(self._file):
            self._restart(status, now)
            data, at_end = self._unread()
        data = data or b""
        if data and not at_end and not data.strip(b"\0"):
            data, at_end = self._pass_hole(now)
        if not at_end and data.endswith(b"\0"):
            # Nothing but a hole follows: its program may have yet to fill it.
            at_end = next_data(self._file, self._known.end + len(data)) is None
        self._read_to_end = state if at_end else None
        if at_end and data.endswith(b"\0" * SHORTEST):
            self._report_gap()
        before = self._known.end
        for part in split_gaps(data, after_gap=self._after_gap, at_end=at_end):
            self._after_gap = isinstance(part, int)
            if isinstance(part, int):
                self._pass_gap(part, now)
            else:
                self._known.extend(part)
                self._collect_ready(self._chunker.add(self._splitter.feed(part, arrived), now))
        return self._known.end - before

    def _unread(self) -> tuple[bytes | None, bool]:
        """Return the bytes after the known ones, None where those before are others now, and whether the file ends behind them.

        One read gives both, so no other content can come between the check and the use.
        """
        last = self._known.last
        block = os.pread(self._file, len(last) + READ, self._known.end - len(last))
        unchanged = block.startswith(last)
        return block[len(last) :] if unchanged else None, len(block) < len(last) + READ

    def _pass_hole(self, now: float) -> tuple[bytes, bool]:
        """Go to the end of a hole, and return what `_unread` does: nothing where the file ends with the hole.

        The end of a file may be a hole that its program has yet to fill, so it is not passed.
        """
        target = next_data(self._file, self._known.end)
        if target is None:
            self._report_gap()
            return b"", True
        if target > self._known.end:
            self._pass_gap(target - self._known.end, now)
            self._after_gap = True
        data, at_end = self._unread()
        return data or b"", at_end

    def _pass_gap(self, size: int, now: float) -> None:
        """Go on behind `size` NUL bytes. A line that they cut ends there."""
        before = self._splitter.mark.piece
        rest = self._splitter.finish()
        mark = self._splitter.mark
        rest.after = Mark(mark.offset + size, mark.line + (mark.piece > before), mark.piece)
        self._collect_ready(self._chunker.add(rest, now))
        self._splitter = PieceSplitter(rest.after)
        self._known.extend_hole(size)
        self._metrics.skipped_bytes.inc(size)
        self._report_gap()

    def _report_gap(self) -> None:
        if not self._gap_reported:
            self._gap_reported = True
            log.warning(
                "log_has_holes",
                path=self.path,
                offset=self._known.end,
                consequence="runs of NUL bytes are skipped and counted",
                cause="the file was truncated under a program that does not append, or was written before its text",
            )

    def _collect_ready(self, ready: list[Ready[LogChunk | NodeLogChunk]]) -> None:
        if ready and self._saved_empty:
            self.unsaved, self._saved_empty = True, False
        for chunk in ready:
            after, self._seq = chunk.after, chunk.next_seq
            place = msgspec.structs.replace(
                self._place, offset=after.offset, line=after.line, piece=after.piece, seq=chunk.next_seq
            )
            self.ready.append(Shippable(chunk.record, self._known.added_to(place), chunk.pieces))

    def _restart(self, status: os.stat_result, now: float) -> None:
        """The file was truncated, or written anew: number what comes from its beginning, under a new name."""
        report_rewritten(self.path, self._metrics, read=self._known.end, size=status.st_size)
        if self._read_to_end is None:
            self.flush()  # the end of the last line was not read: what is held of it may be half a number
        else:
            self.finish(now)
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


def report_rewritten(path: str, metrics: CollectorMetrics, *, read: int, size: int) -> None:
    """Count and log that the content of a file is no longer what was read of it."""
    metrics.files_rewritten.inc()
    log.warning(
        "log_rewritten",
        path=path,
        read_bytes=read,
        size_bytes=size,
        consequence="it is read from its beginning; what was written and not read before is lost",
    )


def rotated(path: str, place: FilePosition, owner: int) -> list[int]:
    """Open the files that were at `path` since `place` and were renamed: that of `place`, then younger ones, oldest first.

    They are looked for in its directory, under names that begin like it (`train.log.1`), among the files of `owner`. An empty list where
    the file of `place` is gone, or was compressed since.
    """
    here = Path(path)
    beside: list[tuple[int, int]] = []
    for each in here.parent.glob(f"{_escape(here.name)}?*"):
        # Rotated files that hold no text any more, or none yet: a kubelet compresses all but a container's newest.
        if each.suffix in {".gz", ".bz2", ".xz", ".zst", ".tmp"}:
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
