"""The lines of a chunk that are new: which pieces they are, the line number of each, and what the process printed.

A container runtime puts more around the lines of a process, in two formats: Docker's logging driver `json-file` writes one JSON object per
line. What implements the Container Runtime Interface (containerd, CRI-O) writes a time, a stream, and `F` (full) or `P` (partial) before
each line (Kubernetes, "CRI: Log Management"): a long line is written in parts of 16 KB, all but the last of them partial.
"""

import re
from collections.abc import Collection, Sequence
from datetime import UTC, datetime

import msgspec

from schedmate_records import Lines

_CRI = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*) (std(?:out|err)) ([FP])(?: |$)")
_DOCKER = '{"log":'
_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC).timestamp()
"""A node whose clock shows an earlier time has not set it yet."""


class _DockerLine(msgspec.Struct):
    log: str
    time: str


def strip_container_wrapping(lines: Sequence[str], times: Sequence[float]) -> tuple[Sequence[str], Sequence[float]]:
    """Return the lines as the process printed them, and when it printed each; lines without a wrapping unchanged.

    All lines of a file have one format, so only the first and the last line are tested for it. A line whose parts follow one another
    replaces its first part, and its other parts become empty lines. A part in another chunk stays a line of its own.

    Args:
        lines: Lines of one log file, in order.
        times: Arrival time of each line, in seconds since 1970.
    """
    if not lines or not (_is_wrapped(lines[0]) or _is_wrapped(lines[-1])):
        return lines, times
    found = [_strip(line, time) for line, time in zip(lines, times, strict=True)]
    return _joined(lines, [line for line, _ in found]), [time for _, time in found]


