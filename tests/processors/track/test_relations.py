"""How a candidate for the step time compares with a clock, and what that does to its score."""

import pytest

from processors.track.pace import ObservedStepTime
from processors.track.step_time_candidates import EFFECTS, Relation, StepTimeCandidate, compare, relation_of

STEADY, UNSTEADY = 0.0, 1.0
CASES = [
    ("stated", "timestamps", STEADY, 1.1, 1, Relation.EQUAL),
    ("rate", "arrival", UNSTEADY, 0.9, 1, Relation.EQUAL),
    ("stated", "timestamps", STEADY, 0.6, 1, Relation.NEAR),
    ("rate", "timestamps", UNSTEADY, 1.3, 1, Relation.NEAR),
    ("rate", "timestamps", STEADY, 0.6, 1, Relation.SMOOTHED),
    ("stated", "timestamps", STEADY, 10.0, 10, Relation.INTERVAL),
    ("stated", "arrival", UNSTEADY, 6.0, 10, Relation.NEAR_INTERVAL),
    ("stated", "arrival", UNSTEADY, 4.0, 1, Relation.HELD_BACK),
    ("stated", "arrival", STEADY, 4.0, 1, Relation.LONGER),
    ("stated", "timestamps", UNSTEADY, 4.0, 1, Relation.LONGER),
    ("stated", "arrival", UNSTEADY, 2.0, 1, Relation.LONGER),
    ("stated", "timestamps", STEADY, 0.3, 1, Relation.SHORTER),
    ("stated", "timestamps", UNSTEADY, 0.1, 1, Relation.SHORTER),
    ("stated", "timestamps", STEADY, 0.1, 1, Relation.MUCH_SHORTER),
]


def _pair(
    method: str, source: str, unsteady: float, ratio: float, stride: int
) -> tuple[StepTimeCandidate, ObservedStepTime]:
    clock = ObservedStepTime(1.0, source, stride, 10, mean=1.0, unsteady=unsteady)
    return StepTimeCandidate("`time`", method, ratio, 0.5, "printed"), clock


@pytest.mark.parametrize("case", CASES)
def test_score_changes_by_the_relation_to_the_clock(case: tuple[str, str, float, float, int, Relation]) -> None:
    method, source, unsteady, ratio, stride, relation = case
    candidate, clock = _pair(method, source, unsteady, ratio, stride)
    assert relation_of(candidate, clock, ratio, interval=True) is relation
    compared, effect = compare(candidate, clock, interval=True), EFFECTS[relation]
    assert compared.score == pytest.approx(0.5 * effect.factor + effect.addend)
    assert compared.agrees is effect.agrees
    spread = relation in (Relation.INTERVAL, Relation.NEAR_INTERVAL)
    assert compared.seconds == pytest.approx(ratio / stride if spread else ratio)


def test_each_relation_has_an_effect_and_a_case() -> None:
    assert set(EFFECTS) == set(Relation) == {case[-1] for case in CASES}


def test_candidate_that_is_no_interval_is_not_spread() -> None:
    candidate, clock = _pair("stated", "timestamps", STEADY, 10.0, 10)
    assert relation_of(candidate, clock, 10.0, interval=False) is Relation.LONGER
