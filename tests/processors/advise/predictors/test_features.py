import math

import pytest

from processors.advise.predictors.features import NAMES, Encoders
from processors.advise.predictors.history import History
from processors.advise.predictors.job import Submission

from .jobs import repeating


def row(encoders: Encoders, job: Submission) -> dict[str, float]:
    return dict(zip(NAMES, encoders.row(job, History(encoders.prior)), strict=True))


def test_unseen_and_rare_texts_have_no_code() -> None:
    encoders = Encoders.fit(repeating(100))
    assert row(encoders, Submission(job_id="x", submitted=0.0, user="u1"))["user_code"] >= 0
    assert row(encoders, Submission(job_id="x", submitted=0.0, user="stranger"))["user_code"] == -1
    assert row(encoders, Submission(job_id="x", submitted=0.0))["user_code"] == -1


def test_hours_are_those_of_the_clock_on_the_wall() -> None:
    job = Submission(job_id="x", submitted=1_600_000_000.0 - 1_600_000_000 % 86_400)  # midnight UTC
    assert row(Encoders.fit(repeating(9)), job)["hour_cos"] == pytest.approx(1)
    assert row(Encoders.fit(repeating(9), utc_offset_s=12 * 3600), job)["hour_cos"] == pytest.approx(-1)


def test_ratios_are_of_what_is_known() -> None:
    found = row(Encoders.fit(repeating(9)), Submission(job_id="x", submitted=0.0, gpus=4, cpus=32, instances=2))
    assert (found["cpus_per_gpu"], found["gpus_per_instance"], found["distributed"]) == (8, 2, 1)
    bare = row(Encoders.fit(repeating(9)), Submission(job_id="x", submitted=0.0, cpus=32))
    assert math.isnan(bare["cpus_per_gpu"])
    assert math.isnan(bare["log_time_limit"])


def test_no_job_is_no_training() -> None:
    with pytest.raises(ValueError, match="at least one job"):
        Encoders.fit([])
