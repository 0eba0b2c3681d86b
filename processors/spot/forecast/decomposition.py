"""Trend and cycle of a series (GFS, Eq. 1 and 2)."""

import numpy as np

from processors.spot.forecast.demand import Floats


def moving_average(series: Floats, kernel: int) -> Floats:
    """Return the centred moving average along the last axis, the ends padded with their reflection (Eq. 1).

    Args:
        series: Any shape; the last axis is time and longer than half the kernel.
        kernel: Hours averaged; odd, so that the average has no phase.

    Raises:
        ValueError: The kernel is even, or the series too short to be reflected.
    """
    half = kernel // 2
    if kernel % 2 == 0 or series.shape[-1] <= half:
        raise ValueError(f"expected an odd kernel and more than {half} hours, got {kernel} and {series.shape[-1]}")
    padded = np.pad(series, [(0, 0)] * (series.ndim - 1) + [(half, half)], mode="reflect")
    # A sum of differences of running sums would lose digits where demand is large and flat.
    average: Floats = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=-1).mean(axis=-1)
    return average


def decompose(series: Floats, kernel: int) -> tuple[Floats, Floats]:
    """Return trend and cycle, which add up to the series (Eq. 1 and 2). See `moving_average`."""
    trend = moving_average(series, kernel)
    return trend, series - trend
