"""Hourly demand from public traces."""

import csv
import gzip
from collections import defaultdict
from datetime import date, datetime
from pathlib import Path

import numpy as np

from processors.spot.forecast import DemandHistory

LABOUR_DAY_2020 = frozenset(date(2020, 5, day) for day in range(1, 6))
"""China's May holidays."""
TAIL_H = 48
"""The spot trace's last hours, in which its jobs end without others being submitted."""


def helios_earth(traces: Path) -> DemandHistory:
    """Return the demand of Earth's 16 VCs in May 2020: GPUs running and pending, at most in each hour; attribute: the VC, its size."""
    peaks: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    size: dict[str, int] = {}
    with gzip.open(traces / "helios-earth" / "earth_vc_5min_2020-05.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            hours = peaks[row["vc"]]
            hour = row["time"][:13]
            hours[hour] = max(hours[hour], float(row["running_gpu_num"]) + float(row["pending_gpu_num"]))
            size[row["vc"]] = int(row["total_gpu_num"])
    names = sorted(peaks)
    demand = np.array([[peaks[name][hour] for hour in sorted(peaks[name])] for name in names])
    attributes = tuple((name, str(size[name].bit_length())) for name in names)
    return DemandHistory(demand, datetime(2020, 5, 1), attributes, LABOUR_DAY_2020)


def spot_2026(traces: Path) -> DemandHistory:
    """Return the GPUs of each of six models that were asked for in each hour of the spot trace.

    The trace names no date. Its hours count from an unknown one, so weekdays are right but for a shift.
    """
    path = traces / "spot-2026" / "outputs_extra__tables__hourly_concurrency_top_models.csv"
    with path.open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    demand = np.array([[float(value) for value in row[1:]] for row in rows[1:-TAIL_H]]).T
    return DemandHistory(
        np.maximum(demand, 0.0), datetime(2024, 1, 1), tuple((name, "A" * name.startswith("A")) for name in rows[0][1:])
    )
