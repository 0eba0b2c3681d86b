"""State for spot policies: jobs on each node, evictions, and demand of each organisation."""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from itertools import chain

from processors.eviction import Share
from processors.spot.kept_hours import Span, eviction_rate
from processors.spot.settings import CLUSTER

from ...cluster import Cluster
from ...job import JobClass, Run, Slice

HOUR = 3600.0
"""Seconds of an hour."""
DAY = 24 * HOUR


class NodeState:
    """One node.

    Attributes:
        index: Its place in the cluster.
        gpus: GPUs in it.
        gpu_type: Their model.
        hp_gpus: GPUs of high-priority jobs; of shared ones the share.
        spot_gpus: GPUs of spot jobs.
        spot: Spot jobs on it, by their order in the trace.
        evicted_at: When spot jobs were evicted from it, for a day.
    """

    __slots__ = ("evicted_at", "gpu_type", "gpus", "hp_gpus", "index", "spot", "spot_gpus")

    def __init__(self, index: int, gpus: int, gpu_type: str) -> None:
        self.index = index
        self.gpus = gpus
        self.gpu_type = gpu_type
        self.hp_gpus = 0.0
        self.spot_gpus = 0.0
        self.spot: dict[int, Run] = {}
        self.evicted_at: deque[float] = deque()

    def evictions(self, now: float, window_s: float) -> int:
        """Return how many spot jobs were evicted from it in the last `window_s` seconds, at most a day."""
        return sum(1 for at in self.evicted_at if at > now - window_s)


class Demand:
    """GPUs that an organisation's high-priority jobs have or wait for, at their most in each hour.

    Args:
        past: Peaks of the hours from second 0 to where the simulation begins, oldest first.
    """

    def __init__(self, past: Sequence[float] = ()) -> None:
        self._now = 0.0
        self._first = 0
        self._peaks = list(past)

    def change(self, now: float, gpus: float) -> None:
        """Note that so many more are asked for, or fewer."""
        self._advance(now)
        self._now += gpus
        self._peaks[-1] = max(self._peaks[-1], self._now)

    def past_peaks(self, now: float, hours: int) -> list[float]:
        """Return the peaks of the last whole hours before `now`, oldest first; 0 before anything was known."""
        self._advance(now)
        last = int(now // HOUR) - self._first
        known = self._peaks[max(0, last - hours) : last]
        return [0.0] * (hours - len(known)) + known

    def _advance(self, now: float) -> None:
        hour = int(now // HOUR)
        if not self._peaks:
            self._first = hour
        self._peaks += [self._now] * (hour + 1 - self._first - len(self._peaks))


class SpotState:
    """Counts that follow every start, end and eviction of one partition.

    Args:
        past: Demand of organisations before the simulation begins. See `Demand`.

    Attributes:
        nodes: By index.
        spot_gpus: GPUs of all spot jobs.
        ended: Spot runs that came to their end (G of GFS, Eq. 18).
        evicted: Spot runs that were evicted (F of Eq. 18).
        demand: Of high-priority jobs, by organisation, and of all of them with the key `CLUSTER`.
        held: What each job holds, by id and the number of the node as text.
        freed: How often a job has given its GPUs back.
    """

    def __init__(self, past: Mapping[str, Sequence[float]] | None = None) -> None:
        self.nodes: list[NodeState] = []
        self.spot_gpus = 0.0
        self.ended = 0
        self.evicted = 0
        self.demand: dict[str, Demand] = defaultdict(Demand)
        self.demand.update({user: Demand(hours) for user, hours in (past or {}).items()})
        self._past: tuple[int, int, dict[str, list[float]]] | None = None
        self.held: dict[str, Mapping[str, Share]] = {}
        self.freed = 0
        self._placed: dict[int, tuple[Slice, ...]] = {}
        self._running: dict[int, float] = {}
        """Start of each running spot job, by its order in the trace."""
        self._ended: deque[Span] = deque()
        self._evictions: deque[float] = deque()

    def know(self, cluster: Cluster) -> None:
        """Look at the cluster's nodes, once."""
        if not self.nodes:
            self.nodes = [NodeState(node.index, node.spec.gpus, node.spec.gpu_type) for node in cluster.nodes]

    def change_demand(self, run: Run, now: float, gpus: float) -> None:
        """Note that a high-priority job asks for so many GPUs more, or fewer."""
        for name in (run.job.user, CLUSTER):
            self.demand[name].change(now, gpus)

    def past_demand(self, now: float, most: int) -> Mapping[str, Sequence[float]]:
        """Return the demand of each organisation in each past hour, at most the last `most`; worked out once an hour."""
        key = int(now // HOUR), len(self.demand)
        if self._past is None or self._past[:2] != key:
            hours = min(most, key[0])
            self._past = *key, {user: demand.past_peaks(now, hours) for user, demand in self.demand.items()}
        return self._past[2]

    def note_start(self, run: Run, now: float) -> None:
        """Note a start."""
        spot = run.job.job_class is JobClass.SPOT
        self._placed[run.order] = run.placement
        self.held[run.job.job_id] = _shares(run.placement)
        for piece in run.placement:
            node, gpus = self.nodes[piece.node], len(piece.gpus) * piece.share
            if spot:
                node.spot_gpus += gpus
                node.spot[run.order] = run
                self.spot_gpus += gpus
            else:
                node.hp_gpus += gpus
        if spot:
            self._running[run.order] = now

    def note_end(self, run: Run, now: float) -> None:
        """Note that a job has no GPUs any more; no matter if that was noted before."""
        spot = run.job.job_class is JobClass.SPOT
        self.held.pop(run.job.job_id, None)
        placement = self._placed.pop(run.order, ())
        self.freed += bool(placement)
        if (start := self._running.pop(run.order, None)) is not None:
            self._ended.append((start, now))
            while self._ended[0][1] < now - DAY:
                self._ended.popleft()
        for piece in placement:
            node, gpus = self.nodes[piece.node], len(piece.gpus) * piece.share
            if spot:
                node.spot_gpus -= gpus
                node.spot.pop(run.order, None)
                self.spot_gpus -= gpus
            else:
                node.hp_gpus -= gpus

    def note_eviction(self, run: Run, now: float) -> None:
        """Note that a spot job is evicted."""
        self.evicted += 1
        self._evictions.append(now)
        _forget(self._evictions, now)
        for index in {piece.node for piece in run.placement}:
            node = self.nodes[index]
            node.evicted_at.append(now)
            _forget(node.evicted_at, now)
        self.note_end(run, now)

    def eviction_rate(self, now: float, window_s: float, period_s: float) -> float:
        """Return how often the guarantee was broken in the last `window_s` seconds, at most a day."""
        since = now - window_s
        runs = chain(self._ended, ((start, now) for start in self._running.values()))
        return eviction_rate(runs, sum(1 for at in self._evictions if at > since), since, period_s)


def _shares(placement: Sequence[Slice]) -> Mapping[str, Share]:
    gpus: dict[str, dict[int, float]] = {}
    for piece in placement:
        gpus.setdefault(str(piece.node), {}).update(dict.fromkeys(piece.gpus, piece.share))
    return {node: Share(gpus=parts) for node, parts in gpus.items()}


def _forget(times: deque[float], now: float) -> None:
    while times and times[0] < now - DAY:
        times.popleft()
