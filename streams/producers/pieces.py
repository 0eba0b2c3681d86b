r"""Bytes in, numbered pieces of text out, the same ones however the bytes were cut into reads.

The rules, which depend on the bytes alone:

* `\n` and `\r\n` end a piece and its line; both are taken off.
* `\r` before anything else ends a redrawn piece, which keeps its `\r`; the line goes on. A `\r` that is the last byte so
  far waits for the next one.
* A `\r` with nothing before it redraws nothing and makes no piece: tqdm begins each bar with one.
* A piece of more than `LIMIT` bytes is cut after at most `LIMIT` bytes, never inside a UTF-8 sequence.
* Bytes that are not UTF-8 stand as `\xNN`.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

LIMIT = 32 * 1024
"""Bytes of one piece at most. A chunk of two such, six bytes in JSON for each NUL, still fits into Kafka's 1 MB message."""


class Mark(NamedTuple):
    """A border between two pieces: what a splitter needs to go on from there.

    Attributes:
        offset: Bytes of the stream before the border.
        line: Line number of the next piece, from 1.
        piece: Number of the next piece, from 1.
    """

    offset: int = 0
    line: int = 1
    piece: int = 1


START = Mark()
"""The beginning of a stream."""


class Pieces:
    """Consecutive pieces.

    Attributes:
        lines: Their text.
        numbers: Line number of each.
        ends: Bytes of the stream up to the end of each, its terminator included.
        first: Number of the first piece.
        time: When they arrived, in seconds since 1970.
        first_time: When the last byte of the first one's text arrived, which may be earlier: a bar that is redrawn is ended
            only by the next bar.
        cut: Indices of pieces that go on in the next piece.
        after: The border behind the last piece.
    """

    __slots__ = ("after", "cut", "ends", "first", "first_time", "lines", "numbers", "time")

    def __init__(  # noqa: PLR0917
        self,
        lines: list[str],
        numbers: Sequence[int],
        ends: Sequence[int],
        first: int,
        time: float,
        first_time: float,
        after: Mark,
    ) -> None:
        self.lines, self.numbers, self.ends, self.first = lines, numbers, ends, first
        self.time, self.first_time, self.after = time, first_time, after
        self.cut: list[int] = []


class PieceSplitter:
    r"""Splits one stream of bytes. Holds at most `LIMIT` bytes and one `\r` that wait for more."""

    def __init__(self, start: Mark = START) -> None:
        self._mark = start
        self._rest = b""
        self._rest_time = 0.0

    @property
    def mark(self) -> Mark:
        """The border behind the last piece that was given out."""
        return self._mark

    @property
    def waiting(self) -> int:
        """Bytes held back behind the mark."""
        return len(self._rest)

    def feed(self, data: bytes, time: float = 0.0) -> Pieces:
        """Return the pieces that `data`, which arrived at `time`, completes."""
        rest = self._rest
        first_time = time
        if rest:
            if len(rest.rstrip(b"\r")) and (rest.endswith(b"\r") or data[:1] in (b"\r", b"\n")):
                first_time = self._rest_time
            data = rest + data
        # The last terminator that is certain: a "\r" at the very end may yet become "\r\n".
        end = max(data.rfind(b"\n"), data.rfind(b"\r", 0, max(len(data) - 1, 0))) + 1
        self._rest = data[end:]
        if end or len(self._rest.rstrip(b"\r")) > len(rest.rstrip(b"\r")):
            self._rest_time = time
        whole = data[:end]
        raw = whole.splitlines(keepends=True)
        long = end > LIMIT and max(map(len, raw)) > LIMIT
        if long or len(self._rest) > LIMIT or b"\r" in whole:
            return self._slow(raw, time, first_time)
        return self._fast(whole, raw, time, first_time)

    def finish(self, time: float | None = None) -> Pieces:
        """Return what waits as a last piece, if anything does: the stream has ended, or a gap follows."""
        rest, self._rest = self._rest, b""
        arrived = self._rest_time if time is None else time
        lines = [_text(rest)] if rest.rstrip(b"\r") else []
        numbers = [self._mark.line] * len(lines)
        first = self._mark.piece
        self._mark = Mark(self._mark.offset + len(rest), self._mark.line, first + len(lines))
        return Pieces(lines, numbers, [self._mark.offset] * len(lines), first, arrived, arrived, self._mark)

    def skip(self, size: int, newlines: int) -> None:
        """Go on behind a gap of `size` bytes with `newlines` newlines that were not kept. Call `finish` first."""
        mark = self._mark
        self._mark = Mark(mark.offset + size, mark.line + newlines, mark.piece + newlines)

    def _fast(self, whole: bytes, raw: list[bytes], time: float, first_time: float) -> Pieces:
        """Every piece is a whole line: all loops run in C."""
        mark, count = self._mark, len(raw)
        lines = whole.decode("utf-8", "backslashreplace").split("\n")
        lines.pop()
        ends = list(accumulate(map(len, raw), initial=mark.offset))
        self._mark = Mark(ends[-1], mark.line + count, mark.piece + count)
        numbers = range(mark.line, mark.line + count)
        return Pieces(lines, numbers, ends[1:], mark.piece, time, first_time, self._mark)

    def _slow(self, raw: list[bytes], time: float, first_time: float) -> Pieces:
        line, offset, first = self._mark.line, self._mark.offset, self._mark.piece
        result = Pieces([], [], [], first, time, first_time, self._mark)
        lines = result.lines
        numbers: list[int] = []
        ends: list[int] = []
        result.numbers, result.ends = numbers, ends
        for piece in raw:
            after = offset + len(piece)
            newline = piece.endswith(b"\n")
            body = piece[: -2 if piece.endswith(b"\r\n") else -1]
            if len(body) > LIMIT:
                for part in _parts(body):
                    offset += len(part)
                    result.cut.append(len(lines))
                    lines.append(_text(part))
                    numbers.append(line)
                    ends.append(offset)
                body = piece[len(piece) - (after - offset) : -2 if piece.endswith(b"\r\n") else -1]
            if newline:
                lines.append(_text(body))
            elif body:
                lines.append(_text(body) + "\r")
            offset = after
            if newline or body:
                numbers.append(line)
                ends.append(offset)
            line += newline
        rest = self._rest[:-1] if self._rest.endswith(b"\r") else self._rest
        if len(rest) > LIMIT:
            before = offset
            for part in _parts(rest):
                offset += len(part)
                result.cut.append(len(lines))
                lines.append(_text(part))
                numbers.append(line)
                ends.append(offset)
            self._rest = self._rest[offset - before :]
        self._mark = result.after = Mark(offset, line, first + len(lines))
        return result


def _text(piece: bytes) -> str:
    return piece.decode("utf-8", "backslashreplace")


def _parts(body: bytes) -> Iterator[bytes]:
    """Yield the parts of `body` that are cut off, all but the last `LIMIT` bytes or fewer."""
    start = 0
    while len(body) - start > LIMIT:
        end = start + LIMIT
        back = next((step for step in range(4) if body[end - step] & 0xC0 != 0x80), 0)
        yield body[start : end - back]
        start = end - back
