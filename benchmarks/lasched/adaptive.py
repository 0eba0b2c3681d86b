"""Replays submissions and ends, gives each job its interval at submission, and lets outcomes move the margins."""

from collections.abc import Sequence

import numpy as np

from processors.advise.predictors.advisor import Quantiles, seconds
from processors.advise.predictors.dataset import Vector, replay
from processors.advise.predictors.feedback import IntervalFeedback
from processors.advise.predictors.intervals import AdaptiveMargins
from processors.advise.predictors.job import Completion, Submission
from processors.advise.predictors.serving import hold


def intervals(
    jobs: Sequence[Completion], predicted: Quantiles, margins: AdaptiveMargins, *, learn: bool = True
) -> tuple[Vector, Vector]:
    """Return low and high in seconds, each of shape (jobs,).

    Args:
        jobs: in the order of submission.
        predicted: the quantiles of the same jobs.
        margins: those to start with; outcomes move them, unless `learn` is false.
        learn: let ends that come before a submission count for its interval.
    """
    feedback, row = IntervalFeedback(margins), 0
    low, high = np.zeros(len(jobs)), np.zeros(len(jobs))
    for event in replay(jobs):
        if isinstance(event, Submission):
            feedback.advance(event.submitted)
            below, above = margins.margins(event)
            ends = hold(
                float(predicted.median[row]), float(predicted.low[row]) - below, float(predicted.high[row]) + above
            )
            low[row], high[row] = seconds(ends[0]), seconds(ends[1])
            if learn:
                started = jobs[row].ended - jobs[row].duration_s
                feedback.issue(event, low[row], high[row], float(predicted.low_share[row]))
                feedback.start(event.job_id, started)
            row += 1
        else:
            feedback.advance(event.ended)
            feedback.complete(event)
    return low, high
