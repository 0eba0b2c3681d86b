"""`schedmate collect`: tails log files and ships their lines.

The files are the spool: a file is read only as fast as the broker takes it, and the checkpoint moves only with acknowledgements.
A collector that starts again reads on from there; what it repeats carries the same numbers under the same producer name.
"""

import os
import resource
import stat
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

import msgspec
import structlog

from schedmate_records import InvalidRecord, LogChunk, NodeLogChunk, check

from ..transport import Producer, outgoing
from .checkpoint import CollectorCheckpoint, FilePosition
from .collector_settings import CollectorSettings
from .fingerprint import continues
from .journal import SystemJournal
from .kernel_log import KernelLog
from .log_files import OpenedLog, RefusedFile, open_log, search
from .metrics import CollectorMetrics
from .paths import JobPattern, node_log
from .pipe_intake import PipeIntake
from .shipper import Envelope, Shipper, Source
from .tail import READ, Shippable, Tail, report_rewritten, rotated

log = structlog.get_logger(__name__)

JOURNAL = "journal"
"""Instead of a glob: systemd's journal."""


class Collector:
    """Follows all files that the settings name.

    Raises:
        InvalidPattern: The pattern does not yield a job.
        InvalidCheckpoint: The checkpoint is not one, or in use.
        SocketInUse: Another collector takes in pipes there.
    """

    def __init__(
        self,
        settings: CollectorSettings,
        connect: Callable[[], Producer],
        *,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._pattern = JobPattern(settings.pattern)
        self._clock, self._monotonic = clock, monotonic
        self._checkpoint = CollectorCheckpoint(settings.checkpoint)
        self._tails: dict[str, Tail] = {}
        self.metrics = CollectorMetrics()
        self._feeds: dict[str, KernelLog | SystemJournal] = {}
        if JOURNAL in settings.node_globs:
            self._feeds[JOURNAL] = SystemJournal(
                settings.node, clock=clock, monotonic=monotonic, unreadable=self.metrics.journal_unreadable.inc
            )
        self._refused: set[str] = set()
        self._searched = float("-inf")
        self._saved = monotonic()
        self._save_fails = False
        self._first_search = True
        self._turn = 0
        self._changed = threading.Lock()
        self._dirty = False
        _raise_file_limit()
        self.has_shipped = False
        self.shipper = Shipper(
            connect,
            f"collector-{settings.node}",
            adopt=settings.spool,
            memory=settings.memory,
            clock=clock,
        )
        self.intake = (
            None if settings.socket is None else PipeIntake(settings.socket, settings.trust, self.shipper.offer)
        )

    def run(self, stop: threading.Event) -> None:
        """Collect until `stop` is set."""
        while not stop.is_set():
            if self.step() < READ:
                stop.wait(self._settings.poll_s)

    def step(self) -> int:
        """Look at everything once and return the number of bytes read."""
        now = self._monotonic()
        search = now - self._searched >= self._settings.search_s
        if search:
            self._searched = now
            self._search()
        read = self._read(now, everything=search)
        if now - self._saved >= 1.0:
            self._save()
        return read

    def close(self) -> None:
        """Ship what is complete, wait a bounded time for acknowledgements, and remember how far they went."""
        deadline = self._monotonic() + self._settings.close_timeout
        if self.intake is not None:
            self.intake.close()
        if self._settings.pods is not None:
            self._settings.pods.close()
        for tail in self._tails.values():
            tail.flush()
        for name, feed in self._feeds.items():
            self._read_feed(name, feed)
        while any(not self._ship(tail) for tail in list(self._tails.values())) and self._monotonic() < deadline:
            time.sleep(0.02)
        self.shipper.close(max(0.0, deadline - self._monotonic()))
        self._save()
        for tail in self._tails.values():
            tail.close()
        for feed in self._feeds.values():
            feed.close()
        self._checkpoint.close()

    # --- files --------------------------------------------------------------------------------------------------------

    def _search(self) -> None:
        known = {inode for tail in self._tails.values() for inode in tail.inodes}
        standing: set[tuple[int, int]] = set()
        paths: set[str] = set()
        pods = self._settings.pods.found() if self._settings.pods else {}
        for found, make in (
            (_paths(self._settings.globs), self._pattern.read),
            (_paths(self._settings.node_globs), node_log),
            (set(pods), lambda path, _: pods[path]),
        ):
            for path in sorted(found):
                paths.add(path)
                try:
                    standing.add(self._look(path, make, known))
                except RefusedFile as error:
                    self._refuse(path, str(error), untrusted=True)
                except OSError as error:
                    if not isinstance(error, FileNotFoundError):
                        self._refuse(path, f"{error.strerror}: can this user read it?")
        for path, tail in list(self._tails.items()):
            if tail.deleted:
                self._finish(path, tail)
        # An inode number whose file is gone will be given out again.
        with self._changed:
            self._checkpoint.finished[:] = [inode for inode in self._checkpoint.finished if inode in standing]
        self._refused &= paths | self._feeds.keys()
        self._first_search = False
        self.metrics.files.set(len(self._tails) + len(self._feeds))

    def _look(
        self, path: str, make: Callable[[str, str], LogChunk | NodeLogChunk | None], known: set[tuple[int, int]]
    ) -> tuple[int, int]:
        """Begin to follow the file at `path` where it is not known, and return its device and inode."""
        status = os.stat(path)  # noqa: PTH116  (thousands of them, every second)
        inode = (status.st_dev, status.st_ino)
        if stat.S_ISCHR(status.st_mode) and make is node_log and path not in self._feeds:
            device = open_log(path, stat.S_ISCHR).file
            self._feeds[path] = KernelLog(device, self._settings.node, clock=self._clock)
        elif stat.S_ISREG(status.st_mode) and inode not in known and inode not in self._checkpoint.finished:
            self._found(path, make)
            known.update(self._tails[path].inodes if path in self._tails else ())
        return inode

    def _found(self, path: str, make: Callable[[str, str], LogChunk | NodeLogChunk | None]) -> None:
        """A file that is not followed yet is at `path`."""
        template = make(path, self._settings.node)
        if template is None:
            self._refuse(path, f"the pattern {self._settings.pattern!r} finds no job in it")
            return
        try:
            check(template)
        except InvalidRecord as error:
            self._refuse(path, f"its lines would be refused: {error}")
            return
        tail, place = self._tails.get(path), self._checkpoint.logs.get(path)
        if tail is not None and tail.full:
            return
        opened = open_log(path)
        try:
            if tail is None and place is None and self._too_old(template, opened.status):
                os.close(opened.file)
                return
            if not self._believed(path, template, opened, place):
                os.close(opened.file)
                return
            if tail is not None:
                before = tail.inodes[-1]
                tail.follow(opened.file)
                self._remember_finished(before)
                return
            self._tails[path] = self._begin(path, template, place, opened)
            with self._changed:
                self._dirty = True
        except OSError:
            os.close(opened.file)
            raise
        self._refused.discard(path)

    def _believed(
        self, path: str, template: LogChunk | NodeLogChunk, opened: OpenedLog, place: FilePosition | None
    ) -> bool:
        """Return whether the file may report for its job. One that was trusted before is not asked about again: jobs are forgotten."""
        if isinstance(template, NodeLogChunk):
            return True
        if place is not None and place.owner == opened.status.st_uid and continues(opened.file, place):
            return True
        objection = self._settings.trust.objection(template.job, opened.status.st_uid, private=opened.private)
        if objection:
            self._refuse(path, objection, untrusted=True)
        return objection == ""

    def _begin(
        self, path: str, template: LogChunk | NodeLogChunk, place: FilePosition | None, opened: OpenedLog
    ) -> Tail:
        file, status = opened.file, opened.status
        make = partial(Tail, path, template, name=self._name, limits=self._settings.limits, metrics=self.metrics)
        if place is not None and continues(file, place):
            return make(place, file)
        if place is not None and (older := rotated(path, place, status.st_uid)):
            tail = make(place, older[0])
            for each in [*older[1:], file]:
                self._remember_finished(tail.inodes[-1])
                tail.follow(each)
            return tail
        if place is not None:
            report_rewritten(path, self.metrics, read=place.read or place.offset, size=status.st_size)
        fresh = FilePosition(
            device=status.st_dev, inode=status.st_ino, owner=status.st_uid, producer=self._name(status)
        )
        if isinstance(template, NodeLogChunk) and self._first_search and place is None:
            fresh = msgspec.structs.replace(fresh, offset=status.st_size)
        return make(fresh, file)

    def _finish(self, path: str, tail: Tail) -> None:
        """The file was deleted: ship the rest of it, then forget it."""
        if tail.read(self._clock(), self._monotonic()) or tail.ready:
            return
        tail.finish(self._monotonic())
        if self._ship(tail):
            tail.close()
            del self._tails[path]
            with self._changed:
                self._checkpoint.logs.pop(path, None)
                self._dirty = True

    def _too_old(self, template: LogChunk | NodeLogChunk, status: os.stat_result) -> bool:
        limit = self._settings.ignore_older_s
        return limit is not None and isinstance(template, LogChunk) and self._clock() - status.st_mtime > limit

    def _remember_finished(self, inode: tuple[int, int]) -> None:
        with self._changed:
            self._checkpoint.finished.append(inode)
            self._dirty = True

    def _refuse(self, path: str, reason: str, *, untrusted: bool = False) -> None:
        if path not in self._refused:
            self._refused.add(path)
            self.metrics.files_refused.inc()
            self.metrics.files_untrusted.inc(untrusted)
            log.warning("file_left_out", path=path, reason=reason)

    def _name(self, status: os.stat_result) -> str:
        started = int(self._clock() * 1000)
        return f"{self._settings.node}-{status.st_dev:x}-{status.st_ino:x}-{started:x}"

    # --- lines --------------------------------------------------------------------------------------------------------

    def _read(self, now: float, *, everything: bool) -> int:
        """Give each file a turn, another one first each time, until the shipper takes no more."""
        tails = list(self._tails.values())
        self._turn = (self._turn + 1) % max(1, len(tails))
        total = sum(self._read_feed(name, feed) for name, feed in list(self._feeds.items()))
        for tail in tails[self._turn :] + tails[: self._turn]:
            # A file without output for 10 s is looked at only when directories are searched again: thousands of them are
            # cheap.
            idle = tail.idle_since is not None and now - tail.idle_since > 10.0
            due = tail.deadline is not None and tail.deadline <= now
            if idle and not everything and not due and not tail.ready:
                continue
            if not self._ship(tail):
                break
            try:
                read = tail.read(self._clock(), now)
            except OSError as error:
                self._refuse(tail.path, f"{error.strerror} while reading")
                continue
            total += read
            self.metrics.read_bytes.inc(read)
            if not self._ship(tail):
                break
        return total

    def _read_feed(self, name: str, feed: KernelLog | SystemJournal) -> int:
        """Read on in a log that is no file, where the shipper takes what was read, and return the number of lines."""
        try:
            count = 0 if feed.ready else feed.read()
        except OSError as error:
            self._refuse(name, f"{error.strerror} while reading")
            return 0
        while feed.ready:
            chunk = feed.ready[0]
            lines = len(chunk.lines)
            if not self.shipper.offer(Envelope(Source("", 0, chunk.node, chunk.producer), outgoing(chunk), lines)):
                break
            feed.ready.popleft()
            self.metrics.chunks.inc()
            self.has_shipped = True
            self.metrics.pieces.inc(lines)
            self.metrics.lines.inc(lines)
        return count

    def _ship(self, tail: Tail) -> bool:
        """Hand over what is ready. False where the shipper takes no more now."""
        if tail.ready and tail.unsaved:
            self._save()
        while tail.ready:
            chunk = tail.ready[0]
            record = chunk.record
            source = Source(getattr(record, "job", ""), getattr(record, "attempt", 0), record.node, record.producer)
            if not self.shipper.offer(
                Envelope(source, outgoing(record), chunk.lines, partial(self._acknowledged, tail, chunk))
            ):
                return False
            tail.ready.popleft()
            self.metrics.chunks.inc()
            self.has_shipped = True
            self.metrics.pieces.inc(chunk.lines)
            self.metrics.lines.inc(chunk.after.line - record.first_line)
        return True

    def _acknowledged(self, tail: Tail, chunk: Shippable, _: Exception | None) -> None:
        with self._changed:
            # An answer from before a truncation does not apply to the file as it is now.
            if tail.acknowledged.producer == chunk.after.producer:
                tail.acknowledged = chunk.after
                self._dirty = True

    def _save(self) -> None:
        self._saved = self._monotonic()
        with self._changed:
            if not self._dirty and not any(tail.unsaved for tail in self._tails.values()):
                return
            for path, tail in self._tails.items():
                self._checkpoint.logs[path] = tail.position
                tail.saved()
            self._dirty = False
        try:
            self._checkpoint.save()
            self._save_fails = False
        except OSError as error:
            self._dirty = True
            if not self._save_fails:
                self._save_fails = True
                log.error("checkpoint_not_written", error=str(error), then="a restart repeats lines")


def _paths(globs: Iterable[str]) -> set[str]:
    return {path for each in globs for path in search(each)}


def _raise_file_limit() -> None:
    """Each file is held open, so that neither rename nor deletion takes it away."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = hard if hard != resource.RLIM_INFINITY else 1 << 20
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
