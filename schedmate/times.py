"""Moments in words: `3 minutes ago`, and `2h` or a date as the argument of `--since`."""

import re
import time
from datetime import datetime

from .settings.settings import SettingsError

_SUFFIXES = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def seconds_of(moment: datetime | None) -> float | None:
    """Return `moment` in seconds since 1970; None for None."""
    return None if moment is None else moment.timestamp()


def ago(moment: datetime, now: float | None = None) -> str:
    """Return how long ago `moment` was, in the largest unit that fits: `3 minutes ago`, `in 2 hours`, `now`."""
    seconds = (time.time() if now is None else now) - moment.timestamp()
    some = span(abs(seconds))
    if not some:
        return "now"
    return f"{some} ago" if seconds > 0 else f"in {some}"


def span(seconds: float) -> str:
    """Return a time in the largest unit that fits: `3 minutes`; nothing below a second."""
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        if count := int(seconds // size):
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return ""


def short_span(seconds: float) -> str:
    """Return a time as `45 s`, `21 min`, `2 h 10 min` or `3 d 4 h`; of a negative one `0 s`."""
    left = max(round(seconds), 0)
    if left < 60:
        return f"{left} s"
    minutes = left // 60
    if minutes < 60:
        return f"{minutes} min"
    (large, unit), (small, below) = (
        ((minutes // 1440, "d"), (minutes // 60 % 24, "h"))
        if minutes >= 1440
        else ((minutes // 60, "h"), (minutes % 60, "min"))
    )
    return f"{large} {unit} {small} {below}" if small else f"{large} {unit}"


def local(moment: datetime) -> str:
    """Return `moment` in this host's time, to the second."""
    return moment.astimezone().replace(tzinfo=None).isoformat(" ", "seconds")


def local_and_ago(moment: datetime) -> str:
    """Return both, for where there is room: `2026-11-22 19:59:06, 3 minutes ago`."""
    return f"{local(moment)}, {ago(moment)}"


def moment_at(seconds: float | None) -> datetime | None:
    """Return seconds since 1970 as a moment; None stays None, and so does what no calendar holds."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds).astimezone()
    except (OverflowError, ValueError, OSError):
        return None


def duration(text: str) -> float | None:
    """Return `90s`, `30m`, `2h`, `7d` or `2w` in seconds; None where it is none of these."""
    found = re.fullmatch(r"(\d{1,6})([smhdw])", text)
    return int(found[1]) * _SUFFIXES[found[2]] if found else None


def parse_since(text: str, now: float | None = None) -> float:
    """Return a duration (so long ago) or a date as seconds since 1970. Raises `SettingsError` where it is neither."""
    long_ago = duration(text)
    if long_ago is not None:
        return (time.time() if now is None else now) - long_ago
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        raise SettingsError(f"expected --since as 90s, 30m, 2h, 7d or 2026-11-22T10:00, got {text!r}") from None
