import numpy as np
import pytest

from benchmarks.lasched.methods import PRELIMINARY, SIX
from benchmarks.lasched.methods.hras import Hras
from processors.advise.predictors.dataset import Dataset, build
from processors.advise.predictors.features import Encoders
from processors.advise.predictors.history import SHRINKAGE
from tests.processors.advise.predictors.jobs import repeating

JOBS = repeating(700)
ENCODERS = Encoders.fit(JOBS[:500])
DATA = build(JOBS, ENCODERS)
TRAIN, VALIDATION, TEST = (DATA.select_rows(part) for part in (slice(0, 500), slice(500, 600), slice(600, None)))


@pytest.mark.parametrize("name", [*SIX, *PRELIMINARY])
def test_a_method_learns_who_repeats(name: str) -> None:
    method = (SIX | PRELIMINARY)[name](ENCODERS)
    method.fit(TRAIN, VALIDATION)
    found = method.predict(TEST)
    constant = np.abs(TEST.y - np.median(TRAIN.y)).mean()
    assert found.shape == TEST.y.shape
    assert np.abs(TEST.y - found).mean() < 0.7 * constant


@pytest.mark.parametrize("name", [*SIX, *PRELIMINARY])
def test_a_method_never_looks_at_the_labels_of_what_it_predicts(name: str) -> None:
    method = (SIX | PRELIMINARY)[name](ENCODERS)
    method.fit(TRAIN, VALIDATION)
    hidden = Dataset(TEST.jobs, TEST.x, np.zeros(len(TEST)))
    np.testing.assert_array_equal(method.predict(hidden), method.predict(TEST))


def test_history_alone_is_the_shrunken_mean_of_a_signature() -> None:
    jobs = [one for one in JOBS if one.job.user == "u0"][:3]
    encoders = Encoders.fit(JOBS)
    rows = build(jobs, encoders)
    method = Hras(encoders)
    method.fit(rows, rows)
    expected = (rows.y.sum() + SHRINKAGE * encoders.prior) / (3 + SHRINKAGE)
    assert method.predict(rows)[0] == pytest.approx(expected)
    stranger = build([one for one in JOBS if one.job.user == "u5"][:1], encoders)
    assert method.predict(stranger)[0] == encoders.prior
