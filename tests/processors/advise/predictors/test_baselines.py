"""Simple predictions, and the choice between them and the model."""

import numpy as np
import pytest

from processors.advise.predictors import baselines as module
from processors.advise.predictors.baselines import BASELINES, OPTIONS, RecentErrors, baselines
from processors.advise.predictors.job import Completion, Submission
from processors.advise.predictors.similar import Recent


def job(name: str, user: str = "u", gpus: float = 1.0, group: str = "") -> Submission:
    return Submission(job_id=name, submitted=0.0, user=user, gpus=gpus, queue="q", group=group)


def recent(*durations: float, gpus: float = 1.0, user: str = "u", group: str = "") -> Recent:
    past = Recent()
    for number, seconds in enumerate(durations):
        past.complete(Completion(job=job(f"{number}", user, gpus, group), ended=float(number), duration_s=seconds))
    return past


def seconds(past: Recent, new: Submission) -> dict[str, float]:
    found = past.candidates(new)
    return dict(zip(BASELINES, np.expm1(baselines(found.x, found.y)).round(3).tolist(), strict=True))


def test_baselines_are_of_the_users_own_jobs() -> None:
    past = recent(100, 200, 300)
    past.complete(Completion(job=job("other", "v"), ended=9.0, duration_s=9000.0))
    found = seconds(past, job("new"))
    assert found["median"] == 200
    assert found["last"] == 300
    assert found["last two"] == 250


def test_baselines_of_a_size_and_a_name_use_such_jobs_alone() -> None:
    past = recent(100, 200, 300)
    for number, took in enumerate((1000.0, 3000.0)):
        past.complete(Completion(job=job(f"big{number}", gpus=8.0, group="g"), ended=9.0 + number, duration_s=took))
    found = seconds(past, job("new", gpus=8.0, group="g"))
    assert found["last of the size"] == 3000
    assert (
        found["last five of the size"]
        == found["same name"]
        == pytest.approx(np.expm1(np.log1p([1000, 3000]).mean()), rel=1e-3)
    )


def test_an_unknown_user_has_the_baselines_of_the_queue() -> None:
    assert seconds(recent(100, 200, 300), job("new", "stranger"))["last"] == 300


def test_no_past_gives_no_baseline() -> None:
    found = Recent().candidates(job("new"))
    assert np.isnan(baselines(found.x, found.y)).all()


def options(right: int) -> np.ndarray:
    return np.where(np.arange(OPTIONS) == right, 5.0, 9.0)


def test_the_model_answers_until_a_baseline_was_better() -> None:
    errors = RecentErrors()
    assert errors.choose("u") == 0
    for _ in range(5):
        errors.update("u", np.full(OPTIONS, 5.0), 5.0)
    assert errors.choose("u") == 0


def test_each_user_has_the_option_that_was_best_in_recent_jobs() -> None:
    errors = RecentErrors()
    for _ in range(100):
        errors.update("a", options(2), 5.0)
        errors.update("b", options(0), 5.0)
    assert (errors.choose("a"), errors.choose("b")) == (2, 0)
    for _ in range(150):
        errors.update("a", options(4), 5.0)
    assert errors.choose("a") == 4


def test_users_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "USERS_KEPT", 10)
    errors = RecentErrors()
    for number in range(50):
        errors.update(f"u{number}", options(1), 5.0)
    assert len(errors.parts) == 10
    assert errors.choose("u49") == errors.choose("never seen") == 1
