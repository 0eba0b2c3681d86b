"""The remaining time of a running job, in words."""

from datetime import datetime
from typing import TYPE_CHECKING

from ..times import moment_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate_records import DurationMode
    from sinks.redis.status import JobStatus


def long(seconds: float) -> str:
    """Return a duration in its two largest units: `2 h 10 min`, `45 s`; of a negative one `0 s`."""
    left, parts = max(round(seconds), 0), list[str]()
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count or parts:
            parts.append(f"{count} {unit}" if count else "")
        if len(parts) == 2:
            break
    return " ".join(part for part in parts if part) or "0 s"


def remains(expected: float, low: float, high: float | None) -> str:
    """Return what is expected to remain, in seconds, and its interval: `2 h (1 h 50 min to 2 h 20 min)`.

    Without an upper end the log shows one loop that may be one of several.
    """
    if high is None:
        return f"{long(expected)} or more (of this loop)"
    return f"{long(expected)} ({long(low)} to {long(high)})"


def modes_in_words(modes: "Sequence[DurationMode]") -> str:
    """Return modes of durations as text: `22 % end within 1 min; otherwise 5 h to 9 h`; empty without any."""
    if len(modes) < 2:
        return ""
    first, *between, last = modes
    parts = [f"{first.share:.0%} end within {long(first.high_s)}".replace("%", " %")]
    parts += [f"{each.share:.0%} take {_span(each)}".replace("%", " %") for each in between]
    return f"{', '.join(parts)}; otherwise {_span(last)}"


def _span(mode: "DurationMode") -> str:
    low, high = long(mode.low_s), long(mode.high_s)
    return low if low == high else f"{low} to {high}"


def ends(moment: datetime, now: datetime) -> str:
    """Return when it ends, in this host's time: the hour alone on the same day."""
    local, today = moment.astimezone(), now.astimezone()
    return local.strftime("%H:%M" if local.date() == today.date() else "%Y-%m-%d %H:%M")


def left_s(status: "JobStatus", now: float) -> float | None:
    """Return the seconds expected to remain of a running job, below 0 where it is overdue; None where nothing is expected of it.

    Its progress counts, and before its first progress, how long the job was expected to run.
    """
    if status.ended is not None:
        return None
    made, expected = status.estimate_time, status.estimate_remaining_s
    if made is not None and expected is not None and status.estimate_attempt == status.attempt:
        return expected - (now - made)
    if status.state != "running" or status.started is None or status.estimate_duration_s is None:
        return None
    return status.estimate_duration_s - (now - status.started)


def remains_of(status: "JobStatus", now: float) -> str:
    """Return what remains of a running job, with its interval, and when it would end; empty where nothing is expected of it."""
    made, expected = status.estimate_time, status.estimate_remaining_s
    if made is None or expected is None or status.ended is not None or status.estimate_attempt != status.attempt:
        return ""
    low, high, since = status.estimate_remaining_low_s or 0.0, status.estimate_remaining_high_s, now - made
    if high is not None and since > high:
        return f"overdue for {long(since - high)}"
    words = remains(expected - since, low - since, None if high is None else high - since)
    end, today = moment_at(made + expected), moment_at(now)
    return f"{words}, until about {ends(end, today)}" if end and today and high is not None else words
