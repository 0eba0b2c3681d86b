"""GPUs in use, GPUs asked for by waiting jobs, and evictions, over time."""

from collections.abc import Iterable

from .simulation import Simulation


class Timeline:
    """State of a partition at the end of each interval. Intervals without events repeat the one before.

    Args:
        interval_s: Length of an interval.
    """

    def __init__(self, interval_s: float = 600.0) -> None:
        self.interval_s = interval_s
        self.points: dict[int, tuple[float, int, int]] = {}
        """By interval: GPUs in use, jobs waiting, evictions so far."""

    def __call__(self, simulation: Simulation) -> None:
        """Note the present state."""
        cluster = simulation.cluster
        waiting = simulation.submitted - simulation.finished - len(simulation.running)
        self.points[int(simulation.now // self.interval_s)] = (
            cluster.capacity - cluster.free,
            waiting,
            simulation.evictions,
        )


def merged(timelines: Iterable[Timeline]) -> list[tuple[float, float, int, int]]:
    """Add partitions up: start of the interval in seconds, GPUs in use, jobs waiting, evictions in it."""
    timelines = list(timelines)
    moments = sorted({moment for timeline in timelines for moment in timeline.points})
    if not moments:
        return []
    states: list[tuple[float, int, int]] = [(0.0, 0, 0)] * len(timelines)
    rows, before = [], 0
    for moment in moments:
        states = [timeline.points.get(moment, state) for timeline, state in zip(timelines, states, strict=True)]
        evictions = sum(state[2] for state in states)
        start = moment * timelines[0].interval_s
        rows.append((start, sum(state[0] for state in states), sum(state[1] for state in states), evictions - before))
        before = evictions
    return rows
