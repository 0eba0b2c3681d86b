"""One future of the queue: in order, with backfilling as Slurm's: no job starts early that could delay the first waiting job."""

import heapq
import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .model import Present, Vector, Waiting

LOOKED_AT: Final = 50
"""Jobs behind the first that are looked at for backfilling at each instant (Slurm's bf_max_job_test is 500; later ones matter less)."""
EPSILON: Final = 1e-6
"""Tolerance for rounding where a node has exactly the CPUs, GPUs or memory that a job needs."""
UNLIMITED: Final = 365 * 86_400.0
"""Duration that the scheduler assumes for a job without a limit (Slurm: a year)."""

Room = NDArray[np.float64]
"""Free resources, a row for each node."""


@dataclass(frozen=True)
class _Held:
    """Resources of a job in a simulation, by node, and the end that the scheduler assumes."""

    nodes: NDArray[np.intp]
    taken: Room
    believed_end: float


def play(present: Present, random: np.random.Generator) -> dict[str, float]:
    """Return when each job that waits starts in one future, in seconds from now; infinite: never.

    The scheduler itself knows limits alone, not what jobs will take: it plans with those.
    """
    return _Future(present, random).run()


class _Future:
    def __init__(self, present: Present, random: np.random.Generator) -> None:
        self._random = random
        self._free: Room = np.array([node.room for node in present.nodes], dtype=float).reshape(len(present.nodes), -1)
        self._whole = self._free.copy()
        self._held: dict[int, _Held] = {}
        self._ends: list[tuple[float, int]] = []
        self._waiting = list(present.waiting)
        self._started: dict[str, float] = {each.job: math.inf for each in present.waiting}
        for number, each in enumerate(present.running):
            nodes = np.fromiter(each.held, dtype=np.intp)
            taken = np.array([each.held[index] for index in each.held], dtype=float).reshape(len(nodes), -1)
            left = max(min(each.lasting.limit, UNLIMITED) - each.lasting.elapsed, 0.0)
            self._occupy(number, nodes, taken, each.lasting.draw(random), left)
        self._next = len(present.running)

    def run(self) -> dict[str, float]:
        """Go from end to end until everybody has started, or nothing more happens."""
        wakes = sorted({each.after for each in self._waiting if 0 < each.after < math.inf}, reverse=True)
        now = 0.0
        while True:
            self._schedule(now)
            if not self._waiting:
                break
            following = min(self._ends[0][0] if self._ends else math.inf, wakes[-1] if wakes else math.inf)
            if following == math.inf:
                break
            now = following
            while wakes and wakes[-1] <= now:
                wakes.pop()
            while self._ends and self._ends[0][0] <= now:
                held = self._held.pop(heapq.heappop(self._ends)[1])
                self._free[held.nodes] += held.taken
        return self._started

    def _schedule(self, now: float) -> None:
        left: list[Waiting] = []
        hopeless: set[tuple[object, ...]] = set()
        reserved: tuple[float, NDArray[np.intp]] | None = None
        looked = 0
        for place, each in enumerate(self._waiting):
            if each.after > now:
                left.append(each)
                continue
            if reserved is not None and looked >= LOOKED_AT:
                left += self._waiting[place:]
                break
            looked += reserved is not None
            without = None if reserved is None or self._in_time(each, now, reserved[0]) else reserved[1]
            # Within one look room only grows less: what did not fit does not fit.
            shape = (each.need.tobytes(), each.nodes, id(each.allowed), each.exclusive, without is None)
            nodes = None if shape in hopeless else self._fitting(each, self._free, without)
            if nodes is not None:
                self._start(each, nodes, now)
                continue
            hopeless.add(shape)
            left.append(each)
            if reserved is None:
                reserved = self._reservation(each, now)
        self._waiting = left

    @staticmethod
    def _in_time(each: Waiting, now: float, until: float) -> bool:
        return now + min(each.lasting.limit, UNLIMITED) <= until

    def _fitting(self, each: Waiting, free: Room, without: NDArray[np.intp] | None) -> NDArray[np.intp] | None:
        """Return the nodes that a job would get, the fullest first; None where it does not fit."""
        room = free[each.allowed]
        fits = (room >= each.need - EPSILON).all(axis=1)
        if each.exclusive:
            fits &= (room >= self._whole[each.allowed] - EPSILON).all(axis=1)
        able = each.allowed[fits]
        if without is not None:
            kept = np.ones(len(free), dtype=bool)
            kept[without] = False
            able = able[kept[able]]
        if len(able) < each.nodes:
            return None
        fullest = np.argsort(free[able, -1], kind="stable")
        return able[fullest[: each.nodes]]

    def _reservation(self, each: Waiting, now: float) -> tuple[float, NDArray[np.intp]] | None:
        """Return when the scheduler thinks that the first of the queue can start, and where; None where it never can."""
        ending = sorted(self._held.values(), key=lambda one: one.believed_end)

        if not ending:
            return None
        nodes_of, taken = (np.concatenate([getattr(one, name) for one in ending]) for name in ("nodes", "taken"))
        upto = np.cumsum([0, *(len(one.nodes) for one in ending)])

        def fitting(count: int) -> NDArray[np.intp] | None:
            free = self._free.copy()
            np.add.at(free, nodes_of[: upto[count]], taken[: upto[count]])
            return self._fitting(each, free, None)

        # The more have ended, the more is free: the first count that is enough is found by halving.
        count = bisect_left(range(len(ending)), True, key=lambda few: fitting(few) is not None)
        nodes = fitting(count)
        return None if nodes is None else (max(ending[count - 1].believed_end, now), nodes)

    def _start(self, each: Waiting, nodes: NDArray[np.intp], now: float) -> None:
        self._started[each.job] = now
        taken: Room = self._whole[nodes].copy() if each.exclusive else np.repeat(_row(each.need), len(nodes), axis=0)
        self._occupy(
            self._next, nodes, taken, now + each.lasting.draw(self._random), now + min(each.lasting.limit, UNLIMITED)
        )
        self._next += 1

    def _occupy(self, number: int, nodes: NDArray[np.intp], taken: Room, end: float, believed_end: float) -> None:
        self._free[nodes] -= taken
        self._held[number] = _Held(nodes, taken, believed_end)
        if math.isfinite(end):
            heapq.heappush(self._ends, (end, number))


def _row(vector: Vector) -> Room:
    return vector.reshape(1, -1)
