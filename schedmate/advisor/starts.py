"""Estimates of the starts of waiting jobs, from the scheduler's queue and the remaining times of its jobs."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scheduler_bridge.schedulers import JobView
from scheduler_bridge.schedulers.queue import Capacity, Need, Queue, RunningJob, WaitingJob
from scheduler_bridge.schedulers.views import SchedulerNodeState

from ..simulate.starts import Lasting, NodeRoom, Present, Running, Waiting

LATER: Final = ("Dependency", "JobHeldUser", "JobHeldAdmin", "Licenses", "Reservation")
"""Why a job waits for something that no end of another job brings (Slurm's words)."""


@dataclass(frozen=True)
class Expected:
    """A known duration of a job: of all of it (`whole`), or of what was left of it at `time`; in seconds, with a 90 % interval."""

    expected: float
    low: float | None
    high: float | None
    time: float
    whole: bool


Known = Callable[[JobView], Expected | None]
"""Returns the known duration of a job, or None."""


def present(queue: Queue, known: Known, now: float) -> Present:
    """Return the queue as the simulation takes it, at `now` (seconds since 1970). Jobs are ordered by priority, then by age."""
    nodes = [each for each in queue.nodes if each.view.state is SchedulerNodeState.UP]
    places = {each.view.node: place for place, each in enumerate(nodes)}
    rooms = [NodeRoom(each.view.node, each.view.pools, _room(each)) for each in nodes]
    allowed = _Allowed(nodes, places)
    waiting = sorted(queue.waiting, key=lambda each: (-(each.view.priority or 0), each.since, each.view.job))
    return Present(
        rooms,
        [_running(each, places, known(each.view), now) for each in queue.running],
        [_waiting(each, allowed, known(each.view), now) for each in waiting],
    )


def _room(node: Capacity) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([node.cpus, node.memory, node.gpus], dtype=float)


class _Allowed:
    """On which nodes a job may run: one array for all jobs of a kind, as there are few kinds."""

    def __init__(self, nodes: Sequence[Capacity], places: Mapping[str, int]) -> None:
        self._nodes = nodes
        self._places = places
        self._found: dict[tuple[object, ...], np.ndarray[tuple[int], np.dtype[np.intp]]] = {}

    def nodes_for(self, view: JobView, need: Need) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        kind = (view.partition, view.excluded, need.required)
        if kind not in self._found:
            pools = set(view.partition.split(",")) if view.partition else set()
            able = [
                place
                for place, each in enumerate(self._nodes)
                if (not pools or pools & set(each.view.pools))
                and each.view.node not in view.excluded
                and (not need.required or each.view.node in need.required)
            ]
            self._found[kind] = np.array(able, dtype=np.intp)
        return self._found[kind]


def _running(job: RunningJob, places: Mapping[str, int], known: Expected | None, now: float) -> Running:
    held = {
        places[node]: np.array([share.cpus, share.memory, sum(share.gpus.values())], dtype=float)
        for node, share in job.held.items()
        if node in places
    }
    elapsed = max(now - job.since, 0.0) if math.isfinite(job.since) else 0.0
    # A whole duration loses the time since the start; a remaining time loses the time since its estimate.
    passed = 0.0 if known is None else elapsed if known.whole else now - known.time
    return Running(job.view.job, held, _lasting(known, passed, job.view.limit_s, elapsed))


def _waiting(job: WaitingJob, allowed: _Allowed, known: Expected | None, now: float) -> Waiting:
    need = job.need
    after = max(job.since - now, 0.0) if math.isfinite(job.since) else 0.0
    if any(word in job.view.word for word in LATER):
        after = math.inf
    return Waiting(
        job.view.job,
        np.array([need.cpus, need.memory, need.gpus], dtype=float),
        need.nodes,
        allowed.nodes_for(job.view, need),
        _lasting(known if known and known.whole else None, 0.0, job.view.limit_s, 0.0),
        after,
        need.exclusive,
    )


def _lasting(known: Expected | None, passed: float, limit_s: float | None, elapsed: float) -> Lasting:
    limit = math.inf if limit_s is None else limit_s
    if (
        known is None or known.expected <= passed
    ):  # it takes longer than was expected: what was known of it no longer holds
        return Lasting(limit=limit, elapsed=elapsed)
    low = None if known.low is None else max(known.low - passed, 1.0)
    high = None if known.high is None else known.high - passed
    return Lasting(known.expected - passed, low, high, limit, elapsed)
