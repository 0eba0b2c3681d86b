"""Sia in the simulator: GPUs are given anew every minute, and what a job does with them is learnt as it runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from benchmarks.simulate.elastic.allocation import allocate
from benchmarks.simulate.elastic.beliefs import believed
from benchmarks.simulate.elastic.measurements import CLUSTER, Application, Config, Floats, GpuType, configs
from schedmate.simulate.cluster import NodeSpec
from schedmate.simulate.job import Run, Slice
from schedmate.simulate.simulation import Simulation

ROUND_S = 60.0
RENEW_S = 600.0
"""GPUs are given anew when a job came, ended or was seen on GPUs for the first time, and after so long: goodput changes by and by."""
PROFILE_S = 20.0
"""Seconds of a profile on one GPU, after the start (Sia, section 3.2)."""


class History(Protocol):
    """Finds what is known of jobs like a new one."""

    def of(self, run: Run) -> set[int] | None:
        """Return the configurations that a job like it was seen in; None where it has to be profiled."""

    def note(self, run: Run, seen: set[int]) -> None:
        """Note in what a job was seen."""


class NoHistory:
    """Sia as it is: every job is profiled."""

    def of(self, run: Run) -> set[int] | None:
        """Return None."""
        return None

    def note(self, run: Run, seen: set[int]) -> None:
        """Forget it."""


@dataclass
class Known:
    """What Sia knows of a job.

    Attributes:
        application: What it trains.
        seen: Configurations, by place.
        present: The configuration that it has.
        starts: How often it started.
        profiled_at: When its profile ends, while it runs.
        profiling: GPUs of the profile.
    """

    application: Application
    seen: set[int] = field(default_factory=set)
    present: int | None = None
    starts: int = 0
    profiled_at: float | None = None
    profiling: list[Slice] = field(default_factory=list)


def nodes(cluster: Sequence[GpuType] = CLUSTER) -> list[NodeSpec]:
    """Return a node a GPU type: moves among nodes of one type are free, as in Sia's simulator."""
    return [NodeSpec(gpus=kind.nodes * kind.gpus, gpu_type=kind.name) for kind in cluster]


class Sia:
    """The policy. `Job.duration_s` is work in steps at the first batch size; `PackedWorkload.model` names the application.

    Args:
        applications: By name.
        history: Of jobs before.
        profile_s: Seconds of a profile on one GPU of each type, all at once, after the start of the application; None: a profile takes no
            time and no GPUs.
        cluster: The GPUs.
    """

    polls = False

    def __init__(
        self,
        applications: Mapping[str, Application],
        history: History,
        profile_s: float | None = PROFILE_S,
        cluster: Sequence[GpuType] = CLUSTER,
    ) -> None:
        self._applications = applications
        self._history = history
        self._profile_s = profile_s
        self._cluster = cluster
        self._among: list[Config] = configs(cluster)
        self._singles = {place for place, config in enumerate(self._among) if config.gpus == 1}
        self._jobs: dict[int, tuple[Run, Known]] = {}
        self._new: list[Run] = []
        self._changed = True
        self._renewed = float("-inf")

    def submit(self, run: Run, now: float) -> None:
        """Queue a job."""
        self._new.append(run)

    def ended(self, run: Run, now: float) -> None:
        """Forget it."""
        _, known = self._jobs.pop(run.order)
        if known.present is not None:
            known.seen.add(known.present)
        self._history.note(run, known.seen)
        self._changed = True

    def schedule(self, simulation: Simulation) -> float | None:
        """Give GPUs anew at the end of a round."""
        now = simulation.now
        if now % ROUND_S == 0:
            self._learn(simulation)
            self._take_submitted()
            if self._changed or now - self._renewed >= RENEW_S:
                self._allocate(simulation)
        return now - now % ROUND_S + ROUND_S if self._jobs or self._new else None

    def _learn(self, simulation: Simulation) -> None:
        for run, known in self._jobs.values():
            if known.present is not None:
                run.account(simulation.now)
                if known.present not in known.seen and run.overhead <= 0:
                    known.seen.add(known.present)
                    self._history.note(run, known.seen)
                    self._changed = True
                simulation.set_rate(run, _rate(run, known))
            elif known.profiled_at is not None and known.profiled_at <= simulation.now:
                simulation.cluster.release(known.profiling)
                known.profiled_at, known.profiling = None, []
                known.seen |= self._measured(known)
                self._changed = True

    def _take_submitted(self) -> None:
        for run in self._new:
            known = Known(self._applications[run.job.workload.model if run.job.workload else ""])
            self._jobs[run.order] = run, known
            found = self._history.of(run)
            if found is not None or self._profile_s is None:
                known.seen |= found or self._measured(known)
            self._changed = True
        self._new = []

    def _measured(self, known: Known) -> set[int]:
        return {place for place in self._singles if known.application.goodput[place, 0] > 0}

    def _allocate(self, simulation: Simulation) -> None:
        now = simulation.now
        free = {kind.name: kind.nodes * kind.gpus for kind in self._cluster}
        profiled = [known for _, known in self._jobs.values() if not known.seen]
        least = min(free.values())
        begins = [known for known in profiled if known.profiled_at is None][
            : least - sum(known.profiled_at is not None for known in profiled)
        ]
        for kind in free:
            free[kind] -= sum(known.profiled_at is not None for known in profiled) + len(begins)
        jobs = [(run, known) for run, known in self._jobs.values() if known.seen]
        given = allocate(
            [self._expected(run, known) for run, known in jobs],
            [known.present for _, known in jobs],
            [_kept(run, known, now) for run, known in jobs],
            self._among,
            free,
        )
        moves = [(*job, place) for job, place in zip(jobs, given, strict=True) if place != job[1].present]
        for run, known, _ in moves:
            if known.present is not None:
                simulation.preempt(run, saved=True)
        for known in begins:
            known.profiling = [simulation.cluster.allocate(index, 1) for index in range(len(self._cluster))]
            known.profiled_at = now + known.application.constants.restart_s + (self._profile_s or 0.0)
        for run, known, place in moves:
            known.present = place
            if place is None:
                continue
            known.starts += 1
            config = self._among[place]
            index = next(index for index, kind in enumerate(self._cluster) if kind.name == config.gpu_type)
            simulation.start(
                run, (simulation.cluster.allocate(index, config.gpus),), known.application.constants.restart_s
            )
            simulation.set_rate(run, _rate(run, known))
        self._changed = False
        self._renewed = now

    def _expected(self, run: Run, known: Known) -> Floats:
        """Return the goodput to expect; who is just starting stays where it is."""
        expected = believed(known.application, self._among, known.seen, _epoch(run, known))
        if known.present is not None and run.overhead > 0:
            elsewhere = np.arange(len(self._among)) != known.present
            expected[elsewhere] = 0.0
        return expected


def _epoch(run: Run, known: Known) -> int:
    return known.application.epoch(run.job.duration_s - run.work_left)


def _rate(run: Run, known: Known) -> float:
    assert known.present is not None
    return float(known.application.goodput[known.present, _epoch(run, known)])


def _kept(run: Run, known: Known, now: float) -> float:
    """Return the share of its goodput that a job keeps when it restarts: the more often it did, the less (Sia, Eq. 3)."""
    age, restart = now - run.job.submit_s, known.application.constants.restart_s
    if age < restart:
        return 1.0
    return max(age - (known.starts - 1) * restart, 0.0) / (age + restart)
