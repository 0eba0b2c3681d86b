"""Trains the advisor's models, from an accounting file or from its history, and keeps them in a directory."""

import shutil
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from processors.advise.past.vectors import MOST
from processors.advise.predictors.job import Completion
from processors.advise.predictors.sacct import COMMAND, NotAccounting, read_sacct
from processors.advise.predictors.train import TooFewJobs, Trained, train
from schedmate_records import UserError

from .drift import Calibration, calibration, newest_outcomes
from .history_file import history_file
from .job_views import completion
from .model_files import BadModel, load, publish, save
from .settings import CURRENT

AGAIN_S = 20 * 3600.0
"""A model that has drifted is trained again so long after the last training: once a day, by a timer that fires daily."""
KEPT = 5
"""Models that are kept, the newest, and the one in use."""


class TrainingResult(msgspec.Struct):
    """Result of a training."""

    trained: Trained
    folder: Path
    """Directory of the new model."""
    published: bool
    """The new model is in use."""
    skipped: int
    """Rows that could not be read."""


class ModelCheck(msgspec.Struct):
    """Result of a check of the model in use."""

    found: str
    """Result of the check, in a sentence."""
    result: TrainingResult | None = None
    """The training that followed; None where none did."""


def train_when_drifted(history: Path, models: Path) -> ModelCheck:
    """Train on the advisor's history where there is no model yet, or the one in use has drifted; at most once a day.

    A new model learns the users' clock from the one in use.

    Raises:
        UserError: the history, or what is in use, cannot be read.
    """
    link = models / CURRENT
    if not link.exists():
        return _trained("no model is in use yet", history, models, 0.0)
    version, now = _calibration(history, link)
    if not now.drifted:
        return ModelCheck(
            f"no drift of {version}: {now}"
            if now.outcomes
            else f"no drift of {version}: none of its estimates is scored yet"
        )
    found = f"{version} has drifted: {now}"
    since = time.time() - max(each.stat().st_mtime for each in _folders(models))
    if since < AGAIN_S:
        return ModelCheck(
            f"{found}; the last training was {since / 3600:.1f} hours ago, the next comes after {AGAIN_S / 3600:.0f}"
        )
    return _trained(found, history, models, load(link).encoders.utc_offset_s)


def _calibration(history: Path, link: Path) -> tuple[str, Calibration]:
    try:
        saved = load(link)
    except BadModel as error:
        raise UserError(str(error)) from error
    with history_file(history) as opened:
        outcomes = newest_outcomes(opened.scored(), saved.version)
    return saved.version, calibration(outcomes, saved.scores.get("median_log_error"))


def _trained(found: str, history: Path, models: Path, utc_offset_s: float) -> ModelCheck:
    try:
        return ModelCheck(found, train_from_history(history, models, utc_offset_s))
    except NotEnough as error:
        return ModelCheck(f"{found}; {error}")


class NotEnough(UserError):
    """There are too few jobs to learn from."""


def train_from_history(history: Path, models: Path, utc_offset_s: float) -> TrainingResult:
    """Like `train_from`, with the jobs of the advisor's history whose submission it received."""
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
    except TooFewJobs as error:
        raise NotEnough(str(error)) from error
    except BadModel as error:
        raise UserError(str(error)) from error
    until = datetime.fromtimestamp(trained.new.trained_until, UTC)
    folder = models / f"{until:%Y%m%dT%H%M%SZ}-{trained.new.data_sha256[:8]}"
    if not folder.exists():  # the same jobs give the same model
        save(trained.new, folder)
    published = publish(trained, link, folder)
    _forget_old(models)
    return TrainingResult(trained, folder, published, skipped)


def _folders(models: Path) -> list[Path]:
    """Return the models of a directory; their names begin with when they were trained until."""
    return sorted(card.parent for card in models.glob("*/model.json") if card.parent.name != CURRENT)


def _forget_old(models: Path) -> None:
    in_use = (models / CURRENT).resolve()
    for folder in _folders(models)[:-KEPT]:
        if folder.resolve() != in_use:
            shutil.rmtree(folder)
