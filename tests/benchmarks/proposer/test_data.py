"""Labels of columns: what hooks clocked and what made-up formats know."""

import itertools

import pytest

from benchmarks.corpus.plan import BLIND, load
from benchmarks.formats.generate import generate
from benchmarks.proposer.data import LabelledLog, corpus, generated, labelled
from processors.read.roles import Phase, Role


@pytest.fixture(scope="module")
def logs() -> list[LabelledLog]:
    return list(generated(range(40)))


def test_columns_get_the_role_that_their_numbers_have(logs: list[LabelledLog]) -> None:
    for log in logs:
        for template, roles in zip(log.series, log.roles, strict=True):
            assert len(roles) == len(template.columns)
            for column, role in zip(template.columns, roles, strict=True):
                if role is Role.BATCH_SIZE:
                    assert len(set(column.values)) == 1
                if role is Role.STEP and log.phases[log.series.index(template)] is Phase.TRAINING:
                    assert column.integer


def test_most_steps_and_losses_of_made_up_formats_become_columns(logs: list[LabelledLog]) -> None:
    for role, aspect, enough in ((Role.STEP, "step", 0.9), (Role.LOSS, "loss", 0.9)):
        told = [log for log in logs if log.truth["tells"][aspect]]
        found = [log for log in told if any(role in roles for roles in log.roles)]
        assert len(found) >= enough * len(told)


def test_a_made_up_log_is_labelled_the_same_twice() -> None:
    first, again = labelled(generate(3)), labelled(generate(3))
    assert (first.series, first.roles, first.phases) == (again.series, again.roles, again.phases)


def test_clocked_runs_label_their_columns() -> None:
    log = next(log for log in corpus() if log.group == "catboost" and log.truth["setup"] == "every_round")
    training = [place for place, phase in enumerate(log.phases) if phase is Phase.TRAINING]
    assert training
    assert all(log.roles[place][:2] == [Role.STEP, Role.LOSS] for place in training)


def test_blind_frameworks_are_not_trained_on() -> None:
    blind = {name for name, framework in load()[1].items() if framework.split == BLIND}
    assert blind
    assert not {log.group for log in itertools.islice(corpus(), 60)} & blind
