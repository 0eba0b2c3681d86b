"""GFS: forecast, quota, order of waiting jobs, placement and preemption as one object for a simulator and a live service.

The caller does what Algorithm 3 does besides ordering: the quota applies to spot jobs only, a place without evictions is preferred
(`placement`), and spot jobs are evicted for a high-priority job (`preemption`). See `schedmate/simulate/policies/spot/`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ..eviction import NodeResources, Share
from .cluster import Node, Request
from .estimator import DemandEstimator, DemandForecast, Estimator
from .forecast.demand import Floats
from .placement import choose_node
from .preemption import SpotHistory, preempt
from .settings import HOUR, GfsSettings


def order(request: Request, submit_s: float) -> tuple[float, float, float]:
    """Return what waiting jobs are sorted by: GPUs, pods, submission (section 3.4.2), large ones first.

    The paper does not name a direction. Large pods are those that fragmentation keeps out, so they come first.
    """
    return -request.gpus, -request.pods, submit_s


class QuotaView(Protocol):
    """Inputs of the quota."""

    @property
    def now(self) -> float:
        """Seconds since second 0."""

    @property
    def capacity(self) -> float:
        """GPUs of all nodes that are up."""

    @property
    def idle(self) -> float:
        """GPUs without a job."""

    @property
    def spot_gpus(self) -> float:
        """GPUs of spot jobs."""

    def eviction_rate(self, window_s: float, period_s: float) -> float:
        """Return how often the guarantee was broken in the last `window_s` seconds. See `kept_hours.eviction_rate`."""

    def longest_wait_s(self) -> float:
        """Return for how long the spot job that waits longest has waited."""

    def demand(self) -> Mapping[str, Sequence[float]]:
        """Return, by organisation, the GPUs that its jobs had or waited for at most in each past hour, oldest first.

        The key `CLUSTER` has the same of all jobs together.
        """


class ClusterView(QuotaView, Protocol):
    """The cluster at one moment."""

    @property
    def spot_ended(self) -> int:
        """Spot runs that came to their end so far."""

    @property
    def spot_evicted(self) -> int:
        """Spot runs that were evicted so far."""

    @property
    def largest(self) -> int:
        """GPUs of the largest node."""

    def nodes_with(self, idle: int) -> Sequence[int]:
        """Return the nodes that have exactly so many idle GPUs, by number."""

    def node(self, index: int) -> Node:
        """Return what is on a node."""

    def nodes(self) -> Sequence[Node]:
        """Return all nodes that are up."""

    def capacity_of(self, index: int) -> NodeResources:
        """Return what a node has."""

    def shares_by_job(self) -> Mapping[str, Mapping[str, Share]]:
        """Return what each job holds, by id and the number of the node as text."""


@dataclass(frozen=True)
class SpotQuota:
    """A quota, and what it rests on.

    Attributes:
        gpus: GPUs that spot jobs may have until the next update (Eq. 10).
        available: GPUs that high-priority jobs will not want (Eq. 9).
        safety: The safety coefficient eta (Eq. 11).
        eviction_rate: Evictions over evictions and guaranteed periods that were kept, in the last hours.
        longest_wait_s: For how long the spot job that waits longest has waited.
        forecast: Demand of high-priority jobs.
    """

    gpus: float
    available: float
    safety: float
    eviction_rate: float
    longest_wait_s: float
    forecast: DemandForecast


class Gfs:
    """The spot manager of GFS.

    Args:
        start: The date and hour of second 0.
        settings: Parameters.
        estimator: Who forecasts.

    Attributes:
        safety: The safety coefficient eta of Eq. 10, as of the last update.
        evict_every_s: Seconds between two times when spot jobs may be evicted; 0: always.
    """

    evict_every_s = 0.0

    def __init__(
        self,
        start: datetime = datetime(2024, 1, 1),
        settings: GfsSettings = GfsSettings(),  # noqa: B008 -- frozen
        estimator: Estimator | None = None,
    ) -> None:
        self.settings = settings
        self.safety = 1.0
        self._estimator = estimator or DemandEstimator(start)

    def order(self, request: Request, submit_s: float) -> tuple[float, ...]:
        """Return what waiting jobs are sorted by. See `scheduler.order`."""
        return order(request, submit_s)

    def quota(self, view: QuotaView) -> float:
        """Return the GPUs that spot jobs may have until the next update (Eq. 9 to 11)."""
        return self.assess(view).gpus

    def assess(self, view: QuotaView) -> SpotQuota:
        """Return the same, with what it rests on."""
        settings = self.settings
        present = view.capacity - view.idle - view.spot_gpus
        forecast = self._estimator.forecast(view.demand(), present, view.now, settings.guarantee, settings.guaranteed_h)
        rate = view.eviction_rate(settings.eviction_window_h * HOUR, settings.guaranteed_h * HOUR)
        wait = view.longest_wait_s()
        self.safety = next_safety(self.safety, rate, wait, settings)
        available = inventory(view.capacity, forecast.total)
        quota = spot_quota(available, self.safety, view.idle, view.spot_gpus)
        return SpotQuota(quota, available, self.safety, rate, wait, forecast)

    def choose(self, view: ClusterView, request: Request) -> int | None:
        """Return the node for one pod, without evictions (Algorithm 1); None where none suits.

        Nodes are looked at by their idle GPUs, fewest first, and no further than score 1 can still grow.
        """
        best: Node | None = None
        for idle in range(max(1, int(request.gpus)), view.largest + 1):
            if best is not None and best.idle / best.gpus < idle / view.largest:
                break
            nodes = [view.node(index) for index in view.nodes_with(idle)]
            best = choose_node(nodes if best is None else [best, *nodes], request, self.settings)
        return None if best is None else best.index

    def evictions(self, view: ClusterView, request: Request) -> tuple[Sequence[str], Sequence[int]] | None:
        """Return who goes for a high-priority job, and the node of each of its pods then (Algorithm 2); None where nothing helps."""
        history = SpotHistory(view.spot_ended, view.spot_evicted, view.capacity * max(view.now, HOUR))
        plan = preempt(view.nodes(), request, history, self.settings)
        return None if plan is None else (plan.victims, plan.nodes)


def inventory(capacity: float, total: Floats) -> float:
    """Return f(p, H): the GPUs that high-priority jobs will not need in the guaranteed hours (Eq. 9).

    Eq. 9 as printed differs in two ways. It reads C - max(C, ...), which is never positive; the text states that the inventory is 0 if
    demand exceeds C, so this uses min. It adds the p-quantiles of the organisations, which assumes that all of them peak together; the
    authors' published code takes one quantile of the cluster's demand (Sjtucitlab/Spot, `update_spot_quota`), and so does this. Their code
    adds means and variances of the organisations; here the total is forecast directly, which assumes nothing of their correlation.

    Args:
        capacity: GPUs of the cluster (C).
        total: p-quantile of the cluster's demand in GPUs, one value for each hour.
    """
    return capacity - min(capacity, float(total.max()))


def spot_quota(available: float, safety: float, idle: float, spot_gpus: float) -> float:
    """Return the GPUs that spot jobs may have in all (Eq. 10).

    Args:
        available: f(p, H).
        safety: The safety coefficient eta.
        idle: GPUs without a job (S0).
        spot_gpus: GPUs of spot jobs (Sa).
    """
    return min(available * safety, idle + spot_gpus)


def next_safety(safety: float, eviction_rate: float, longest_wait_s: float, settings: GfsSettings) -> float:
    """Return the safety coefficient for the next interval (Eq. 11), within its bounds.

    As printed, the eviction rate is compared with the guarantee p = 0.9. A rate of 0.9 is no target: what is meant is the rate that the
    guarantee tolerates, 1 - p.

    Args:
        safety: The present one.
        eviction_rate: Evictions over evictions and guaranteed periods that were kept (e).
        longest_wait_s: Longest wait of a spot job in that time, in seconds (l).
        settings: Guarantee, threshold and bounds.
    """
    tolerated = 1 - settings.guarantee
    if eviction_rate > 1.5 * tolerated:
        safety *= tolerated / eviction_rate
    elif eviction_rate < 0.5 * tolerated and longest_wait_s > settings.long_wait_s:
        safety *= 1.5 - eviction_rate / tolerated
    return min(max(safety, settings.least_safety), settings.most_safety)
