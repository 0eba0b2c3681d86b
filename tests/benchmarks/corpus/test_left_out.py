"""Nothing that is trained on a framework scores it."""

from collections import Counter

import numpy as np
import pytest

from benchmarks.corpus import left_out
from benchmarks.corpus.left_out import COLUMN_FOLDS, FOLDS, LeftOutProcessors, fold_of
from benchmarks.corpus.plan import BLIND, load
from processors.classify.linear import LETTERS, LinearModel

FRAMEWORKS = load()[1]


def model(fold: int) -> LinearModel:
    return LinearModel(
        np.full((2 << 15, len(LETTERS)), float(fold), np.float32), np.zeros(4, np.float32), np.ones((4, 2))
    )


def test_frameworks_are_spread_over_all_groups() -> None:
    count = Counter(fold_of(name) for name, framework in FRAMEWORKS.items() if framework.split != BLIND)
    assert set(count) == set(range(FOLDS))
    assert min(count.values()) >= 10


def test_a_framework_is_read_by_the_model_that_has_not_seen_its_group(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [model(fold) for fold in range(FOLDS)]
    of_columns = [object() for _ in range(COLUMN_FOLDS)]
    given: list[tuple[object, object]] = []
    monkeypatch.setattr(left_out, "lines_models", lambda say: made)
    monkeypatch.setattr(left_out, "column_models", lambda say: of_columns)
    monkeypatch.setattr(
        left_out, "job_processor", lambda settings, linear, proposer: given.append((linear, proposer)) or object()
    )
    for name, framework in FRAMEWORKS.items():
        given.clear()
        LeftOutProcessors(print).of(framework)
        blind = framework.split == BLIND
        assert given == [(None, None) if blind else (made[fold_of(name)], of_columns[fold_of(name, COLUMN_FOLDS)])]


def test_proposers_leave_out_the_groups_that_they_were_trained_without() -> None:
    train = pytest.importorskip("benchmarks.proposer.train")
    assert COLUMN_FOLDS == train.FOLDS
    assert all(fold_of(name, COLUMN_FOLDS) == train.fold_of(name) for name in FRAMEWORKS)


def test_blind_frameworks_need_no_training() -> None:
    said: list[str] = []
    blind = next(framework for framework in FRAMEWORKS.values() if framework.split == BLIND)
    assert LeftOutProcessors(said.append).of(blind)
    assert not said
