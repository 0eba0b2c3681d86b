"""Schedules jobs on one machine, whose speed is 1 and may be shared or pre-empted without cost (LASched, section 3.3).

Every function takes release times and sizes in seconds, shape (jobs,), and returns completion times of that shape.
Where policies tie, the job that was released first, and then the one listed first, goes first.
"""

import heapq
from collections import deque
from collections.abc import Callable
from functools import wraps

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]


def _by_release(policy: Callable[..., Times]) -> Callable[..., Times]:
    """Number the jobs in the order of release while `policy` runs, so that lower numbers win where it ties."""

    @wraps(policy)
    def ordered(*columns: Times | float, **options: bool) -> Times:
        order = np.argsort(columns[0], kind="stable")
        done = np.empty(len(order))
        done[order] = policy(*(one[order] if isinstance(one, np.ndarray) else one for one in columns), **options)
        return done

    return ordered


@_by_release
def non_preemptive(release: Times, size: Times, key: Times) -> Times:
    """Run whatever waits with the smallest key to its end: FIFO by release, SJF by size, SPJF by predicted size."""
    done, now = np.zeros(len(size)), 0.0
    waiting: list[tuple[float, int]] = []
    arrivals = deque(range(len(release)))
    while arrivals or waiting:
        if not waiting:
            now = max(now, release[arrivals[0]])
        while arrivals and release[arrivals[0]] <= now:
            job = arrivals.popleft()
            heapq.heappush(waiting, (float(key[job]), job))
        _, job = heapq.heappop(waiting)
        now += size[job]
        done[job] = now
    return done


@_by_release
def preemptive(release: Times, size: Times, key: Times, *, falls: bool) -> Times:
    """Run whatever has the smallest key at each moment.

    Args:
        release: when each job arrives.
        size: how long each takes.
        key: the priority at arrival: size (SRPT), predicted size (SPRPT), deadline (EDF).
        falls: the key falls by one for each second of service (remaining time), or stays (deadline).
    """
    done, left = np.zeros(len(size)), size.astype(np.float64).copy()
    waiting: list[tuple[float, int]] = []
    arrivals, now = deque(range(len(release))), 0.0
    while arrivals or waiting:
        if not waiting:
            now = max(now, release[arrivals[0]])
        while arrivals and release[arrivals[0]] <= now:
            job = arrivals.popleft()
            heapq.heappush(waiting, (float(key[job]), job))
        rank, job = heapq.heappop(waiting)
        until = release[arrivals[0]] if arrivals else np.inf
        served = min(left[job], until - now)
        left[job] -= served
        if now + left[job] + served <= until:
            now += served
            done[job] = now
        else:
            now = until
            heapq.heappush(waiting, (rank - served if falls else rank, job))
    return done


@_by_release
def preferential_round_robin(release: Times, size: Times, predicted: Times, share: float) -> Times:
    """Give `share` of the machine to the job with the smallest prediction, and the rest to all alike (Kumar et al., 2018).

    A share of zero is Round Robin. Service that all get alike is counted by one clock, `common`, so that an event costs O(log n).
    """
    done, now, common = np.zeros(len(size)), 0.0, 0.0
    arrivals = deque(range(len(release)))
    finish: list[tuple[float, int]] = []  # what `common` shows at a job's end, if it is never preferred again
    target = np.zeros(len(size))
    preferred: list[tuple[float, int]] = []
    active: set[int] = set()
    while arrivals or active:
        if not active:
            now = max(now, release[arrivals[0]])
        while arrivals and release[arrivals[0]] <= now:
            job = arrivals.popleft()
            active.add(job)
            target[job] = common + size[job]
            heapq.heappush(finish, (float(target[job]), job))
            heapq.heappush(preferred, (float(predicted[job]), job))
        while preferred[0][1] not in active:
            heapq.heappop(preferred)
        favourite = preferred[0][1]
        rate = (1 - share) / len(active)
        other = _first_other(finish, target, active, favourite)
        wait = max(0.0, target[favourite] - common) / (rate + share)
        ends = favourite
        if other is not None and rate > 0 and (target[other] - common) / rate < wait:
            wait, ends = (target[other] - common) / rate, other
        until = release[arrivals[0]] if arrivals else np.inf
        step = min(wait, until - now)
        common += rate * step
        target[favourite] -= share * step
        if share:
            heapq.heappush(finish, (float(target[favourite]), favourite))
        if now + wait <= until:
            now += wait
            done[ends] = now
            active.remove(ends)
        else:
            now = until
    return done


def _first_other(finish: list[tuple[float, int]], target: Times, active: set[int], favourite: int) -> int | None:
    """Return the job that ends first but for the favourite, dropping entries that are out of date."""
    aside = None
    while finish:
        at, job = finish[0]
        if job in active and at == target[job] and job != favourite:
            break
        entry = heapq.heappop(finish)
        if job == favourite and at == target[job] and job in active:
            aside = entry
    found = finish[0][1] if finish else None
    if aside is not None:
        heapq.heappush(finish, aside)
    return found


@_by_release
def least_attained_service(release: Times, size: Times) -> Times:
    """Share the machine among those that were served least (LAS, also foreground-background; Nuyens and Wierman, 2008).

    Jobs served alike form a level; the lowest level runs until a job of it ends, it reaches the next, or a job arrives.
    """
    done, now = np.zeros(len(size)), 0.0
    arrivals = deque(range(len(release)))
    levels: list[tuple[float, list[tuple[float, int]]]] = []  # the lowest last: service attained, heap of (size, job)
    while arrivals or levels:
        if not levels:
            now = max(now, release[arrivals[0]])
        fresh: list[tuple[float, int]] = []
        while arrivals and release[arrivals[0]] <= now:
            job = arrivals.popleft()
            heapq.heappush(fresh, (float(size[job]), job))
        if fresh:
            levels.append((0.0, fresh))
        attained, group = levels.pop()
        if levels and levels[-1][0] <= attained:
            levels.append(_merged(group, levels.pop()))
            continue
        goal = min(group[0][0], levels[-1][0] if levels else np.inf)
        wait = (goal - attained) * len(group)
        until = release[arrivals[0]] if arrivals else np.inf
        if now + wait > until:
            attained += (until - now) / len(group)
            now = until
        else:
            now += wait
            attained = goal
            while group and group[0][0] <= attained:
                done[heapq.heappop(group)[1]] = now
        if group:
            levels.append((attained, group))
    return done


def _merged(
    one: list[tuple[float, int]], other: tuple[float, list[tuple[float, int]]]
) -> tuple[float, list[tuple[float, int]]]:
    """Merge the smaller heap into the larger: each job moves O(log n) times."""
    small, large = sorted((one, other[1]), key=len)
    for entry in small:
        heapq.heappush(large, entry)
    return other[0], large
