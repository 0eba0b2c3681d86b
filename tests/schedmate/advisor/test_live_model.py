"""The trained model behind the advisor: asked where nothing is alike, loaded again, scored, and the same after a restart."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from processors.advise.predictors.train import train
from schedmate.advisor.drift import FEWEST, NEWEST, Drift, ScoredEstimate
from schedmate.advisor.history_file import HistoryFile, history_file
from schedmate.advisor.metrics import AdvisorMetrics
from schedmate.advisor.model_files import load, save
from schedmate.advisor.settings import CURRENT
from schedmate.advisor.submissions import SubmissionAdvisor
from schedmate_records import ANSWERED, Estimate, EventKind, JobEvent, Position, Workload
from tests.metric_values import value
from tests.processors.advise.predictors.jobs import repeating

from .lives import life, lives

pytestmark = pytest.mark.slow  # a model is trained

EVERY_S = 2000.0
JOBS = repeating(700, every_s=EVERY_S)
KNOWN = 600


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "first"
    save(train(JOBS[:KNOWN], None).new, folder)
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Iterator[HistoryFile]:
    with history_file(tmp_path / "history.db") as opened:
        yield opened


def batch(events: list[JobEvent], first: int = 0) -> list[tuple[Position, JobEvent]]:
    return [(Position("job-events", 0, first + number), event) for number, event in enumerate(events)]


def advisor(store: HistoryFile, model: Path) -> tuple[SubmissionAdvisor, list[Estimate]]:
    told: list[Estimate] = []
    return SubmissionAdvisor(store, told.extend, model), told


def test_the_model_answers_where_nothing_is_alike_and_is_scored(store: HistoryFile, trained: Path) -> None:
    asked, told = advisor(store, trained)
    asked.handle(batch(lives(JOBS[:KNOWN])))
    told.clear()
    asked.handle(batch(lives(JOBS[KNOWN:]), 10_000))
    took = {done.job.job_id: done.duration_s for done in JOBS}
    assert {each.method for each in told} == {"predictor"}
    assert all(each.model and each.duration_high_s is not None for each in told)
    off = sorted(abs((each.duration_s or 0.0) / took[each.job] - 1) for each in told)
    assert off[len(off) // 2] < 0.35, "six of eight users repeat themselves"
    inside = [each for each in told if (each.duration_low_s or 0) <= took[each.job] <= (each.duration_high_s or 0)]
    assert 0.8 <= len(inside) / len(told) <= 1
    assert value(asked.metrics.scored.labels("predictor")) == len(JOBS)
    assert any(each.similar_jobs for each in told)


def test_what_is_told_of_a_job_once_more_leaves_the_models_other_answers_as_they_were(
    tmp_path: Path, trained: Path
) -> None:
    """Nothing is alike with what was found either, so the model is asked again, also after a restart."""

    def found(submitted: JobEvent) -> JobEvent:
        return JobEvent(
            id=f"d/{submitted.job}", job=submitted.job, kind=EventKind.DESCRIBED, time=submitted.time + 0.5, scheduler="slurm",
            workload=Workload(model_name=submitted.job, dataset_train="one of its own"),
        )  # fmt: skip

    events = lives(JOBS[KNOWN - 50 :])
    more = [
        each for event in events for each in ([event, found(event)] if event.kind is EventKind.SUBMITTED else [event])
    ]
    said: list[list[Estimate]] = []
    for name, input_ in (("plain", events), ("described", more)):
        said.append([])
        for part in (slice(0, len(input_) // 2), slice(len(input_) // 2, None)):
            with history_file(tmp_path / f"{name}.db") as store:
                one, told = advisor(store, trained)
                one.handle(batch(input_[part], part.start or 0))
                said[-1] += told
    plain, described = said
    firsts = [each for each in described if each.revision == 0]
    assert [(each.job, each.duration_s, each.duration_high_s) for each in firsts] == [
        (each.job, each.duration_s, each.duration_high_s) for each in plain
    ]
    assert [(each.job, each.method) for each in described if each.revision == ANSWERED] == [
        (each.job, "predictor") for each in plain
    ]


def test_a_restart_goes_on_with_what_the_history_holds(tmp_path: Path, trained: Path) -> None:
    events = lives(JOBS[KNOWN - 100 :])
    with history_file(tmp_path / "whole.db") as store:
        whole, told = advisor(store, trained)
        for number, event in enumerate(events):
            whole.handle(batch([event], number))
    again: list[Estimate] = []
    for part in (slice(0, 200), slice(200, None)):
        with history_file(tmp_path / "parts.db") as store:
            one, said = advisor(store, trained)
            for number, event in enumerate(events[part], part.start or 0):
                one.handle(batch([event], number))
            again += said
    assert [each.id for each in again] == [each.id for each in told]
    for one_run, restarted in zip(told, again, strict=True):
        assert restarted.duration_s == pytest.approx(one_run.duration_s, rel=0.02)
        assert restarted.duration_high_s == pytest.approx(one_run.duration_high_s, rel=0.02)


def test_a_newer_model_is_taken_and_a_broken_one_is_not(store: HistoryFile, trained: Path, tmp_path: Path) -> None:
    link = tmp_path / CURRENT
    asked, told = advisor(store, link)
    first, second, third, fourth = (life(done)[0] for done in JOBS[:4])
    asked.handle(batch([first]))
    link.symlink_to(trained)
    asked.handle(batch([second], 1))
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "model.json").write_text("{}")
    link.unlink()
    link.symlink_to(broken)
    asked.handle(batch([third], 2))
    newer = tmp_path / "newer"
    save(msgspec.structs.replace(load(trained), data_sha256="of other jobs"), newer)
    link.unlink()
    link.symlink_to(newer)
    asked.handle(batch([fourth], 3))
    assert [each.method for each in told] == ["unknown", *["predictor"] * 3]
    assert told[1].model == told[2].model != told[3].model
    assert value(asked.metrics.models_refused) == 1
    assert value(asked.metrics.models_loaded) == 2


def test_a_job_cancelled_before_it_ran_is_forgotten(store: HistoryFile, trained: Path) -> None:
    asked, _ = advisor(store, trained)
    submitted, _, ended = life(JOBS[0])
    asked.handle(batch([submitted, ended]))
    assert (store.count(), list(store.waiting())) == (0, [])


def test_drift_is_seen_once_the_error_grows() -> None:
    metrics = AdvisorMetrics()
    drift = Drift(metrics)
    for _ in range(FEWEST):
        drift.add_outcome("a", 0.2, ScoredEstimate(0.2, inside=True))
    assert value(metrics.drifted) == 0
    for _ in range(FEWEST + 1):
        drift.add_outcome("a", 0.2, ScoredEstimate(0.6, inside=True))
    assert value(metrics.drifted) == 1
    for _ in range(FEWEST):
        drift.add_outcome("b", 0.6, ScoredEstimate(0.6, inside=True))
    assert value(metrics.drifted) == 0


@pytest.mark.parametrize(("every", "drifted"), [(0, 1), (10, 0), (5, 1)], ids=["too wide", "right", "too narrow"])
def test_drift_is_seen_once_intervals_hold_too_many_or_too_few(every: int, drifted: int) -> None:
    metrics = AdvisorMetrics()
    drift = Drift(metrics)
    for number in range(NEWEST):
        drift.add_outcome("a", 0.2, ScoredEstimate(0.2, inside=not every or number % every > 0))
        assert value(metrics.drifted) == (drifted if number == NEWEST - 1 else 0)
