"""Trains the advisor's models from an accounting file and keeps them in a directory."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec

from processors.advise.past.vectors import MOST
from processors.advise.predictors.job import Completion
from processors.advise.predictors.model_file import BadModel, load, save
from processors.advise.predictors.sacct import COMMAND, NotAccounting, read_sacct
from processors.advise.predictors.train import TooFewJobs, Trained, publish, train
from records import UserError
from schedmate.advisor.history_file import history_file
from schedmate.advisor.job_views import completion
from schedmate.advisor.settings import CURRENT


class TrainingResult(msgspec.Struct):
    """What became of a training."""

    trained: Trained
    folder: Path
    """Where the new model is."""
    published: bool
    """The new model is in use."""
    skipped: int
    """Rows that could not be read."""


def train_from_history(history: Path, models: Path, utc_offset_s: float) -> TrainingResult:
    """As `train_from`, on the jobs of the advisor's own history whose submission it saw or was told."""
    with history_file(history) as opened:
        jobs = [completion(past) for past in opened.newest(MOST) if past.about.submitted]
    return _train(jobs, models, utc_offset_s, skipped=0)


def train_from(accounting: Path, models: Path, utc_offset_s: float) -> TrainingResult:
    """Train on what sacct printed, and let `models/current` point to the new model if it is the better one.

    Raises:
        UserError: the file, or what is in use, cannot be read; or there are too few jobs.
    """
    try:
        with accounting.open(encoding="utf-8", errors="replace") as lines:
            read = read_sacct(lines)
    except OSError as error:
        raise UserError(f"expected the output of {COMMAND} in {accounting}: {error.strerror}") from error
    except NotAccounting as error:
        raise UserError(f"{accounting}: {error}") from error
    return _train(read.jobs, models, utc_offset_s, read.skipped)


def _train(jobs: list[Completion], models: Path, utc_offset_s: float, skipped: int) -> TrainingResult:
    link = models / CURRENT
    try:
        old = load(link) if link.exists() else None
        trained = train(jobs, old, utc_offset_s)
    except (TooFewJobs, BadModel) as error:
        raise UserError(str(error)) from error
    until = datetime.fromtimestamp(trained.new.trained_until, UTC)
    folder = models / f"{until:%Y%m%dT%H%M%SZ}-{trained.new.data_sha256[:8]}"
    if not folder.exists():  # the same jobs give the same model
        save(trained.new, folder)
    return TrainingResult(trained, folder, publish(trained, link, folder), skipped)
