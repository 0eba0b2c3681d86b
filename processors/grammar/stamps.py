"""Printed time stamps, in seconds."""

import re
from datetime import UTC, datetime
from functools import lru_cache

DAY = 86400.0  # seconds

_FORMS = {
    "clock": re.compile(r"(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?: ([AP]M))?"),
    "year_first": re.compile(r"(\d{4})[-/.](\d\d)[-/.](\d\d)"),
    "year_last": re.compile(r"(\d\d)[-/](\d\d)[-/](\d{2,4})\b"),
    "day_only": re.compile(r"^(\d\d)[-/]?(\d\d)\b(?![:/-])"),
    "month": re.compile(r"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +(\d+)"),
}
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def seconds(stamp: str) -> float | None:
    """Return `stamp` in seconds since an epoch of its own; None where it cannot be read.

    Only differences mean something. A time without a date counts from midnight, one without a year from 1 January 2000.
    """
    clock = _FORMS["clock"].search(stamp)
    if clock is None:
        return None
    hour, minute, second, fraction, half = clock.groups()
    hours = int(hour) % 12 + (12 if half == "PM" else 0) if half else int(hour)
    of_day = hours * 3600 + int(minute) * 60 + int(second) + (float(f"0.{fraction}") if fraction else 0.0)
    try:
        return of_day + _date(stamp[: clock.start()], stamp[clock.end() :])
    except ValueError:
        return of_day


@lru_cache(maxsize=1024)
def _date(before: str, after: str) -> float:
    """Return the day before or after a time, in seconds. Cached, because neighbouring lines are mostly of one day."""
    if found := _FORMS["year_first"].search(before):
        year, month, day = int(found[1]), int(found[2]), int(found[3])
    elif found := _FORMS["year_last"].search(before):
        year, month, day = int(found[3]) % 100 + 2000, int(found[1]), int(found[2])
        if month > 12:
            month, day = day, month
    elif found := _FORMS["month"].search(before + after):
        year, month, day = 2000, _MONTHS.index(found[1]) + 1, int(found[2])
    elif found := _FORMS["day_only"].search(before):
        year, month, day = 2000, int(found[1]), int(found[2])
    else:
        return 0.0
    return datetime(year, month, day, tzinfo=UTC).timestamp()


def difference(earlier: float, later: float) -> float:
    """Return the seconds from one stamp to a later one; a time of day that falls back has passed midnight."""
    passed = later - earlier
    return passed + DAY if passed < -DAY / 2 and later < DAY and earlier < DAY else passed
