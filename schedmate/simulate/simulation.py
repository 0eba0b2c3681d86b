"""The events of one partition, in time."""

import heapq
import math
from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from typing import Protocol

import msgspec

from .cluster import Cluster
from .job import Job, Run, Slice, Status

END, LEFT, NODE, WAKE = range(4)
"""Kinds of events, in the order in which they are taken within one instant; submissions come after all of them."""


class _Ending(Enum):
    """Kind of an early end of a run, which decides how much work is lost."""

    EVICTED = auto()
    """A job that saves on demand loses nothing, others what came after their last checkpoint."""
    SAVED = auto()
    FAULT = auto()
    """A job that saves on demand loses its whole run, because nothing requested a save."""


class NodeEvent(msgspec.Struct, frozen=True):
    """A node goes or comes back.

    Attributes:
        at_s: When.
        node: Its index in the partition.
        up: It comes back.
    """

    at_s: float
    node: int
    up: bool


class Costs(msgspec.Struct, frozen=True):
    """Cost of a restart.

    Attributes:
        restart_s: Seconds of restart for jobs of up to `large_above` GPUs (Lucid's simulator, after Tiresias, section 5.2.4).
        restart_large_s: Seconds for larger ones.
        large_above: GPUs above which a job is large.
    """

    restart_s: float = 40.0
    restart_large_s: float = 60.0
    large_above: float = 8.0

    def restart_seconds(self, job: Job) -> float:
        """Return the seconds that a restart of `job` takes."""
        return self.restart_s if job.total_gpus <= self.large_above else self.restart_large_s


class Policy(Protocol):
    """Decides which jobs run where. One object serves one partition.

    It keeps the jobs that wait in any order it likes, and acts through `Simulation.start`, `pack`, `preempt` and `evict`.

    Attributes:
        polls: It looks at remaining times once a second, and so sees an end in the second after the work was done (SRTF, Tiresias and
            Lucid in Lucid's simulator). Times are whole seconds then.
    """

    polls: bool

    def submit(self, run: Run, now: float) -> None:
        """A job waits: it was submitted, or comes back after an eviction or a fault."""

    def ended(self, run: Run, now: float) -> None:
        """A job ended; its GPUs are free."""

    def schedule(self, simulation: "Simulation") -> float | None:
        """Act on the present state, after all ends and submissions of this instant.

        Returns:
            When to be asked again even if nothing happens until then; None: not before something happens.
        """


