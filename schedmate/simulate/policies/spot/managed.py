"""Any spot manager as a policy. The simulator shows it the cluster as the live system does, and follows its decisions."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from processors.eviction import NodeResources, Share

from ...cluster import Cluster
from ...job import Job, JobClass, Run
from ...simulation import Simulation
from .base import GRACE_S, SpotPolicy
from .eviction import PodEvictionPlan
from .state import HOUR, SpotState
from .waiting import WaitingQueue

QUOTA_EVERY_S = 300.0
"""Between two updates of the quota (GFS, Table 4)."""
HISTORY_H = 24 * 7 * 4
"""Hours of demand that a manager is shown."""


class PodRequest(msgspec.Struct, frozen=True):
    """A job that is to be placed.

    Attributes:
        job_id: Its name.
        pods: Pods, all placed or none.
        gpus: GPUs of each pod; below 1 a share of one.
        gpu_type: The model it needs; empty: any.
        spot: It is a spot job.
    """

    job_id: str
    pods: int
    gpus: float
    gpu_type: str
    spot: bool


class SpotJobView(msgspec.Struct, frozen=True):
    """A spot job that runs.

    Attributes:
        job_id: Its name.
        gpus: GPUs of it, by node.
        started_s: When its present run started.
        unsaved_s: Seconds of work since its last checkpoint: t less t-check of GFS, Eq. 17.
        evictions: Number of evictions so far.
    """

    job_id: str
    gpus: Mapping[int, float]
    started_s: float
    unsaved_s: float
    evictions: int


class SpotNodeView(msgspec.Struct, frozen=True):
    """A node that is up.

    Attributes:
        index: Its number.
        gpus: GPUs in it.
        gpu_type: Their model.
        idle: GPUs without a job.
        hp_gpus: GPUs of high-priority jobs.
        spot_gpus: GPUs of spot jobs.
        evictions_1h: Spot jobs evicted from it in the last hour (e-short of Eq. 15).
        evictions_24h: In the last day (e-long).
        spot: Spot jobs on it.
    """

    index: int
    gpus: int
    gpu_type: str
    idle: int
    hp_gpus: float
    spot_gpus: float
    evictions_1h: int
    evictions_24h: int
    spot: Sequence[SpotJobView]


class NodeCapacity(msgspec.Struct, frozen=True):
    """Capacity of a node: GPUs. The simulator has no other resources.

    Attributes:
        gpus: GPUs in it.
        cpus: None are asked for.
        memory: None is asked for.
    """

    gpus: int
    cpus: float = 0.0
    memory: float = 0.0


class ClusterView:
    """The cluster at one moment. What is asked for is worked out then, so that a look at one node costs one node.

    Args:
        cluster: The nodes.
        state: Who is on them.
        waiting: Spot jobs that wait.
        now: The time.

    Attributes:
        now: The time, in seconds. Hours are whole hours since 0.
    """

    def __init__(self, cluster: Cluster, state: SpotState, waiting: WaitingQueue, now: float) -> None:
        self._cluster = cluster
        self._state = state
        self._waiting = waiting
        self.now = now

    @property
    def capacity(self) -> int:
        """GPUs of all nodes that are up (C of Eq. 9)."""
        return self._cluster.capacity

    @property
    def idle(self) -> int:
        """GPUs without a job (S0 of Eq. 10)."""
        return self._cluster.free

    @property
    def spot_gpus(self) -> float:
        """GPUs of spot jobs (Sa of Eq. 10)."""
        return self._state.spot_gpus

    @property
    def spot_ended(self) -> int:
        """Spot runs that came to their end so far (G of Eq. 18)."""
        return self._state.ended

    @property
    def spot_evicted(self) -> int:
        """Spot runs that were evicted so far (F of Eq. 18)."""
        return self._state.evicted

    def eviction_rate(self, window_s: float, period_s: float) -> float:
        """Return how often the guarantee was broken in the last `window_s` seconds (e of Eq. 11)."""
        return self._state.eviction_rate(self.now, window_s, period_s)

    def longest_wait_s(self) -> float:
        """Return for how long the spot job that waits longest has waited (l of Eq. 11)."""
        return self._waiting.longest_wait(self.now)

    def demand(self) -> Mapping[str, Sequence[float]]:
        """Return, by organisation, the GPUs that its high-priority jobs had or waited for at most in each past hour, oldest first."""
        return self._state.past_demand(self.now, HISTORY_H)

    def nodes_with(self, idle: int) -> Sequence[int]:
        """Return the nodes that have exactly so many idle GPUs, by number."""
        by_free = self._cluster.by_free
        return by_free[idle] if idle < len(by_free) else ()

    @property
    def largest(self) -> int:
        """GPUs of the largest node."""
        return self._cluster.largest

    def node(self, index: int) -> SpotNodeView:
        """Return what is on a node."""
        node = self._state.nodes[index]
        return SpotNodeView(
            index=index,
            gpus=node.gpus,
            gpu_type=node.gpu_type,
            idle=self._cluster.nodes[index].free,
            hp_gpus=node.hp_gpus,
            spot_gpus=node.spot_gpus,
            evictions_1h=node.evictions(self.now, HOUR),
            evictions_24h=node.evictions(self.now, 24 * HOUR),
            spot=[self._spot(run) for run in node.spot.values()],
        )

    def nodes(self) -> Sequence[SpotNodeView]:
        """Return all nodes that are up."""
        return [self.node(node.index) for node in self._cluster.nodes if node.up]

    def capacity_of(self, index: int) -> NodeResources:
        """Return what a node has."""
        return NodeCapacity(self._state.nodes[index].gpus)

    def shares_by_job(self) -> Mapping[str, Mapping[str, Share]]:
        """Return what each job holds, by id and the number of the node as text."""
        return self._state.held

    def nodes_with_spot(self) -> Sequence[int]:
        """Return the nodes that are up and have spot jobs."""
        return [node.index for node in self._state.nodes if node.spot and self._cluster.nodes[node.index].up]

    def _spot(self, run: Run) -> SpotJobView:
        gpus: dict[int, float] = {}
        for piece in run.placement:
            gpus[piece.node] = gpus.get(piece.node, 0.0) + len(piece.gpus) * piece.share
        return SpotJobView(run.job.job_id, gpus, run.started, run.unsaved(self.now), run.evictions)


class SpotManager(Protocol):
    """Decides for spot jobs; pure: it knows no simulator and no scheduler. GFS is one.

    The simulator asks for one pod at a time, and shows the cluster with the pods before it placed.

    Attributes:
        evict_every_s: Seconds between two times when spot jobs may be evicted; 0: always.
    """

    evict_every_s: float

    def order(self, request: PodRequest, submit_s: float) -> tuple[float, ...]:
        """Return what waiting jobs are sorted by."""

    def quota(self, view: ClusterView) -> float:
        """Return the GPUs that spot jobs may have until the next update (Eq. 9 to 11)."""

    def choose(self, view: ClusterView, request: PodRequest) -> int | None:
        """Return the node for one pod of whole GPUs, without evictions (Algorithm 1); None where none suits."""

    def evictions(self, view: ClusterView, request: PodRequest) -> tuple[Sequence[str], Sequence[int]] | None:
        """Return who goes for a high-priority job, and the node of each of its pods then (Algorithm 2); None where nothing helps."""


class Managed(SpotPolicy):
    """A spot manager in the simulator.

    Args:
        manager: Who decides.
        grace_s: Between the notice of an eviction and the job's end.
        past: By organisation, the demand of high-priority jobs in each hour from second 0 to where the simulation begins.
    """

    def __init__(
        self, manager: SpotManager, grace_s: float = GRACE_S, past: Mapping[str, Sequence[float]] | None = None
    ) -> None:
        super().__init__(grace_s)
        self.state = SpotState(past)
        self.manager = manager
        self.evict_every_s = manager.evict_every_s
        self.quota = 0.0
        self._due = float("-inf")

    def hp_key(self, run: Run) -> tuple[float, ...]:
        """Ask the manager."""
        return (*self.manager.order(_request(run.job), run.job.submit_s), run.order)

    def spot_key(self, run: Run) -> tuple[float, ...]:
        """Ask the manager."""
        return self.hp_key(run)

    def before(self, simulation: Simulation) -> float | None:
        """Update the quota when it is due; wake up for that while spot jobs wait."""
        if simulation.now >= self._due:
            self.quota = self.manager.quota(self._view(simulation.cluster))
            self._due = simulation.now - simulation.now % QUOTA_EVERY_S + QUOTA_EVERY_S
        return self._due if self.waiting_spot else None

    def may_start(self, simulation: Simulation, run: Run) -> bool:
        """Return whether the quota has room for it."""
        return self.state.spot_gpus + run.job.total_gpus <= self.quota

    def choose(self, cluster: Cluster, job: Job) -> int | None:
        """Ask the manager."""
        return self.manager.choose(self._view(cluster), _request(job))

    def plan(self, cluster: Cluster, job: Job) -> PodEvictionPlan | None:
        """Ask the manager."""
        answer = self.manager.evictions(self._view(cluster), _request(job))
        if answer is None:
            return None
        running = {run.job.job_id: run for node in self.state.nodes for run in node.spot.values()}
        return PodEvictionPlan([running[victim] for victim in answer[0]], list(answer[1]))

    def _view(self, cluster: Cluster) -> ClusterView:
        return ClusterView(cluster, self.state, self.waiting_spot, self.now)


def _request(job: Job) -> PodRequest:
    return PodRequest(job.job_id, job.pods, job.gpus, job.gpu_type, job.job_class is JobClass.SPOT)
