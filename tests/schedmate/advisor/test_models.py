"""From an accounting file to the model in use."""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from processors.advise.past import PastJob, SubmittedJob
from processors.advise.predictors.job import Completion
from processors.advise.predictors.sacct import COLUMNS
from schedmate.advisor.history_file import history_file
from schedmate.advisor.model_files import load
from schedmate.advisor.models import AGAIN_S, KEPT, train_from, train_from_history, train_when_drifted
from schedmate.advisor.settings import CURRENT
from schedmate_records import Estimate, UserError
from tests.processors.advise.predictors.jobs import repeating

EVERY_S = 20_000.0
"""Two hundred jobs before the newest week and thirty in it: as few as a model is trained on."""
FIRST = 240
JOBS = repeating(2 * FIRST, every_s=EVERY_S)


def accounting(file: Path, count: int) -> Path:
    rows = ["|".join(COLUMNS)]
    for done in repeating(count, every_s=EVERY_S):
        job = done.job
        times = (job.submitted, done.ended - done.duration_s, done.ended)
        text = [datetime.fromtimestamp(round(one), UTC).strftime("%Y-%m-%dT%H:%M:%S") for one in times]
        resources = f"cpu=4,gres/gpu={job.gpus:g}"
        row = [job.job_id, job.user, "COMPLETED", *text, "", "", "train", job.queue, resources, "1", "60"]
        rows.append("|".join(row))
    file.write_text("\n".join(rows) + "\n")
    return file


def test_the_first_model_is_used(tmp_path: Path) -> None:
    file, models = accounting(tmp_path / "jobs.txt", FIRST), tmp_path / "models"
    first = train_from(file, models, 0.0)
    assert first.published
    assert (models / CURRENT).resolve() == first.folder.resolve()
    assert load(models / CURRENT).jobs == FIRST


@pytest.mark.parametrize(
    ("text", "says"),
    [("", "first line"), ("|".join(COLUMNS) + "\n", "at least 200 ended jobs")],
    ids=["empty", "no jobs"],
)
def test_what_cannot_be_learned_from_is_one_line(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "jobs.txt"
    file.write_text(text)
    with pytest.raises(UserError, match=says):
        train_from(file, tmp_path / "models", 0.0)
    with pytest.raises(UserError, match="sacct"):
        train_from(tmp_path / "none.txt", tmp_path / "models", 0.0)


def past(done: Completion, factor: float) -> PastJob:
    job = done.job
    about = SubmittedJob(
        job=job.job_id, user=job.user, submitted=job.submitted, partition=job.queue, gpus=job.gpus, cpus=job.cpus
    )
    return PastJob(about=about, ended=done.ended - done.duration_s * (1 - factor), duration_s=done.duration_s * factor)


def fill(history: Path, jobs: list[Completion], factor: float = 1.0, model: str = "") -> None:
    """Let jobs end after `factor` of their usual time; where `model` is given, it told the usual one, and every tenth wrongly."""
    with history_file(history) as opened:
        for number, done in enumerate(jobs):
            job, usual = done.job, done.duration_s * (1.0 if number % 10 else 9.0)
            opened.add(f"{job.job_id}/0", past(done, factor))
            if model:
                told = Estimate(
                    id=job.job_id, job=job.job_id, time=job.submitted, duration_s=usual,
                    duration_low_s=0.7 * usual, duration_high_s=1.3 * usual, method="predictor", model=model,
                )  # fmt: skip
                opened.record_estimate(f"slurm/{job.job_id}", told)
        opened.commit()


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A history, and the model that was trained on it."""
    place = tmp_path_factory.mktemp("first")
    history, models = place / "history.db", place / "models"
    fill(history, JOBS[:FIRST])
    checked = train_when_drifted(history, models)
    assert checked.found == "no model is in use yet"
    assert checked.result is not None
    assert checked.result.published
    return history, checked.result.folder


@pytest.fixture
def served(tmp_path: Path, first: tuple[Path, Path]) -> tuple[Path, Path, str]:
    """A history, a directory of models, and the version of the one in use, which was trained long ago. A copy for each test."""
    history, models = tmp_path / "history.db", tmp_path / "models"
    shutil.copy(first[0], history)
    shutil.copytree(first[1], models / first[1].name)
    os.utime(models / first[1].name, times=(1.0, 1.0))
    (models / CURRENT).symlink_to(models / first[1].name)
    return history, models, load(models / CURRENT).version


def test_a_history_that_goes_on_as_before_is_no_drift(served: tuple[Path, Path, str]) -> None:
    history, models, version = served
    fill(history, JOBS[FIRST:], model=version)
    checked = train_when_drifted(history, models)
    assert checked.result is None
    assert checked.found.startswith(
        f"no drift of {version}: of its newest 200 estimates 90.0 % of the jobs were inside"
    )
    assert load(models / CURRENT).version == version


@pytest.mark.slow
def test_a_history_that_drifts_makes_a_new_model_that_is_used_once_it_is_better(served: tuple[Path, Path, str]) -> None:
    history, models, version = served
    fill(history, JOBS[FIRST:], factor=30.0, model=version)
    checked = train_when_drifted(history, models)
    assert f"{version} has drifted: of its newest 200 estimates 0.0 % of the jobs were inside" in checked.found
    assert checked.result is not None
    old, new = checked.result.trained.old_scores, checked.result.trained.new.scores
    assert old is not None
    better = new["median_log_error"] < old["median_log_error"]
    assert checked.result.published == better
    assert (load(models / CURRENT).version != version) == better
    assert better


def test_it_trains_once_a_day(served: tuple[Path, Path, str]) -> None:
    history, models, version = served
    fill(history, JOBS[FIRST:], factor=30.0, model=version)
    newest = max(models.glob("*/model.json")).parent
    os.utime(newest)
    checked = train_when_drifted(history, models)
    assert checked.result is None
    assert f"the next comes after {AGAIN_S / 3600:.0f}" in checked.found


def test_too_few_jobs_are_no_failure_of_a_look(tmp_path: Path) -> None:
    history = tmp_path / "history.db"
    fill(history, JOBS[:50])
    checked = train_when_drifted(history, tmp_path / "models")
    assert checked.result is None
    assert "expected at least 200 ended jobs" in checked.found
    with pytest.raises(UserError, match="at least 200"):
        train_from_history(history, tmp_path / "models", 0.0)


def test_the_same_jobs_change_nothing_and_old_models_are_forgotten(served: tuple[Path, Path, str]) -> None:
    history, models, _ = served
    in_use = (models / CURRENT).resolve()
    for number in range(KEPT + 2):
        (models / f"29990101T00000{number}Z-none").mkdir()
        (models / f"29990101T00000{number}Z-none" / "model.json").write_text("{}")
    again = train_from_history(history, models, 0.0)
    assert again.folder.resolve() == (models / CURRENT).resolve() == in_use
    assert again.trained.old_scores is not None
    left = sorted(card.parent.resolve() for card in models.glob("29*/model.json"))
    assert len(left) == KEPT
    assert in_use.is_dir()
