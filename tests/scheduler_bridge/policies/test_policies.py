from typing import Any

import pytest

from schedmate_records import Action, Component, Decision, ErrorType, Failure, Mode, Slowdown, decode, encode
from scheduler_bridge import BridgeSettings, policies
from tests.scheduler_bridge.findings import NOW, evidence, failure, slowdown

SETTINGS = BridgeSettings(ttl_seconds=600)


def propose(finding: Failure | Slowdown, settings: BridgeSettings) -> Decision | None:
    """Return what is proposed for the job."""
    return next((each for each in policies.propose(finding, settings) if not each.action.on_node), None)


def test_an_infrastructure_failure_is_restarted_away_from_its_node() -> None:
    decision = propose(failure(node="n4", attempt=1), SETTINGS)
    assert decision
    assert (decision.action, decision.job, decision.attempt) == (Action.RESTART, "1", 1)
    assert decision.exclude_nodes == ["n4"]
    assert (decision.time, decision.expires) == (NOW, NOW + 600)
    assert decision.mode is Mode.SHADOW
    assert decision.cause == "xid_79"
    assert decision.evidence == [evidence()]
    assert "Xid 79" in decision.reason


@pytest.mark.parametrize(
    ("component", "excluded"),
    [
        (Component.GPU, ["slot-0"]),
        (Component.NVLINK, ["slot-0"]),
        (Component.NETWORK, ["slot-0"]),
        (Component.NODE, ["slot-0"]),
        (Component.STORAGE, []),
        (Component.OTHER, []),
    ],
)
def test_only_what_belongs_to_a_node_is_held_against_it(component: Component, excluded: list[str]) -> None:
    decision = propose(failure(faulty_component=component), SETTINGS)
    assert decision
    assert decision.exclude_nodes == excluded


def test_what_the_job_alone_says_of_its_node_is_held_against_no_node() -> None:
    alone, confirmed = propose(failure(), SETTINGS), propose(failure(node_evidence=True), SETTINGS)
    assert alone
    assert confirmed
    assert (alone.exclude_nodes, alone.node_evidence) == (["slot-0"], False)
    assert "Only this job's log blames" in alone.reason
    assert (confirmed.exclude_nodes, confirmed.node_evidence) == (["slot-0"], True)
    assert "Only this job's log blames" not in confirmed.reason
    assert alone.id == confirmed.id
    shared = propose(failure(faulty_component=Component.STORAGE, node_evidence=True), SETTINGS)
    assert shared
    assert not shared.node_evidence


def test_another_suspect_makes_another_decision() -> None:
    first, second = propose(failure(), SETTINGS), propose(failure(node="slot-1"), SETTINGS)
    assert first
    assert second
    assert first.id != second.id


def test_what_a_job_prints_without_end_is_cut() -> None:
    decision = propose(failure(message="x" * 100_000, signature="y" * 100_000), SETTINGS)
    assert decision
    assert decode(Decision, encode(decision)) == decision


@pytest.mark.parametrize(
    "changes",
    [
        {"error_type": ErrorType.USER_SCRIPT},
        {"error_type": ErrorType.FRAMEWORK},
        {"error_type": ErrorType.UNKNOWN},
        {"error_type": ErrorType.NONE},
        {"restartable": False},
        {"restartable": None},
        {"confidence": 0.79},
        {"confidence": float("nan")},
    ],
)
def test_all_other_failures_lead_to_nothing(changes: dict[str, Any]) -> None:
    assert propose(failure(**changes), SETTINGS) is None


def test_revisions_with_the_same_root_make_the_same_decision() -> None:
    first, second = propose(failure(revision=1), SETTINGS), propose(failure(revision=2, confidence=0.99), SETTINGS)
    assert first
    assert second
    assert first.id == second.id
    assert propose(failure(attempt=1), SETTINGS).id != first.id  # type: ignore[union-attr]


def test_an_action_turned_on_is_published_to_be_carried_out() -> None:
    settings = BridgeSettings(modes={Action.RESTART: Mode.ACT})
    assert propose(failure(), settings).mode is Mode.ACT  # type: ignore[union-attr]
    assert propose(slowdown(), settings).mode is Mode.SHADOW  # type: ignore[union-attr]


def test_a_slowdown_ends_the_packing_of_the_newcomer() -> None:
    decision = propose(slowdown(), SETTINGS)
    assert decision
    assert (decision.action, decision.job, decision.beneficiary) == (Action.CANCEL_PACKING, "2", "1")
    assert "50%" in decision.reason


@pytest.mark.parametrize("changes", [{"ratio": 0.65}, {"ratio": 0.0}, {"packed_job": ""}, {"packed_job": "1"}])
def test_a_slowdown_that_is_none_leads_to_nothing(changes: dict[str, Any]) -> None:
    assert propose(slowdown(**changes), SETTINGS) is None
