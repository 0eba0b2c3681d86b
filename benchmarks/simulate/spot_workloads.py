"""Synthetic spot workloads with a past: weeks of demand to learn from, and a day that fills the cluster and does not count."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import accumulate
from typing import NamedTuple

import msgspec

from benchmarks.simulate.past import split_past
from schedmate.simulate.cluster import NodeSpec
from schedmate.simulate.job import Job
from schedmate.simulate.outcomes import Summary, summaries
from schedmate.simulate.replay import Scenario, replay
from schedmate.simulate.simulation import Policy
from schedmate.simulate.workloads.spot import spot_workload

NODES = 287
DAY = 86_400
PAST_DAYS = 15
"""Of which nothing but the demand is known: a day more than OrgLinear is given at least."""
WARM_DAYS = 1
FIRST_SEED = 110
"""Settings were chosen with lower seeds."""
START = datetime(2024, 1, 1)
"""Second 0: a Monday, as the workload has it."""


class SpotTrial(NamedTuple):
    """A workload on its cluster.

    Attributes:
        jobs: That are replayed.
        past: By organisation, the demand of each hour before.
        nodes: Of the cluster.
        counts_from_s: Jobs submitted from then on count.
    """

    jobs: Sequence[Job]
    past: Mapping[str, Sequence[float]]
    nodes: Sequence[NodeSpec]
    counts_from_s: float

    @property
    def contended(self) -> bool:
        """Whether the jobs that count would at times hold more GPUs than there are if no job waited."""
        ends = [(job.submit_s + job.duration_s, -job.total_gpus) for job in self.jobs]
        changes = sorted([*ends, *((job.submit_s, job.total_gpus) for job in self.jobs)])
        held = accumulate(gpus for _, gpus in changes)
        last = self.jobs[-1].submit_s
        capacity = sum(node.gpus for node in self.nodes)
        return any(
            gpus > capacity and self.counts_from_s <= at <= last for (at, _), gpus in zip(changes, held, strict=True)
        )

    def run(self, name: str, policy: Policy) -> tuple[Summary, Summary]:
        """Return what a policy makes of it: the figures of high-priority and of spot jobs that count."""
        replayed = replay(Scenario(jobs=self.jobs, nodes=self.nodes), lambda: policy)
        counted = [run for run in replayed.runs if run.job.submit_s >= self.counts_from_s]
        hp, spot = summaries(name, msgspec.structs.replace(replayed, runs=counted))
        return hp, spot


def spot_trial(seed: int, load: float, days: float, scale: float) -> SpotTrial:
    """Draw a workload.

    Args:
        seed: Of the random numbers; high-priority jobs depend on it and on `scale` alone.
        load: Spot jobs over those of GFS's Table 3.
        days: That count.
        scale: Nodes over the 287 of the paper; jobs are as many times fewer, their sizes stay.
    """
    begin = (PAST_DAYS + WARM_DAYS) * DAY
    jobs, past = split_past(spot_workload(begin / DAY + days, seed, load, scale), PAST_DAYS * DAY)
    return SpotTrial(jobs, past, [NodeSpec()] * round(NODES * scale), begin)