class Simulation:
    """One partition under one policy.

    Args:
        cluster: Its nodes; they change hands here.
        jobs: Its jobs, in the order in which they were submitted.
        policy: Who decides.
        costs: What restarts cost.
        node_events: Nodes that go and come back, in any order.
        resubmit_s: Seconds until a job that a fault ended is queued again: 0 where something resubmits it, else until its owner does.
        tick: Called with the time after every instant.
    """

    def __init__(
        self,
        cluster: Cluster,
        jobs: Iterable[Job],
        policy: Policy,
        *,
        costs: Costs = Costs(),  # noqa: B008 -- frozen
        node_events: Sequence[NodeEvent] = (),
        resubmit_s: Callable[[Run], float] = lambda _: 0.0,
        tick: Callable[["Simulation"], None] | None = None,
    ) -> None:
        self.cluster = cluster
        self.runs = [Run(job, order) for order, job in enumerate(jobs)]
        self.policy = policy
        self.costs = costs
        self.now = self.runs[0].job.submit_s if self.runs else 0.0
        self.running: dict[int, Run] = {}
        """Jobs that have GPUs, by their order in the trace, in the order in which they got them."""
        self.finished = 0
        self.evictions = 0
        self._resubmit_s = resubmit_s
        self._tick = tick
        self._heap: list[tuple[float, int, int, int]] = [
            (event.at_s, NODE, event.node, event.up) for event in node_events
        ]
        heapq.heapify(self._heap)
        self._next = 0
        self._woken_at = math.inf

    @property
    def submitted(self) -> int:
        """Number of submitted jobs."""
        return self._next

    def run(self) -> list[Run]:
        """Run until every job has ended, or none of those left can ever start; return all of them."""
        runs, heap, policy = self.runs, self._heap, self.policy
        while self.finished < len(runs):
            now = heap[0][0] if heap else math.inf
            if self._next < len(runs):
                now = min(now, runs[self._next].job.submit_s)
            if now == math.inf:
                break
            self.now = now
            while heap and heap[0][0] <= now:
                _, kind, which, version = heapq.heappop(heap)
                self._handle_event(kind, which, version)
            while self._next < len(runs) and runs[self._next].job.submit_s <= now:
                policy.submit(runs[self._next], now)
                self._next += 1
            again = policy.schedule(self)
            if again is not None and (again < self._woken_at or self._woken_at <= now):
                heapq.heappush(heap, (again, WAKE, 0, 0))
                self._woken_at = again
            if self._tick:
                self._tick(self)
        return runs

    def start(self, run: Run, placement: tuple[Slice, ...], after_s: float = 0.0) -> None:
        """Start a waiting job on GPUs that the cluster gave.

        Args:
            run: The job.
            placement: The GPUs.
            after_s: Seconds for which it still waits on them, for those that leave.

        Raises:
            ValueError: It is not waiting.
        """
        if run.status is not Status.WAITING:
            raise ValueError(f"expected job {run.job.job_id} to wait, it is {run.status.name.lower()}")
        now = self.now
        run.status = Status.RUNNING
        run.placement = placement
        run.queued += now + after_s - run.waiting_since
        if run.first_start is None:
            run.first_start = now + after_s
        run.started = run.since = now
        run.overhead += after_s
        run.left_at_start = run.work_left
        run.rate = 1.0
        run.runs += 1
        self.running[run.order] = run
        self._expect_end(run)

    def pack(self, run: Run, host: Run, speed: float, host_speed: float) -> None:
        """Start a waiting job on the GPUs of a running one.

        Args:
            run: Who comes.
            host: Who is there, alone.
            speed: Speed of `run` when packed with `host`; 1 is alone.
            host_speed: Speed of `host` when packed with `run`.
        """
        self.cluster.join(host.placement)
        self.start(run, host.placement)
        run.packed_with, host.packed_with = host, run
        self.set_rate(run, speed)
        self.set_rate(host, host_speed)

    def preempt(self, run: Run, *, saved: bool = False) -> None:
        """Take a running job's GPUs at once; it loses what came after its last checkpoint, and pays a restart. The policy queues it.

        Args:
            run: The job.
            saved: It has just saved, and loses nothing.
        """
        self._interrupt(run, _Ending.SAVED if saved else _Ending.EVICTED)
        run.evictions += 1
        self.evictions += 1

    def evict(self, run: Run, grace_s: float = 0.0, *, saved: bool = False) -> None:
        """Evict a job. It is submitted to the policy again when its grace period is over, in which it saves and makes no progress.

        Its GPUs can be allocated at once. The job that gets them starts with `after_s` set to the grace period.

        Args:
            run: The job.
            grace_s: Its grace period.
            saved: It has just saved, and loses nothing.
        """
        self.preempt(run, saved=saved)
        self._submit_after(run, grace_s)

    def set_rate(self, run: Run, rate: float) -> None:
        """Change the speed of a running job."""
        run.account(self.now)
        run.rate = rate
        self._expect_end(run)

    def _expect_end(self, run: Run) -> None:
        run.version += 1
        end = self.now + run.overhead + run.work_left / run.rate
        if self.policy.polls:
            end = math.ceil(end - 1e-6) + 1
        heapq.heappush(self._heap, (end, END, run.order, run.version))

    def _handle_event(self, kind: int, which: int, version: int) -> None:
        if kind == NODE:
            self._node(which, up=bool(version))
            return
        if kind == WAKE:
            return
        run = self.runs[which]
        if version != run.version:
            return
        if kind == END:
            run.account(self.now)
            run.status = Status.ENDED
            run.ended = self.now
            self.finished += 1
            self._free(run)
            self.policy.ended(run, self.now)
        else:
            self._wait(run)
            self.policy.submit(run, self.now)

    def _node(self, index: int, *, up: bool) -> None:
        if up:
            self.cluster.bring_up(index)
            return
        self.cluster.take_down(index)
        for run in [run for run in self.running.values() if any(piece.node == index for piece in run.placement)]:
            self._interrupt(run, _Ending.FAULT)
            run.faults += 1
            self._submit_after(run, self._resubmit_s(run))

    def _submit_after(self, run: Run, seconds: float) -> None:
        if seconds <= 0:
            self.policy.submit(run, self.now)
            return
        run.status = Status.LEAVING
        heapq.heappush(self._heap, (self.now + seconds, LEFT, run.order, run.version))

    def _interrupt(self, run: Run, ending: "_Ending") -> None:
        run.account(self.now)
        lost = 0.0
        if ending is _Ending.EVICTED or (ending is _Ending.FAULT and run.job.checkpoint_every_s):
            lost = run.unsaved(self.now)
        elif ending is _Ending.FAULT:
            lost = run.left_at_start - run.work_left
        run.work_left += lost
        run.lost += lost
        run.overhead += self.costs.restart_seconds(run.job)
        run.version += 1
        self._free(run)
        self._wait(run)

    def _wait(self, run: Run) -> None:
        run.status = Status.WAITING
        run.waiting_since = self.now

    def _free(self, run: Run) -> None:
        del self.running[run.order]
        self.cluster.release(run.placement)
        run.placement = ()
        other, run.packed_with = run.packed_with, None
        if other is not None:
            other.packed_with = None
            if other.status is Status.RUNNING:
                self.set_rate(other, 1.0)
