"""Lucid (Hu et al., ASPLOS 2023): least estimated GPU time first, packing jobs that share well. SchedMate undoes bad packings."""

from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from simulate.interference import PackedSpeeds
from simulate.job import Job, Run, Status
from simulate.placement import consolidated
from simulate.policies.hosts import Hosts, Kind, Kinds
from simulate.simulation import Simulation

GPU_MEMORY_MIB = 24_576
"""Of the GPUs on which the pairs were measured (RTX 3090)."""
LARGEST_PACKED = 8
"""GPUs of the largest jobs that are packed; those that have a share of a GPU are not."""
LARGEST_SCORE = 2
"""Sum of two jobs' sharing scores up to which they are packed."""


@dataclass(frozen=True)
class Cancellation:
    """When a packing is undone (SchedMate, section 4.1).

    Attributes:
        threshold: Speed of the host beside the guest, over its speed alone, below which the guest goes.
        after_s: Seconds from the packing to the measurement: warm-up and some tens of steps.
        tracked: Whether a job's log shows its speed; where it does not, its packings stay.
    """

    threshold: float = 0.65
    after_s: float = 300.0
    tracked: Callable[[Job], bool] = lambda _: True


class _Entry(NamedTuple):
    """What packing knows of a job; least GPU time first."""

    service: float
    order: int
    run: Run
    gpus: float
    kind: Kind | None
    """None: never packed."""


class Lucid:
    """Starts the job of least estimated GPU time first, beside a running job that it suits where there is one, else alone.

    The rules of Lucid's simulator: while the cluster is busy, each waiting job of up to 8 GPUs is packed with the longest-running job
    of equally many GPUs that is alone, has memory to spare, whose sharing score and its own sum to at most 2, and whose estimated GPU
    time is at least half its own; where none is, it is
    placed alone, and jobs behind it are tried. While the cluster is quiet nothing is packed, and the queue stops at the first job that
    does not fit.

    Args:
        speeds: Measured speeds of pairs.
        quiet_until: For a time, whether the cluster is quiet from then on, and when that is asked next.
        cancellation: Undo packings that slow the host down too much; None: never, as in Lucid itself.
        score: Sharing score of a job, as its profile shows it.
    """

    polls = True

    def __init__(
        self,
        speeds: PackedSpeeds,
        quiet_until: Callable[[float], tuple[bool, float]] = lambda _: (False, float("inf")),
        cancellation: Cancellation | None = None,
        score: Callable[[Job], int] | None = None,
    ) -> None:
        self._speeds = speeds
        self._score = score or (lambda job: speeds.sharing_score(job.workload))
        self._quiet_until = quiet_until
        self._cancellation = cancellation
        self._kinds = Kinds(lambda job: (job.workload, job.memory_mib, self._score(job)), self._suit)
        self._queue: list[_Entry] = []
        self._entries: dict[int, _Entry] = {}
        self._checks: list[tuple[float, Run, Run, int]] = []

    def submit(self, run: Run, now: float) -> None:
        """Queue a job."""
        if not run.runs:
            gpus = run.job.total_gpus
            kind = self._kinds.of(run.job) if 1 <= gpus <= LARGEST_PACKED else None
            self._entries[run.order] = _Entry(_service(run), run.order, run, gpus, kind)
        insort(self._queue, self._entries[run.order])

    def ended(self, run: Run, now: float) -> None:
        """Nothing to note."""

    def schedule(self, simulation: Simulation) -> float | None:
        """Undo bad packings, then start jobs."""
        now = simulation.now
        quiet, asked_next = self._quiet_until(now)
        again = [self._cancel(simulation)]
        if self._queue:
            started = self._start_in_order(simulation) if quiet else self._start_packed(simulation)
            if started:
                self._queue = [entry for entry in self._queue if entry.run.status is Status.WAITING]
                again.append(now + 1)
            if self._queue:
                again.append(asked_next)
        return min(again) if min(again) < float("inf") else None

    def _start_in_order(self, simulation: Simulation) -> bool:
        started = False
        for entry in self._queue:
            placement = consolidated(simulation.cluster, entry.run.job)
            if placement is None:
                break
            simulation.start(entry.run, placement)
            started = True
        return started

    def _start_packed(self, simulation: Simulation) -> bool:
        hosts = self._hosts(simulation)
        started = False
        too_large: set[float] = set()
        for service, _, run, gpus, kind in self._queue:
            host = None
            if kind is not None and kind not in hosts.without[gpus]:
                host = hosts.take(gpus, kind, service)
            if host is not None:
                speed, host_speed = self._speeds.of(run.job.workload, host.job.workload)
                simulation.pack(run, host, speed, host_speed)
                if self._cancellation:
                    self._checks.append((simulation.now + self._cancellation.after_s, host, run, run.runs))
                started = True
            elif gpus not in too_large:
                placement = consolidated(simulation.cluster, run.job)
                if placement is None:
                    too_large.add(gpus)
                    continue
                simulation.start(run, placement)
                if kind is not None:
                    hosts.add(run, gpus, kind, service)
                started = True
        return started

    def _hosts(self, simulation: Simulation) -> Hosts:
        hosts = Hosts(self._kinds)
        for order, run in simulation.running.items():
            if run.packed_with is None:
                service, _, _, gpus, kind = self._entries[order]
                if kind is not None:
                    hosts.add(run, gpus, kind, service)
        return hosts

    def _suit(self, guest: Job, host: Job) -> bool:
        return (
            host.memory_mib + guest.memory_mib < GPU_MEMORY_MIB
            and self._speeds.can_share(guest.workload, host.workload)
            and self._score(guest) + self._score(host) <= LARGEST_SCORE
        )

    def _cancel(self, simulation: Simulation) -> float:
        """Undo packings that turned out bad; return when the next measurement is due."""
        due = [check for check in self._checks if check[0] <= simulation.now]
        if due:
            self._checks = [check for check in self._checks if check[0] > simulation.now]
        for _, host, guest, runs in due:
            rule = self._cancellation
            packed = guest.packed_with is host and guest.runs == runs and guest.status is Status.RUNNING
            if rule and packed and rule.tracked(host.job) and host.rate < rule.threshold:
                self._entries[guest.order] = self._entries[guest.order]._replace(kind=None)
                simulation.evict(guest)
        return min((check[0] for check in self._checks), default=float("inf"))


def _service(run: Run) -> float:
    estimate = run.job.estimate_s
    return float("inf") if estimate is None else estimate * run.job.total_gpus
