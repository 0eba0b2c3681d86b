"""View of a live cluster for GFS."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from processors.spot.kept_hours import Span, eviction_rate

from .census import Census


@dataclass(frozen=True)
class LiveView:
    """A `processors.spot.manager.QuotaView`.

    Attributes:
        now: Seconds since 1970.
        census: Who has and wants GPUs.
        past: Demand by organisation in each past hour.
        runs: When spot jobs started, and when they ended or were last seen, in seconds since 1970.
        evictions: When spot jobs were evicted.
        held_since: Since when spot jobs wait that are held.
    """

    now: float
    census: Census
    past: Mapping[str, Sequence[float]]
    runs: Sequence[Span]
    evictions: Sequence[float]
    held_since: Sequence[float]

    @property
    def capacity(self) -> float:
        """GPUs of all nodes that are up."""
        return self.census.capacity

    @property
    def idle(self) -> float:
        """GPUs without a job."""
        return self.census.idle

    @property
    def spot_gpus(self) -> float:
        """GPUs of spot jobs."""
        return self.census.spot_gpus

    def eviction_rate(self, window_s: float, period_s: float) -> float:
        """Return how often the guarantee was broken in the last `window_s` seconds."""
        since = self.now - window_s
        return eviction_rate(self.runs, sum(at > since for at in self.evictions), since, period_s)

    def longest_wait_s(self) -> float:
        """Return for how long the spot job that waits longest has waited."""
        since = [*(job.since for job in self.census.spot_waiting), *self.held_since]
        return max((self.now - at for at in since), default=0.0)

    def demand(self) -> Mapping[str, Sequence[float]]:
        """Return, by organisation, the GPUs that its jobs had or waited for at most in each past hour, oldest first."""
        return self.past