def container_text(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines as the process printed them (see `strip_container_wrapping`), without times."""
    return strip_container_wrapping(lines, [0.0] * len(lines))[0]


def _is_wrapped(line: str) -> bool:
    return line.startswith(_DOCKER) or _CRI.match(line) is not None


def _joined(wrapped: Sequence[str], lines: list[str]) -> list[str]:
    """Replace the first part of each long line by the whole line, and its other parts by empty lines."""
    # A prefix of the Container Runtime Interface ends within 64 characters.
    if not any(" P " in line[:64] for line in wrapped):
        return lines
    first, stream, parts, length = 0, "", [""], 0  # the line that goes on; a stream only while there is one
    for index, line in enumerate(wrapped):
        found = _CRI.match(line)
        # A line of several parts is no longer than any other piece of text.
        if stream and (found is None or found[2] != stream or length + len(lines[index]) > 32 * 1024):
            lines[first], stream = "".join(parts), ""
        if stream:
            parts.append(lines[index])
            length += len(lines[index])
            lines[index] = ""
        elif found and found[3] == "P":
            first, stream, parts, length = index, found[2], [lines[index]], len(lines[index])
        if stream and found and found[3] == "F":
            lines[first], stream = "".join(parts), ""
    if stream:
        lines[first] = "".join(parts)
    return lines


def _strip(line: str, arrived: float) -> tuple[str, float]:
    if found := _CRI.match(line):
        return line[found.end() :], _seconds(found[1], arrived)
    if not line.startswith(_DOCKER):
        return line, arrived
    try:
        wrapped = msgspec.json.decode(line, type=_DockerLine)
    except (msgspec.DecodeError, RecursionError):  # cut, nested too deeply, or another program's
        return line, arrived
    return wrapped.log.rstrip("\r\n"), _seconds(wrapped.time, arrived)


def _seconds(stamp: str, arrived: float) -> float:
    """Return `stamp` in seconds since 1970; `arrived` where it is no time, has no zone, or cannot be right."""
    try:
        wrote = datetime.fromisoformat(stamp)
        seconds = wrote.timestamp()
    except (ValueError, OverflowError):
        return arrived
    # A node's clock may be a day ahead. A job can print such lines itself, so later times are not trusted.
    return seconds if wrote.tzinfo and _EARLIEST <= seconds <= arrived + 86_400.0 else arrived


class Numbering(msgspec.Struct):
    """Position up to which the stream of a producer was read.

    Attributes:
        next_piece: Number of the first piece that was not seen yet.
        next_line: Line number of that piece.
        gaps: Ranges of pieces (first, last) that were passed over and may still come.
        updated: Arrival of the newest piece, in seconds since 1970.
    """

    next_piece: int = 1
    next_line: int = 1
    gaps: list[tuple[int, int]] = []
    updated: float = 0.0


class NewLines:
    """The pieces of a chunk that were not seen before.

    Attributes:
        lines: The pieces.
        numbers: Line number of each.
        times: Arrival of each, in seconds since 1970.
        repeats: Number of pieces left out as seen before.
    """

    __slots__ = ("lines", "numbers", "repeats", "times")

    def __init__(self, lines: Sequence[str], numbers: Sequence[int], times: Sequence[float], repeats: int) -> None:
        self.lines, self.numbers, self.times, self.repeats = lines, numbers, times, repeats


def deduplicate(chunk: Lines, state: Numbering) -> NewLines:
    """Return the new pieces of `chunk` and note them in `state`.

    A producer that starts again sends pieces again: those are left out. One that lost its broker may send a later chunk before an
    earlier one: the gap is remembered, and the earlier one is taken when it comes.
    """
    count = len(chunk.lines)
    if not count:  # a chunk without pieces: the stream is silent
        return NewLines([], [], [], 0)
    first = chunk.first_piece or state.next_piece
    numbers = line_numbers(chunk, chunk.first_line or state.next_line)
    times = _times(chunk)
    last = first + count - 1
    if first >= state.next_piece:
        if first > state.next_piece:
            # Newest 32 gaps of a producer: chunks of an older gap are left out as repeated.
            state.gaps = [*state.gaps, (state.next_piece, first - 1)][-32:]
        keep = slice(0, count)
    elif (gap := _gap(state, first, last)) is not None:
        keep = slice(gap[0] - first, gap[1] - first + 1)
    else:
        keep = slice(min(state.next_piece - first, count), count)
    if last >= state.next_piece:
        state.next_piece = last + 1
        state.next_line = numbers[-1] + (not _continues(chunk.lines[-1], count - 1, chunk.cut))
    state.updated = max(state.updated, times[-1])
    if keep == slice(0, count):
        return NewLines(chunk.lines, numbers, times, 0)
    return NewLines(chunk.lines[keep], numbers[keep], times[keep], count - len(chunk.lines[keep]))


def line_numbers(chunk: Lines, line: int) -> Sequence[int]:
    """Return the line number of each piece of `chunk`, of which the first is on line `line`."""
    lines = chunk.lines
    if not chunk.cut and not _redrawn(lines):
        return range(line, line + len(lines))
    numbers, cut = [], frozenset(chunk.cut)
    for index, piece in enumerate(lines):
        numbers.append(line)
        line += not _continues(piece, index, cut)
    return numbers


def _gap(state: Numbering, first: int, last: int) -> tuple[int, int] | None:
    """Take the part of a remembered gap that the pieces `first` to `last` fill."""
    for index, (low, high) in enumerate(state.gaps):
        if first <= high and last >= low:
            filled = max(first, low), min(last, high)
            rest = [(low, filled[0] - 1), (filled[1] + 1, high)]
            state.gaps[index : index + 1] = [part for part in rest if part[0] <= part[1]]
            return filled
    return None


def _continues(piece: str, index: int, cut: Collection[int]) -> bool:
    return piece.endswith("\r") or index in cut


def _redrawn(lines: Sequence[str]) -> bool:
    """Return whether a piece ends with a carriage return. One character is found in a whole chunk far faster than two are."""
    joined = "\n".join(lines)
    return "\r" in joined and ("\r\n" in joined or joined.endswith("\r"))


def _times(chunk: Lines) -> Sequence[float]:
    if len(chunk.after_ms) != len(chunk.lines):
        return [chunk.time] * len(chunk.lines)
    return [chunk.time + after / 1000 for after in chunk.after_ms]
