import math

import pytest

from processors.advise.predictors import history, similar
from processors.advise.predictors.history import SHRINKAGE, STATISTICS, History
from processors.advise.predictors.job import Completion, Submission


def ended(number: int, seconds: float, user: str = "u") -> Completion:
    job = Submission(job_id=f"{user}{number}", submitted=100.0 * number, user=user)
    return Completion(job=job, ended=100.0 * number + seconds, duration_s=seconds)


def statistics_of(past: History, now: float = 1000.0, key: str = "k") -> dict[str, float]:
    return dict(zip(STATISTICS, past.statistics(now, (key,)), strict=True))


def test_a_key_without_a_past_is_expected_to_be_average() -> None:
    found = statistics_of(History(5.0))
    assert found["mean"] == 5.0
    assert found["count"] == 0
    assert math.isnan(found["last"])


def test_means_are_shrunk_and_the_moving_average_has_a_span_of_ten() -> None:
    past, seconds = History(prior=5.0), [10.0, 20.0, 40.0]
    for number, one in enumerate(seconds):
        past.complete(ended(number, one), ("k",))
    y = [math.log1p(one) for one in seconds]
    found, weight = statistics_of(past), 2 / 11
    assert found["mean"] == pytest.approx((sum(y) + SHRINKAGE * 5.0) / (3 + SHRINKAGE))
    assert found["ewma"] == pytest.approx(((y[0] * (1 - weight) + y[1] * weight) * (1 - weight)) + y[2] * weight)
    assert (found["last"], found["second_last"], found["third_last"]) == tuple(reversed(y))
    assert found["median"] == pytest.approx(y[1])


def test_running_jobs_tell_their_age_until_they_end() -> None:
    past = History(5.0)
    job = ended(1, 50)
    past.submit(job.job, ("k",))
    assert statistics_of(past)["oldest"] == math.log1p(900)
    past.complete(job, ("k",))
    assert math.isnan(statistics_of(past)["oldest"])


def test_made_up_names_cannot_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "KEYS_KEPT", 10)
    monkeypatch.setattr(similar, "KEYS_KEPT", 10)
    past, recent = History(5.0), similar.Recent()
    for number in range(100):
        done = ended(number, 5, user=f"u{number}")
        past.complete(done, (f"k{number}",))
        recent.complete(done)
        recent.submit(ended(number + 1000, 5, user=f"u{number}").job)
    assert [number for number in range(100) if statistics_of(past, key=f"k{number}")["count"]] == list(range(90, 100))
    assert statistics_of(past, key="k99")["count"] == math.log(2)
    found = [recent.candidates(ended(2000, 5, user=f"u{number}").job) for number in range(100)]
    assert [number for number, one in enumerate(found) if one.jobs] == list(range(90, 100))
    recent.complete(Completion(job=Submission(job_id="any", submitted=0.0, queue="q"), ended=1.0, duration_s=1.0))
    asked = [Submission(job_id="new", submitted=1e6, user=f"u{number}", queue="q") for number in range(100)]
    running = [recent.candidates(one).x[0, similar.RELATIONS.index("running")] for one in asked]
    assert running == 90 * [0] + 10 * [1]
