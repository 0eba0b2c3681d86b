"""The proposer that ships: a prior that is right mostly, on formats that it has not seen."""

import io

import numpy as np
import pytest

from benchmarks.proposer.data import LabelledLog, generated
from processors.read.proposer.linear import PHASES, ROLES, LinearProposer
from processors.read.roles import Phase, Role
from processors.read.series import TemplateSeries
from tests.processors.read.whole_logs import read_series

UNSEEN = range(90_000, 90_025)


@pytest.fixture(scope="module")
def proposer() -> LinearProposer:
    return LinearProposer.load()


@pytest.fixture(scope="module")
def logs() -> list[LabelledLog]:
    return list(generated(UNSEEN))


def series(lines: list[str]) -> list[TemplateSeries]:
    return list(read_series((line, 7.0 * place) for place, line in enumerate(lines)))


def test_probabilities_sum_to_one(proposer: LinearProposer, logs: list[LabelledLog]) -> None:
    for log in logs[:5]:
        for columns, told in proposer.propose(log.series):
            assert all(set(roles) == set(Role) and sum(roles.values()) == pytest.approx(1) for roles in columns)
            assert set(told) == set(Phase)
            assert sum(told.values()) == pytest.approx(1)


def test_nothing_is_proposed_of_nothing(proposer: LinearProposer) -> None:
    assert proposer.propose([]) == []


def test_formats_that_it_has_not_seen(proposer: LinearProposer, logs: list[LabelledLog]) -> None:
    right, among, count, phases = 0, 0, 0, []
    for log in logs:
        roles, told = proposer.probabilities(log.series)
        phases += [PHASES[row.argmax()] == phase for row, phase in zip(told, log.phases, strict=True)]
        for found, known in zip(roles, log.roles, strict=True):
            ranked = np.argsort(-found, axis=1)[:, :3]
            for row, role in zip(ranked, known, strict=True):
                count += 1
                right += ROLES[row[0]] is role
                among += role in [ROLES[place] for place in row]
    assert right > 0.75 * count
    assert among > 0.93 * count
    assert np.mean(phases) > 0.9


def test_a_counter_without_a_name_is_told_by_how_it_grows(proposer: LinearProposer) -> None:
    rows = series([f"zog {10 * step} {2.5 / step:.4f}" for step in range(1, 30)])
    [([counter, loss], _)] = proposer.propose(rows)
    assert counter[Role.STEP] + counter[Role.SAMPLE] > 0.3
    assert loss[Role.LOSS] > loss[Role.STEP]


def test_evaluation_is_told_from_training(proposer: LinearProposer) -> None:
    lines = []
    for step in range(1, 40):
        lines.append(f"[train] step {10 * step} loss {2.5 / step:.4f} 0.21 s/it")
        if step % 10 == 0:
            lines.append(f"[val] loss {2.7 / step:.4f} acc {0.5 + step / 100:.3f}")
    told = {
        template.text.split()[0]: found.phases
        for template, found in zip(series(lines), proposer.propose(series(lines)), strict=True)
    }
    assert max(told["[train]"], key=lambda phase: told["[train]"][phase]) is Phase.TRAINING
    assert max(told["[val]"], key=lambda phase: told["[val]"][phase]) is Phase.EVALUATION


def test_weights_survive_writing(proposer: LinearProposer, logs: list[LabelledLog]) -> None:
    file = io.BytesIO()
    proposer.save(file)
    assert file.tell() < 400_000
    file.seek(0)
    again = LinearProposer.load(file)
    for first, second in zip(
        proposer.probabilities(logs[0].series)[0], again.probabilities(logs[0].series)[0], strict=True
    ):
        assert np.allclose(first, second, atol=0.02)
