"""The advisor's model: it learns, it is saved and loaded whole, and a worse one does not replace it."""

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest

from processors.advise.predictors.advisor import AdvisorModel
from processors.advise.predictors.baselines import RecentErrors
from processors.advise.predictors.dataset import build
from processors.advise.predictors.features import Encoders
from processors.advise.predictors.intervals import AdaptiveMargins
from processors.advise.predictors.job import Completion, Submission
from processors.advise.predictors.past_jobs import PastJobs
from processors.advise.predictors.saved_model import SavedModel, hash_of
from processors.advise.predictors.serving import AdvisorPredictor
from processors.advise.predictors.similar import gather
from processors.advise.predictors.train import TooFewJobs, Trained, train
from processors.advise.time_limit import GRACE_S
from schedmate.advisor.model_files import BadModel, load, publish, save

from .jobs import repeating

JOBS = repeating(240, every_s=20_000)
"""Two hundred before the newest week and thirty in it: as few as a model is trained on."""


@pytest.fixture(scope="module")
def trained() -> Trained:
    return train(JOBS, None)


def test_it_learns_who_repeats_and_how_sure_to_be(trained: Trained) -> None:
    predictor = AdvisorPredictor(trained.new.model, trained.new.margins)
    past = PastJobs(trained.new.encoders)
    for done in JOBS[-300:]:
        past.complete(done)
    last = {user: next(done.job for done in reversed(JOBS) if done.job.user == f"u{user}") for user in (2, 5, 7)}
    answers = {
        user: predictor.predict(past.features(msgspec.structs.replace(job, job_id="new", submitted=1_601_200_001.0)))
        for user, job in last.items()
    }
    assert answers[2].median == pytest.approx(np.exp(3 + 0.6 * 2), rel=0.3)
    assert answers[5].median == pytest.approx(np.exp(3 + 0.6 * 5), rel=0.3)
    assert all(one.low <= one.median <= one.high for one in answers.values())
    assert answers[7].high / answers[7].low > 3 * answers[2].high / answers[2].low
    ids = {done.job.job_id for done in JOBS if done.job.user == "u2"}
    assert answers[2].rests_on
    assert set(answers[2].rests_on) <= ids


def test_nothing_known_is_still_an_answer(trained: Trained) -> None:
    empty = PastJobs(trained.new.encoders)
    stranger = empty.features(Submission(job_id="new", submitted=1.6e9))
    answer = AdvisorPredictor(trained.new.model, AdaptiveMargins()).predict(stranger)
    assert 0 <= answer.low <= answer.high
    assert answer.rests_on == ()


def test_a_saved_model_answers_alike(trained: Trained, tmp_path: Path) -> None:
    save(trained.new, tmp_path / "v1")
    again = load(tmp_path / "v1")
    rows, candidates = build(JOBS[:200], again.encoders), gather(JOBS[:200])
    for name in ("median", "low", "high"):
        np.testing.assert_array_equal(
            getattr(again.model.predict(rows.x, candidates), name),
            getattr(trained.new.model.predict(rows.x, candidates), name),
        )
    assert again.margins.parts == trained.new.margins.parts
    assert again.data_sha256 == hash_of(JOBS[::-1])
    assert again.scores == trained.new.scores
    with pytest.raises(FileExistsError):
        save(again, tmp_path / "v1")


@pytest.mark.parametrize(
    ("file", "harm", "says"),
    [
        ("median.txt", lambda text: text.replace(b"leaf_value=", b"leaf_value=9", 1), "hash"),
        ("model.json", lambda text: text[:-20], "card"),
        ("model.json", lambda text: json.dumps(json.loads(text) | {"version": 99}).encode(), "train it again"),
        ("model.json", lambda text: json.dumps(json.loads(text) | {"features": []}).encode(), "train it again"),
        ("model.json", lambda text: json.dumps(json.loads(text) | {"boosters": {"../x": ""}}).encode(), "trees"),
        (
            "model.json",
            lambda text: json.dumps(json.loads(text) | {"margins": [[["all"], [1e9, 0]]]}).encode(),
            "margins",
        ),
    ],
)
def test_a_file_that_was_touched_is_refused(
    trained: Trained, tmp_path: Path, file: str, harm: object, says: str
) -> None:
    save(trained.new, tmp_path / "v1")
    path = tmp_path / "v1" / file
    path.write_bytes(harm(path.read_bytes()))  # type: ignore[operator]
    with pytest.raises(BadModel, match=says):
        load(tmp_path / "v1")


