"""Common parts of policies for spot jobs: two queues, placement of gangs pod by pod, and evictions for high-priority jobs."""

import math
from collections import Counter
from collections.abc import Sequence

from ...cluster import Cluster
from ...job import Job, JobClass, Run, Slice
from ...placement import best_fit
from ...simulation import Simulation
from .eviction import PodEvictionPlan, plan_evictions
from .state import NodeState, SpotState
from .waiting import Size, WaitingQueue

GRACE_S = 30.0
"""Between the notice of an eviction and the job's end (GFS, section 1)."""


class SpotPolicy:
    """A base for policies for spot jobs. They choose the node of a pod, the jobs to evict for it, and when spot jobs may start.

    High-priority jobs come first, by `hp_key`; for one that does not fit, spot jobs are evicted if that helps. Spot jobs follow, by
    `spot_key`.

    Attributes:
        backfills: Jobs behind one that does not fit are tried.
        evict_every_s: Seconds between two times when spot jobs may be evicted, because GPUs may become free until then; 0: always.
        state: Who is where, and what was evicted.
        now: The time of the present decision, in seconds.
    """

    polls = False
    backfills = True
    evict_every_s = 0.0

    def __init__(self, grace_s: float = GRACE_S) -> None:
        self.grace_s = grace_s
        self.state = SpotState()
        self.now = 0.0
        self.waiting_hp = WaitingQueue(self.hp_key)
        self.waiting_spot = WaitingQueue(self.spot_key)
        self._unfit: tuple[tuple[int, int, bool], set[Size]] = (-1, -1, False), set()
        """Sizes of high-priority jobs that do not fit, and the state for which this holds."""
        self._room: Counter[int] = Counter()

    def hp_key(self, run: Run) -> tuple[float, ...]:
        """Return what waiting high-priority jobs are sorted by, the same as long as they wait; by default their submission."""
        return (run.job.submit_s, run.order)

    def spot_key(self, run: Run) -> tuple[float, ...]:
        """Return what waiting spot jobs are sorted by, the same as long as they wait; by default their submission."""
        return (run.job.submit_s, run.order)

    def choose(self, cluster: Cluster, job: Job) -> int | None:
        """Return the node for the next pod of a job of whole GPUs; by default the one with the fewest free GPUs that suffices."""
        for free in range(int(job.gpus), cluster.largest + 1):
            for index in cluster.by_free[free]:
                if job.gpu_type in {"", self.state.nodes[index].gpu_type}:
                    return index
        return None

    def plan(self, cluster: Cluster, job: Job) -> PodEvictionPlan | None:
        """Return who goes for a high-priority job; by default the youngest, from the node where the fewest must."""
        return plan_evictions(cluster, self.state, job, _age, _few)

    def may_start(self, simulation: Simulation, run: Run) -> bool:
        """Return whether a spot job may start now if it fits; by default it may."""
        return True

    def may_evict(self, simulation: Simulation) -> bool:
        """Return whether spot jobs may be evicted now."""
        return not self.evict_every_s or simulation.now % self.evict_every_s == 0

    def before(self, simulation: Simulation) -> float | None:
        """Act before jobs are started; return when to be asked again at the latest."""
        return None

    def submit(self, run: Run, now: float) -> None:
        """Queue a job."""
        self.state.note_end(run, now)
        if run.job.job_class is JobClass.HP:
            self.waiting_hp.add(run)
            if not run.runs:
                self.state.change_demand(run, now, run.job.total_gpus)
        else:
            self.waiting_spot.add(run)

    def ended(self, run: Run, now: float) -> None:
        """Count it."""
        self.state.note_end(run, now)
        if run.job.job_class is JobClass.HP:
            self.state.change_demand(run, now, -run.job.total_gpus)
        else:
            self.state.ended += 1

    def schedule(self, simulation: Simulation) -> float | None:
        """Start high-priority jobs, evicting where that helps, then spot jobs."""
        self.now = simulation.now
        self.state.know(simulation.cluster)
        again = self.before(simulation)
        if self.waiting_hp:
            self._start_waiting_hp(simulation)
        if self.waiting_spot:
            self.waiting_spot.start(lambda run: self._start_spot(simulation, run), backfills=self.backfills)
        if self.evict_every_s and self.waiting_hp and self.state.spot_gpus:
            evicts_at = (math.floor(self.now / self.evict_every_s) + 1) * self.evict_every_s
            again = evicts_at if again is None else min(again, evicts_at)
        return again

    def _start_waiting_hp(self, simulation: Simulation) -> None:
        """Try high-priority jobs. A size that did not fit is tried again after a job has ended, or evictions have become possible."""
        cluster = simulation.cluster
        state = (self.state.freed, cluster.capacity, self.may_evict(simulation))
        if self._unfit[0] != state:
            self._unfit = state, set()
            self._room = Counter(
                node.gpus - math.ceil(node.hp_gpus - 1e-9) for node in self.state.nodes if cluster.nodes[node.index].up
            )
        without = self._unfit[1] if self.backfills else ()
        unfit = self.waiting_hp.start(
            lambda run: self._start_hp(simulation, run), backfills=self.backfills, without=without
        )
        self._unfit[1].update(unfit)

    def _has_room(self, job: Job) -> bool:
        """Return whether a job could fit if no spot job were there. Starts since the room was counted only make it smaller."""
        need = max(1, int(job.gpus))
        return sum(count * (room // need) for room, count in self._room.items()) >= job.pods

    def _start_hp(self, simulation: Simulation, run: Run) -> bool:
        placement = self.place(simulation.cluster, run.job)
        if placement is not None:
            self._start(simulation, run, placement)
            return True
        if not self.state.spot_gpus or not self._has_room(run.job) or not self.may_evict(simulation):
            return False
        plan = self.plan(simulation.cluster, run.job)
        if plan is None:
            return False
        for victim in plan.victims:
            self.evict(simulation, victim)
        pieces = [_take_slice(simulation.cluster, node, run.job) for node in plan.nodes]
        self._start(simulation, run, tuple(pieces), self.grace_s if plan.victims else 0.0)
        return True

    def _start_spot(self, simulation: Simulation, run: Run) -> bool:
        if not self.may_start(simulation, run):
            return False
        placement = self.place(simulation.cluster, run.job)
        if placement is not None:
            self._start(simulation, run, placement)
        return placement is not None

    def evict(self, simulation: Simulation, run: Run) -> None:
        """Evict a spot job, and note it."""
        self.state.note_eviction(run, simulation.now)
        simulation.evict(run, self.grace_s)

    def place(self, cluster: Cluster, job: Job) -> tuple[Slice, ...] | None:
        """Place all pods of a job, or none. Shares of a GPU go where one is shared already."""
        if job.gpus < 1:
            return best_fit(cluster, job)
        need = int(job.gpus)
        if sum(len(cluster.by_free[free]) * (free // need) for free in range(need, cluster.largest + 1)) < job.pods:
            return None
        pieces: list[Slice] = []
        for _ in range(job.pods):
            index = self.choose(cluster, job)
            if index is None:
                cluster.release(pieces)
                return None
            pieces.append(cluster.allocate(index, need))
        return tuple(pieces)

    def _start(self, simulation: Simulation, run: Run, placement: tuple[Slice, ...], after_s: float = 0.0) -> None:
        simulation.start(run, placement, after_s)
        self.state.note_start(run, simulation.now)


def _take_slice(cluster: Cluster, node: int, job: Job) -> Slice:
    return cluster.allocate_share(node, job.gpus) if job.gpus < 1 else cluster.allocate(node, int(job.gpus))


def _age(run: Run) -> float:
    return -run.started


def _few(node: NodeState, going: Sequence[Run]) -> tuple[float, ...]:
    return (len(going), node.index)
