"""No feature of a job knows anything that happened at its submission or later."""

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from processors.advise.predictors.dataset import build, replay
from processors.advise.predictors.features import NAMES, Encoders
from processors.advise.predictors.job import Completion, Submission
from processors.advise.predictors.past_jobs import PastJobs
from processors.advise.predictors.similar import gather

from .jobs import any_jobs, repeating


@given(any_jobs(), st.data())
def test_a_row_stays_whatever_changes_later(jobs: list[Completion], data: st.DataObject) -> None:
    encoders = Encoders.fit(jobs)
    ordered = sorted(jobs, key=lambda done: done.job.submitted)
    place = data.draw(st.integers(0, len(jobs) - 1))
    now = ordered[place].job.submitted
    changed = []
    for number, done in enumerate(ordered):
        job, end, seconds, failed = done.job, done.ended, done.duration_s, done.failed
        if number > place:
            job = msgspec.structs.replace(
                job, submitted=now + data.draw(st.integers(0, 9)), user="z", queue="a", gpus=3.0
            )
        if number >= place or end >= now:  # not over at the submission: its end and its duration are anybody's guess
            seconds = float(data.draw(st.integers(0, 99)))
            end, failed = max(now, job.submitted) + data.draw(st.integers(0, 99)), not failed
        changed.append(Completion(job=job, ended=end, duration_s=seconds, failed=failed))
    np.testing.assert_array_equal(build(changed, encoders).x[place], build(ordered, encoders).x[place])
    before, after = gather(ordered), gather(changed)
    np.testing.assert_array_equal(after.x[after.candidates_of(place)], before.x[before.candidates_of(place)])
    np.testing.assert_array_equal(after.y[after.candidates_of(place)], before.y[before.candidates_of(place)])


def test_the_property_would_see_a_leak() -> None:
    """What *is* known at submission does change the row: the property above does not hold for want of features."""
    jobs = repeating(60)
    encoders = Encoders.fit(jobs)
    other = [msgspec.structs.replace(jobs[0], duration_s=9e5), *jobs[1:]]
    assert not np.array_equal(build(other, encoders).x[-1], build(jobs, encoders).x[-1], equal_nan=True)


@given(any_jobs())
def test_the_live_memory_gives_the_rows_of_training(jobs: list[Completion]) -> None:
    encoders = Encoders.fit(jobs)
    rows, candidates = build(jobs, encoders), gather(jobs)
    past, number = PastJobs(encoders), 0
    for event in replay(jobs):
        if isinstance(event, Submission):
            live = past.features(event)
            np.testing.assert_array_equal(live.row, rows.x[number])
            np.testing.assert_array_equal(live.candidates.x, candidates.x[candidates.candidates_of(number)])
            past.submit(event)
            number += 1
        else:
            past.complete(event)
    assert rows.x.shape == (len(jobs), len(NAMES))


def test_a_history_that_is_cut_off_knows_nothing_later() -> None:
    jobs = repeating(200)
    encoders = Encoders.fit(jobs)
    cut = jobs[100].job.submitted
    frozen = build(jobs, encoders, known_until=cut)
    count = frozen.x[:, NAMES.index("queue_count")]
    past = sum(done.ended < cut and done.job.queue == jobs[-1].job.queue for done in jobs)
    assert count[-1] == np.log1p(past)
