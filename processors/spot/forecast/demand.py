"""Hourly demand of organisations, and the windows that a forecaster learns from."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class DemandHistory:
    """GPUs that each organisation's high-priority jobs had or waited for, at most in each hour.

    Attributes:
        demand: GPUs, organisations x hours, oldest first.
        start: Start of the first hour, in the time zone whose hours people work by.
        attributes: Business attributes of each organisation (cluster, GPU model, ...), as many for each.
        holidays: Days that count as holidays.

    Raises:
        ValueError: The shapes do not agree, or a demand is not finite.
    """

    demand: Floats
    start: datetime
    attributes: tuple[tuple[str, ...], ...]
    holidays: frozenset[date] = frozenset()

    def __post_init__(self) -> None:
        if self.demand.ndim != 2 or len(self.attributes) != len(self.demand):
            raise ValueError(
                f"expected demand of organisations x hours and attributes of each organisation, "
                f"got shape {self.demand.shape} and {len(self.attributes)} organisations' attributes"
            )
        if any(len(one) != len(other) for one, other in pairwise(self.attributes)):
            raise ValueError("expected as many attributes of each organisation")
        if not np.isfinite(self.demand).all():
            raise ValueError("expected finite demand, got NaN or infinity")

    @property
    def hours(self) -> int:
        """Hours that are known."""
        return int(self.demand.shape[1])

    def first_hours(self, hours: int) -> "DemandHistory":
        """Return the first `hours` hours."""
        return DemandHistory(self.demand[:, :hours], self.start, self.attributes, self.holidays)

    def windows(self, length: int, horizon: int, first: int, last: int) -> "Windows":
        """Return a window for each organisation and each forecast made at the start of an hour from `first` to before `last`.

        Args:
            length: Hours looked back on.
            horizon: Hours forecast; those not yet known are NaN.
            first: First hour forecast, counted from the start of the history.
            last: One after the last one.

        Raises:
            ValueError: There is not enough history before `first`.
        """
        if first < length or last > self.hours + 1:
            raise ValueError(f"expected hours between {length} and {self.hours + 1}, got {first} to {last}")
        made = np.arange(first, last)
        padded = np.pad(self.demand, ((0, 0), (0, horizon)), constant_values=np.nan)
        past = padded[:, made[:, None] + np.arange(-length, 0)]
        future = padded[:, made[:, None] + np.arange(horizon)]
        organisation, hour = np.meshgrid(np.arange(len(self.demand)), made, indexing="ij")
        when = [self.start + timedelta(hours=int(each)) for each in made]
        calendar = np.array(
            [(each.hour, each.weekday(), each.date() in self.holidays) for each in when], dtype=np.int64
        )
        return Windows(
            past=past.reshape(-1, length),
            future=future.reshape(-1, horizon),
            organisation=organisation.ravel(),
            made=hour.ravel(),
            calendar=np.tile(calendar.reshape(-1, 3), (len(self.demand), 1)),
        )

    def next_window(self, length: int, horizon: int) -> "Windows":
        """Return one window for each organisation, whose future has not begun. See `windows`."""
        return self.windows(length, horizon, self.hours, self.hours + 1)


@dataclass(frozen=True)
class Windows:
    """Inputs of forecasts, and the demand that followed.

    Attributes:
        past: GPUs in the hours before, windows x length.
        future: GPUs in the hours forecast, windows x horizon; NaN where not known yet.
        organisation: Index of the organisation of each window.
        made: The first hour forecast, counted from the start of the history.
        calendar: Of that hour: hour of the day, weekday (Monday is 0), 1 on holidays; windows x 3.
    """

    past: Floats
    future: Floats
    organisation: Integers
    made: Integers
    calendar: Integers

    def __len__(self) -> int:
        return len(self.past)

    def select(self, which: Integers) -> "Windows":
        """Return some of the windows."""
        return Windows(
            self.past[which], self.future[which], self.organisation[which], self.made[which], self.calendar[which]
        )
