"""Which pieces of a chunk are new, and which line each stands on."""

from collections.abc import Collection, Sequence

import msgspec

from records import Lines

MAX_GAPS = 32


class Numbering(msgspec.Struct):
    """How far one producer's stream was read.

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
    if not count:  # says that the stream is silent
        return NewLines([], [], [], 0)
    first = chunk.first_piece or state.next_piece
    numbers = line_numbers(chunk, chunk.first_line or state.next_line)
    times = _times(chunk)
    last = first + count - 1
    if first >= state.next_piece:
        if first > state.next_piece:
            state.gaps = [*state.gaps, (state.next_piece, first - 1)][-MAX_GAPS:]
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
    """Return the line number of each piece of `chunk`, of which the first stands on line `line`."""
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
