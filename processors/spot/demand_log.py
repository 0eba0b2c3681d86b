"""Past demand by organisation and hour, as far back as forecasts look."""

from collections.abc import Mapping, Sequence

from .settings import CLUSTER, HOUR

LONGEST_GAP_H = 6
"""Maximum gap without observations, in hours, in which demand is assumed constant. History before a longer gap is ignored."""


class DemandLog:
    """The most GPUs that each organisation had or waited for in each hour.

    Observations may come in any order and any number of times.

    Args:
        hours: Hours that are kept.
    """

    def __init__(self, hours: int) -> None:
        self._keep = hours
        self._peaks: dict[int, dict[str, float]] = {}

    def observe(self, time: float, demand: Mapping[str, float]) -> None:
        """Take in what was wanted at a time in GPUs, by organisation; who is not named wanted nothing.

        Args:
            time: Seconds since second 0.
            demand: GPUs.
        """
        peaks = self._peaks.setdefault(int(time // HOUR), {})
        for organisation, gpus in {**demand, CLUSTER: sum(demand.values())}.items():
            peaks[organisation] = max(gpus, peaks.get(organisation, 0.0))
        for hour in [hour for hour in self._peaks if hour <= max(self._peaks) - self._keep - 1]:
            del self._peaks[hour]

    def past_peaks(self, now: float) -> Mapping[str, Sequence[float]]:
        """Return the peaks of each past hour, oldest first, as many for each organisation; empty after a gap that is too long.

        Args:
            now: Seconds since second 0; its hour is not yet past.
        """
        present = int(now // HOUR)
        rows: list[dict[str, float]] = []
        unseen = 0
        for hour in range(present - 1, present - 1 - self._keep, -1):
            if (peaks := self._peaks.get(hour)) is None:
                unseen += 1
                if unseen > LONGEST_GAP_H:
                    break
                continue
            rows += [peaks] * (unseen + 1)  # an hour without an observation counts as the one before
            unseen = 0
        names = sorted({name for row in rows for name in row})  # with `CLUSTER`
        return {name: [row.get(name, 0.0) for row in reversed(rows)] for name in names}