def test_an_old_model_stays_until_a_new_one_is_better(trained: Trained, tmp_path: Path) -> None:
    save(trained.new, tmp_path / "v1")
    link = tmp_path / "current"
    assert publish(trained, link, tmp_path / "v1")
    worse = msgspec.structs.replace(trained, better=False)
    save(trained.new, tmp_path / "v2")
    assert not publish(worse, link, tmp_path / "v2")
    assert link.resolve().name == "v1"
    assert publish(trained, link, tmp_path / "v2")
    assert link.resolve().name == "v2"


@pytest.mark.slow  # trains twice more
def test_the_newest_week_decides(trained: Trained) -> None:
    poor = SavedModel(_without_knowledge(trained), AdaptiveMargins(), trained.new.encoders, 0.0, 0, "", {})
    again = train(JOBS, poor)
    assert again.better
    assert again.old_scores is not None
    assert again.new.scores["median_log_error"] < again.old_scores["median_log_error"]
    unchanged = train(JOBS, trained.new)  # it learned from the newest week, which the trial did not
    assert unchanged.old_scores is not None
    assert unchanged.better == (unchanged.new.scores["median_log_error"] < unchanged.old_scores["median_log_error"])


def _without_knowledge(trained: Trained) -> AdvisorModel:
    rows = build(JOBS[:400], trained.new.encoders)
    rows.y[:] = 1.0
    return AdvisorModel.fit(rows, gather(JOBS[:400]))[0]


def test_few_jobs_are_refused() -> None:
    with pytest.raises(TooFewJobs, match="at least 200"):
        train(repeating(50), None)
    rows, candidates = build(JOBS[:5], Encoders.fit(JOBS)), gather(JOBS[:5])
    with pytest.raises(ValueError, match="at least 20"):
        AdvisorModel.fit(rows, candidates)


def test_modes_are_those_of_the_users_past_jobs(trained: Trained) -> None:
    past, last = PastJobs(trained.new.encoders), JOBS[-1].job
    for number in range(20):
        took = 5.0 if number % 5 == 0 else 20_000.0 + number
        job = msgspec.structs.replace(last, job_id=f"n{number}", user="sweeper")
        past.complete(Completion(job=job, ended=1_601_200_000.0 + number, duration_s=took))
    new = msgspec.structs.replace(last, job_id="new", user="sweeper", submitted=1_601_300_000.0)
    answer = AdvisorPredictor(trained.new.model, AdaptiveMargins()).predict(past.features(new))
    assert [(mode.share, round(mode.high_s)) for mode in answer.modes] == [(0.2, 5), (0.8, 20_019)]


def test_the_baseline_of_a_user_answers_where_it_was_better(trained: Trained) -> None:
    errors, past = RecentErrors(), PastJobs(trained.new.encoders)
    for done in JOBS[-300:]:
        past.complete(done)
    last = next(done.job for done in reversed(JOBS) if done.job.user == "u7")
    features = past.features(msgspec.structs.replace(last, job_id="new", submitted=1_601_200_001.0))
    predictor = AdvisorPredictor(trained.new.model, trained.new.margins, errors)
    before = predictor.predict(features)
    assert before.median == pytest.approx(np.expm1(before.options[0]))
    for _ in range(40):  # the last job of the user was right each time, and all other options were wrong
        errors.update("u7", np.array([9.0, 9.0, 2.0, 9.0, 9.0, 9.0, 9.0]), 2.0)
    after = predictor.predict(features)
    assert after.median == pytest.approx(np.expm1(after.options[2]))
    assert after.low <= after.median <= after.high
    assert after.rests_on


def test_a_training_measures_model_and_baselines_on_the_newest_week(trained: Trained, tmp_path: Path) -> None:
    assert trained.new.errors.parts[""][-1] > 20
    save(trained.new, tmp_path / "v1")
    assert load(tmp_path / "v1").errors.parts == trained.new.errors.parts


def test_no_value_exceeds_the_time_limit(trained: Trained) -> None:
    predictor = AdvisorPredictor(trained.new.model, trained.new.margins)
    past = PastJobs(trained.new.encoders)
    for done in JOBS[-300:]:
        past.complete(done)
    last = next(done.job for done in reversed(JOBS) if done.job.user == "u7")
    job = msgspec.structs.replace(last, job_id="new", submitted=1_601_200_001.0, time_limit_s=60.0)
    assert predictor.predict(past.features(job)).high == 60 + GRACE_S
