"""From an accounting file to the model in use."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from processors.advise.predictors.model_file import load
from processors.advise.predictors.sacct import COLUMNS
from records import UserError
from schedmate.advisor.settings import CURRENT
from schedmate.advisor_models import train_from
from tests.processors.advise.predictors.jobs import repeating


def accounting(file: Path, count: int) -> Path:
    rows = ["|".join(COLUMNS)]
    for done in repeating(count, every_s=2000):
        job = done.job
        times = (job.submitted, done.ended - done.duration_s, done.ended)
        text = [datetime.fromtimestamp(round(one), UTC).strftime("%Y-%m-%dT%H:%M:%S") for one in times]
        rows.append(
            "|".join(
                [
                    job.job_id,
                    job.user,
                    job.queue,
                    "train",
                    "COMPLETED",
                    *text,
                    f"cpu=4,gres/gpu={job.gpus:g}",
                    "60",
                    "1",
                ]
            )
        )
    file.write_text("\n".join(rows) + "\n")
    return file


def test_the_first_model_is_used_and_the_same_jobs_change_nothing(tmp_path: Path) -> None:
    file, models = accounting(tmp_path / "jobs.txt", 600), tmp_path / "models"
    first = train_from(file, models, 0.0)
    assert first.published
    assert (models / CURRENT).resolve() == first.folder.resolve()
    assert load(models / CURRENT).jobs == 600
    second = train_from(file, models, 0.0)
    assert second.folder == first.folder
    assert second.trained.old_scores is not None


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
