"""Intervals that hold: conformal margins that follow what comes, for all jobs and for each queue and size at once.

Split conformal prediction (Romano et al., 2019) takes its margins from held-out jobs, and holds as long as later jobs are like
them. Jobs of a cluster are not, so the margins move with each outcome by the gradient of the pinball loss, as adaptive conformal
inference does (Gibbs and Candès, 2021; quantile tracking in Angelopoulos et al., 2023). A margin is the sum of one part for each
group that the job belongs to, and each part follows its own group's misses (Mondrian, and groups that overlap). The share of
misses in each group then tends to the one asked for, whatever comes and however late outcomes are.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterable

import numpy as np

from .dataset import Vector
from .job import Submission

MISSES = 0.10
"""Share of jobs outside; half of it on each side."""
STEP = 0.01
"""How far one outcome moves a group's margin, in y: a miss by STEP · (1 - its share), a hit by -STEP · its share. Margins oscillate with
larger steps: with 0.05 the middle interval of Philly was 18 times as wide at the same coverage."""
FEWEST = 100
"""Held-out jobs that give a margin at the start."""
FEWEST_OF_GROUP = 1_000
"""Held-out jobs of a queue or size that give it a margin of its own at the start. With fewer, a burst would set the margin."""
GROUPS_KEPT = 50_000
"""Groups that have a margin. It bounds memory where queues change often. The group unused for longest is dropped."""
WIDEST = 30.0
"""No margin grows past this: e³⁰ seconds is longer than any job."""


def groups_of(job: Submission) -> tuple[Hashable, ...]:
    """Return the groups whose shares of misses are kept: all, the queue, the number of GPUs, and both."""
    return ("all",), ("queue", job.queue), ("gpus", job.gpus), ("both", job.queue, job.gpus)


class AdaptiveMargins:
    """Margins that are added to the lower and upper quantiles of a model."""

    def __init__(self) -> None:
        self.parts: OrderedDict[Hashable, list[float]] = OrderedDict()
        """By group: what to subtract from the lower bound, and to add to the upper."""

    def calibrate(self, jobs: Iterable[Submission], below: Vector, above: Vector) -> None:
        """Start from held-out jobs (split conformal, group by group from the widest).

        Args:
            jobs: the held-out jobs, which the quantiles were not fitted on.
            below: predicted lower quantile - y of each.
            above: y - predicted upper quantile of each.
        """
        members: dict[Hashable, list[int]] = {}
        for row, job in enumerate(jobs):
            for group in groups_of(job):
                members.setdefault(group, []).append(row)
        left = [below.copy(), above.copy()]
        for group, rows in sorted(members.items(), key=lambda one: -len(one[1])):
            if len(rows) >= (FEWEST if group == ("all",) else FEWEST_OF_GROUP):
                level = min(1.0, np.ceil((len(rows) + 1) * (1 - MISSES / 2)) / len(rows))
                part = [float(np.quantile(side[rows], level, method="higher")) for side in left]
                for side, moved in zip(left, part, strict=True):
                    side[rows] -= moved
                self.parts[group] = part

    def margins(self, job: Submission) -> tuple[float, float]:
        """Return what to subtract from the lower and to add to the upper quantile of y."""
        parts = [self.parts.get(group, (0.0, 0.0)) for group in groups_of(job)]
        return sum(one[0] for one in parts), sum(one[1] for one in parts)

    def update(self, job: Submission, *, short: bool, long: bool, low_share: float = MISSES / 2) -> None:
        """Learn that a job was shorter than its interval, longer, or inside; once a job.

        Args:
            job: The job.
            short: It was shorter.
            long: It was longer.
            low_share: Share of such jobs that are meant to be shorter.
        """
        for group in groups_of(job):
            part = self.parts.setdefault(group, [0.0, 0.0])
            self.parts.move_to_end(group)
            for side, (missed, share) in enumerate(((short, low_share), (long, MISSES - low_share))):
                part[side] = float(np.clip(part[side] + STEP * (missed - share), -WIDEST, WIDEST))
        while len(self.parts) > GROUPS_KEPT:
            self.parts.popitem(last=False)
