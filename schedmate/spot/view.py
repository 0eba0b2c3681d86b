"""What GFS sees of a live cluster when it sets the quota."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .census import Census


@dataclass(frozen=True)
class LiveView:
    """A `processors.spot.manager.QuotaView`.

    Attributes:
        now: Seconds since 1970.
        census: Who has and wants GPUs.
        past: Demand by organisation in each past hour.
        starts: When spot jobs started, in seconds since 1970.
        evictions: When spot jobs were evicted.
        held_since: Since when spot jobs wait that are held.
    """

    now: float
    census: Census
    past: Mapping[str, Sequence[float]]
    starts: Sequence[float]
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

    def eviction_rate(self, window_s: float) -> float:
        """Return evictions of each start of a spot job in the last seconds; 0 where there was none."""
        evictions = sum(at > self.now - window_s for at in self.evictions)
        return evictions / max(1, sum(at > self.now - window_s for at in self.starts))

    def longest_wait_s(self) -> float:
        """Return for how long the spot job that waits longest has waited."""
        since = [*(job.since for job in self.census.spot_waiting), *self.held_since]
        return max((self.now - at for at in since), default=0.0)

    def demand(self) -> Mapping[str, Sequence[float]]:
        """Return, by organisation, the GPUs that its jobs had or waited for at most in each past hour, oldest first."""
        return self.past
