"""The curves of a job as numbers, for the script that draws them under a reader's pointer."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec

from .timeline import Curve


class Numbers(NamedTuple):
    """One curve: `values` at the moments `at` (seconds since 1970), null between attempts; `ends` of its axis where they are fixed."""

    title: str
    ends: tuple[float | None, float | None]
    at: list[float]
    values: list[float | None]


class Event(NamedTuple):
    """Something that happened `at` a moment: its group, which has a colour, and what it says."""

    at: float
    group: str
    text: str


def numbers_of(curve: Curve, title: str, ends: tuple[float | None, float | None], span: tuple[float, float]) -> Numbers:
    """Return the numbers of `curve`, on an axis of time over all of `span`."""
    points = [(span[0], None), *_with_gaps(curve), (span[1], None)]
    return Numbers(title, ends, [round(at, 3) for at, _ in points], [value for _, value in points])


def encoded(curves: Sequence[Numbers], events: Sequence[Event]) -> str:
    """Return what the script reads."""
    told = {"curves": [each._asdict() for each in curves], "events": [each._asdict() for each in events]}
    return msgspec.json.encode(told).decode()


def _with_gaps(curve: Curve) -> Iterator[tuple[float, float | None]]:
    points = sorted(curve.points)
    for (at, value, attempt), (then, _, next_attempt) in pairwise([*points, points[-1]]):
        yield at, float(f"{value:.6g}")
        if attempt != next_attempt:
            yield (at + then) / 2, None
