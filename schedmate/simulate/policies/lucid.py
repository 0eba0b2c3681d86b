"""Lucid (Hu et al., ASPLOS 2023): least estimated GPU time first, packing jobs that share well. SchedMate undoes bad packings."""

from bisect import insort
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ..interference import PackedSpeeds
from ..job import Job, Run, Status
from ..placement import consolidated
from ..simulation import Simulation
from .hosts import Hosts, Kind, Kinds

GPU_MEMORY_MIB = 24_576
"""Of the GPUs on which the pairs were measured (RTX 3090)."""
LARGEST_PACKED = 8
"""GPUs of the largest jobs that are packed; those that have a share of a GPU are not."""
LARGEST_SCORE = 2
"""Sum of two jobs' sharing scores up to which they are packed."""


@dataclass(frozen=True)
class Cancellation:
    """Cancellation of packings (SchedMate, section 4.1).

    Attributes:
        threshold: Speed of the host with the guest, over its speed alone, below which the guest is stopped.
        after_s: Seconds from the packing to the measurement: warm-up and some tens of steps.
        tracked: Whether a job's log shows its speed; where it does not, its packings stay.
    """

    threshold: float = 0.65
    after_s: float = 300.0
    tracked: Callable[[Job], bool] = lambda _: True


class _Entry(NamedTuple):
    """A job in the order of packing, least GPU time first."""

    service: float
    order: int
    run: Run
    gpus: float
    kind: Kind | None
    """None: never packed."""


class _Settled(NamedTuple):
    """State after a pass over the queue: no job can start before something changes.

    Attributes:
        state: Of the cluster then.
        too_large: Numbers of GPUs that are not free, of any type.
        without: See `Hosts`.
    """

    state: tuple[object, ...]
    too_large: Container[float]
    without: Mapping[float, Mapping[Kind, float]]

    def stays(self, entry: _Entry) -> bool:
        """Return whether a new job cannot start either."""
        if entry.gpus not in self.too_large or entry.kind is None:
            return entry.gpus in self.too_large
        without = self.without[entry.gpus]
        return entry.kind in without and entry.service >= without[entry.kind]


class Lucid:
    """Starts the job of least estimated GPU time first, packed with a suitable running job if there is one, else alone.

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
        self._settled: _Settled | None = None

    def submit(self, run: Run, now: float) -> None:
        """Queue a job."""
        if not run.runs:
            gpus = run.job.total_gpus
            kind = self._kinds.kind_of(run.job) if 1 <= gpus <= LARGEST_PACKED else None
            self._entries[run.order] = _Entry(_service(run), run.order, run, gpus, kind)
        entry = self._entries[run.order]
        insort(self._queue, entry)
        if self._settled and not self._settled.stays(entry):
            self._settled = None

    def ended(self, run: Run, now: float) -> None:
        """GPUs are free: look again."""
        self._settled = None

    def schedule(self, simulation: Simulation) -> float | None:
        """Undo bad packings, then start jobs."""
        now = simulation.now
        quiet, asked_next = self._quiet_until(now)
        again = [self._cancel(simulation)]
        if self._queue:
            if self._settled is None or self._settled.state != _state(simulation, quiet=quiet):
                started = self._start_in_order(simulation) if quiet else self._start_packed(simulation)
            else:
                started = False
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
        self._settled = _Settled(_state(simulation, quiet=True), (), {})
        return started

    def _start_packed(self, simulation: Simulation) -> bool:
        hosts = self._hosts(simulation)
        without = hosts.without
        too_large: dict[float, str] = {}
        started = False
        for service, _, run, gpus, kind in self._queue:
            host = None
            if kind is not None and kind not in without[gpus]:
                host = hosts.remove_longest(gpus, kind, service)
            if host is not None:
                self._pack(simulation, run, host)
                started = True
            elif gpus not in too_large:
                placement = consolidated(simulation.cluster, run.job)
                if placement is None:
                    too_large[gpus] = run.job.gpu_type
                    continue
                simulation.start(run, placement)
                started = True
                if kind is not None:
                    hosts.add(run, gpus, kind, service)
        # Nor could a second look start anybody: behind a job that waits, none of as many GPUs started alone and could be its host.
        any_type = {gpus for gpus, gpu_type in too_large.items() if not gpu_type}
        self._settled = _Settled(_state(simulation, quiet=False), any_type, without)
        return started

    def _pack(self, simulation: Simulation, run: Run, host: Run) -> None:
        speed, host_speed = self._speeds.speeds_of(run.job.workload, host.job.workload)
        simulation.pack(run, host, speed, host_speed)
        if self._cancellation:
            self._checks.append((simulation.now + self._cancellation.after_s, host, run, run.runs))

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
                self._settled = None
        return min((check[0] for check in self._checks), default=float("inf"))


def _state(simulation: Simulation, *, quiet: bool) -> tuple[object, ...]:
    """Return what changes when nodes leave and return, which the policy gets no call for; it compares this."""
    return quiet, simulation.cluster.free, simulation.cluster.capacity, len(simulation.running)


def _service(run: Run) -> float:
    estimate = run.job.estimate_s
    return float("inf") if estimate is None else estimate * run.job.total_gpus
