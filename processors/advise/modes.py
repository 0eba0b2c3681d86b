"""The modes of past durations, such as "fails within a minute" and "runs to the end"."""

from collections.abc import Sequence
from math import expm1, log, log1p

from schedmate_records import DurationMode

from .time_limit import within_limit

FEWEST = 8
"""Minimum number of durations for several modes. With fewer, a gap is often chance."""
_GAP = log(3)
"""Gap between two modes, in ln(1 + duration): a factor of 3. Chosen on two public traces, where shares agree with later jobs."""
_SHARE = 0.1
"""Minimum share of a mode; a smaller group joins the nearest mode."""


def duration_modes(durations: Sequence[float], time_limit_s: float = 0.0) -> list[DurationMode]:
    """Return the modes of durations in seconds, the shortest first; an empty list for one mode, or too few durations."""
    if len(durations) < FEWEST:
        return []
    logs = sorted(log1p(max(0.0, within_limit(each, time_limit_s))) for each in durations)
    cuts = [place for place in range(1, len(logs)) if logs[place] - logs[place - 1] > _GAP]
    parts = [logs[start:end] for start, end in zip([0, *cuts], [*cuts, len(logs)], strict=True)]
    while len(parts) > 1:
        place = min(range(len(parts)), key=lambda each: len(parts[each]))
        if len(parts[place]) >= max(2.0, _SHARE * len(logs)):
            break
        following = _nearer_is_next(parts, place)
        first = place if following else place - 1
        parts[first : first + 2] = [parts[first] + parts[first + 1]]
    if len(parts) == 1:
        return []
    return [DurationMode(len(part) / len(logs), expm1(part[0]), expm1(part[-1])) for part in parts]


def _nearer_is_next(parts: Sequence[Sequence[float]], place: int) -> bool:
    """Return whether the part after `place` is nearer to it than the part before."""
    if place in (0, len(parts) - 1):
        return place == 0
    return parts[place + 1][0] - parts[place][-1] < parts[place][0] - parts[place - 1][-1]
