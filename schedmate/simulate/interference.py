"""Measured speeds of two jobs that share GPUs."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from .job import PackedWorkload
from .reading import Row, rows

MEDIUM, JUMBO = 0.95, 0.85
"""Mean speed when packed below which a workload counts as medium, and as jumbo (Lucid's packing analyzer, section 3.3)."""


class PackedSpeeds:
    """Speeds of pairs of workloads on one GPU, 1 being alone.

    Args:
        pairs: For two workloads, the speed of each when packed with the other.
    """

    def __init__(self, pairs: Mapping[tuple[PackedWorkload, PackedWorkload], tuple[float, float]]) -> None:
        self._pairs = pairs
        beside: dict[PackedWorkload, list[float]] = defaultdict(list)
        for (one, other), (speed, other_speed) in pairs.items():
            beside[one].append(speed)
            beside[other].append(other_speed)
        self._mean = {workload: sum(speeds) / len(speeds) for workload, speeds in beside.items()}

    @property
    def workloads(self) -> list[PackedWorkload]:
        """The workloads that were measured, in the order of the measurements."""
        return list(self._mean)

    def speeds_of(self, one: PackedWorkload | None, other: PackedWorkload | None) -> tuple[float, float]:
        """Return the speeds of two workloads that are packed together; 1 for pairs without a measurement, as in Lucid's simulator."""
        if one is None or other is None:
            return 1.0, 1.0
        if (one, other) in self._pairs:
            return self._pairs[one, other]
        second, first = self._pairs.get((other, one), (1.0, 1.0))
        return first, second

    def can_share(self, one: PackedWorkload | None, other: PackedWorkload | None) -> bool:
        """Return whether two workloads fit on one GPU, as far as anyone measured."""
        return min(self.speeds_of(one, other)) > 0

    def sharing_score(self, workload: PackedWorkload | None) -> int:
        """Return 0 for a workload that shares well, 1 for a medium one, 2 for a jumbo, and for one that was never measured."""
        mean = self._mean.get(workload) if workload else None
        if mean is None or mean < JUMBO:
            return 2
        return 1 if mean < MEDIUM else 0


def read_packed_speeds(file: Path) -> PackedSpeeds:
    """Read measured pairs in the columns of Lucid's `colocate_info.csv`.

    Raises:
        TraceError: A column is missing or a value is no number.
    """
    pairs: dict[tuple[PackedWorkload, PackedWorkload], tuple[float, float]] = {}
    for row in rows(file):
        one, other = _workload(row, "1"), _workload(row, "2")
        speed, other_speed = row.number("speed1"), row.number("speed2")
        if speed > 0 and other_speed > 0:
            pairs.setdefault((one, other), (speed, other_speed))
    return PackedSpeeds(pairs)


def _workload(row: Row, which: str) -> PackedWorkload:
    return PackedWorkload(
        model=row.text("model" + which),
        dataset=row.text("dataset" + which, ""),
        batch_size=int(row.number("batchsize" + which, 0)),
        amp=bool(row.number("amp" + which, 0)),
    )
