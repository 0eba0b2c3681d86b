"""The newest lines of every stream, in memory, bounded over all jobs: what a question can show."""

from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from processors.view import QUOTE, ChunkView

LINES = 500
"""Lines kept of a stream: as many as a window can hold."""
IN_ALL = 200_000
"""Lines kept of all streams together; the stream that was silent longest goes first."""


class StreamName(NamedTuple):
    """One stream of one rank of one attempt."""

    job: str
    attempt: int
    rank: int
    stream: str

    @classmethod
    def of(cls, view: ChunkView) -> "StreamName":
        """Return the stream that `view` is of."""
        return cls(view.job, view.attempt, view.rank, view.stream)


@dataclass
class Stream:
    """The newest lines of one stream.

    Attributes:
        views: Chunks of them, oldest first.
        kept: Lines in those.
        seen: Lines seen so far.
    """

    views: deque[ChunkView] = field(default_factory=deque)
    kept: int = 0
    seen: int = 0

    def lines(self) -> Iterable[tuple[ChunkView, int]]:
        """Yield the lines, oldest first: a chunk, and the index of a line in it."""
        for view in self.views:
            for index in range(len(view.lines)):
                yield view, index


class RecentLines:
    """Keeps lines; forgets the oldest of a stream, and the stream that was silent longest. Not safe for threads."""

    def __init__(self, lines: int = LINES, in_all: int = IN_ALL) -> None:
        self._lines, self._in_all = lines, in_all
        self._streams: OrderedDict[StreamName, Stream] = OrderedDict()
        self.kept = 0

    def add(self, view: ChunkView) -> Stream | None:
        """Keep the lines of `view`, cut; return their stream, or None where they are here already: a batch may be run again."""
        name = StreamName.of(view)
        stream = self._streams.setdefault(name, Stream())
        self._streams.move_to_end(name)
        if stream.views and view.position <= stream.views[-1].position:
            return None
        stream.seen += len(view.lines)
        view = self._cut(view)
        stream.views.append(view)
        self._grow(stream, len(view.lines))
        while stream.kept - len(stream.views[0].lines) >= self._lines:
            self._grow(stream, -len(stream.views.popleft().lines))
        while self.kept > self._in_all and len(self._streams) > 1:
            _, gone = self._streams.popitem(last=False)
            self.kept -= gone.kept
        return stream

    def _cut(self, view: ChunkView) -> ChunkView:
        """Return the last lines of `view`, as many as are kept of a stream, each as long as evidence quotes it."""
        newest = slice(-self._lines, None)
        if len(view.lines) <= self._lines and max(map(len, view.lines), default=0) <= QUOTE:
            return view
        return replace(
            view,
            lines=[line[:QUOTE] for line in view.lines[newest]],
            numbers=view.numbers[newest],
            times=view.times[newest],
            classes=view.classes[newest],
        )

    def _grow(self, stream: Stream, lines: int) -> None:
        stream.kept += lines
        self.kept += lines

    def of(self, name: StreamName) -> Stream | None:
        """Return what is kept of one stream."""
        return self._streams.get(name)

    def newest(self, job: str, attempt: int) -> Stream | None:
        """Return the stream of an attempt that printed last."""
        names = (name for name in reversed(self._streams) if (name.job, name.attempt) == (job, attempt))
        found = next(names, None)
        return None if found is None else self._streams[found]
