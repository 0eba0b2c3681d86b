"""Remains of pipes whose processes have both ended. The next producer on this host ships them, and counts what is missing.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import fcntl
import logging
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from .envelope import Envelope, Source, loss, pack
from .frames import FrameReader
from .pipe_settings import described
from .pipe_streams import PipeStreams, read_rest
from .progress import Progress
from .rest import SUFFIX, Rest
from .spool import SpoolEntry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

log = logging.getLogger(__name__)


class LeftBehind:
    """Remains of one pipe, as the entries of a spool. Not thread-safe, like `Spool`.

    Args:
        rest: Its directory, with an exclusive lock.

    Raises:
        OSError: It cannot be read.
        ValueError: It is damaged.
    """

    def __init__(self, rest: Rest) -> None:
        counts, about = rest.load()
        self._rest = rest
        self._time = rest.modified
        self._waiting: deque[Envelope] = deque()
        self._open: dict[int, tuple[SpoolEntry, Envelope]] = {}
        self._losses = 0
        self._whole = False
        self._progress = Progress(counts)
        self._job = PipeStreams(described(about), self, self._progress)
        self._parts = self._take_parts()

    # --- what a shipper asks of a spool -------------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        """True where everything is acknowledged."""
        return self._whole and not self._waiting and not self._open

    def read(self) -> SpoolEntry | None:
        """Return the oldest entry that was not read, or None."""
        while not self._waiting:
            if self._whole:
                return None
            self._whole = next(self._parts, True)
        envelope = self._waiting.popleft()
        entry = SpoolEntry(None, pack(envelope))
        self._open[id(entry)] = entry, envelope
        return entry

    def acknowledge(self, entry: SpoolEntry) -> None:
        """Give up `entry`: it is where it belongs."""
        _, envelope = self._open.pop(id(entry))
        if envelope.done is not None:
            envelope.done(None)
        self._job.note_safe()
        with suppress(OSError):
            # The process that continues after this one names the losses by the same time.
            self._rest.store_safe(self._progress.safe_bytes, self._time)

    def close(self) -> None:
        """Let go of it; remove it where nothing is left."""
        if self.empty:
            self._rest.remove()
        else:
            self._rest.close()

    # --- what the streams of a pipe ask of a shipper ------------------------------------------------------------------

    @property
    def losses_kept(self) -> bool:
        """True where all counts are acknowledged."""
        return not self._losses

    def offer(self, envelope: Envelope) -> bool:
        """Take over `envelope`."""
        self._waiting.append(envelope)
        return True

    def lose(self, source: Source, lines: int, place: str) -> None:
        """Take over the count of lines that are lost at `place`."""
        envelope = loss(source, lines, self._time, place, "the pipe was killed, or the disk was full at its end")
        envelope.done = self._note_acknowledged
        self._losses += 1
        self._waiting.append(envelope)

    def _note_acknowledged(self, _refused: Exception | None) -> None:
        self._losses -= 1

    def _take_parts(self) -> Iterator[bool]:
        """Take what is there, part by part."""
        try:
            for _ in read_rest(self._job, FrameReader(), self._rest, None):
                yield False
            self._job.finish(time.monotonic())
        except Exception as error:  # noqa: BLE001  its owner may write anything there
            log.warning("rest_left_out", extra={"directory": self._rest.directory, "error": str(error)})


def left_behind(root: Path) -> Iterator[LeftBehind]:
    """Yield what pipes of this user left under `root` and no process owns, each locked. Empty leftovers are removed on the way."""
    for directory in sorted(root.glob(f"*{SUFFIX}")):
        rest = Rest.open(str(directory), fcntl.LOCK_EX | fcntl.LOCK_NB)
        if rest is None:
            continue
        try:
            yield LeftBehind(rest)
        except (OSError, ValueError) as error:
            log.warning("rest_left_out", extra={"directory": rest.directory, "error": str(error)})
            rest.close()
