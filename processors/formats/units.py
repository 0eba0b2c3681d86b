"""Units of times and rates in answers about formats, and their factors."""

from schedmate_records import ColumnRole

from ..grammar.units import SAMPLES, STEPS, TOKENS

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0, "h": 3600.0}
"""Seconds of each unit of time."""

RATES: dict[str, tuple[str, float]] = {
    f"{thing}/{per}": (kind, 1.0 / SECONDS[per])
    for thing, kind in (("steps", STEPS), ("samples", SAMPLES), ("tokens", TOKENS))
    for per in ("s", "min", "h")
}
"""Counted items of each unit of a rate, and its factor to one per second."""

PERIODS = {"s/step": 1.0, "ms/step": 1e-3}
"""Seconds of each unit of an inverse rate, as progress bars print it for slow steps."""

NONE = "none"
UNITS = (NONE, *SECONDS, *RATES, *PERIODS)

TIMES = (ColumnRole.STEP_TIME, ColumnRole.REPORT_TIME, ColumnRole.ELAPSED)


def fits(role: ColumnRole, unit: str) -> bool:
    """Return whether numbers of `role` can have `unit`."""
    if role in TIMES:
        return unit in SECONDS
    if role is ColumnRole.RATE:
        return unit in RATES or unit in PERIODS
    return unit == NONE
