from typing import Any

import pytest

from schedmate_records import Action, Component, ErrorType, Mode, RecoveryAction, decode, encode
from schedmate_records.decision import Decision
from scheduler_bridge import BridgeSettings
from scheduler_bridge.policies import propose
from tests.scheduler_bridge.findings import NOW, failure

SETTINGS = BridgeSettings()


def drains(users: int = 0, **changes: Any) -> list[Decision]:
    found = propose(failure(**changes), SETTINGS, [f"user{number}" for number in range(users)])
    return [decision for decision in found if decision.action is Action.DRAIN]


def test_a_fault_that_the_node_confirms_drains_it_beside_the_restart() -> None:
    (drain,) = drains(node_evidence=True, node="n4")
    assert (drain.node, drain.job, drain.target, drain.mode) == ("n4", "1", "n4", Mode.SHADOW)
    assert (drain.time, drain.expires) == (NOW, NOW + 900)
    assert drain.node_evidence
    assert decode(Decision, encode(drain)) == drain
    assert [each.action for each in propose(failure(node_evidence=True), SETTINGS)] == [Action.DRAIN, Action.RESTART]


@pytest.mark.parametrize(
    "changes",
    [
        {"node_evidence": False},
        {"node": ""},
        {"confidence": 0.89},
        {"confidence": float("nan")},
        {"faulty_component": Component.NETWORK},
        {"faulty_component": Component.STORAGE},
        {"error_type": ErrorType.USER_SCRIPT},
        {"error_type": ErrorType.NONE},
    ],
)
def test_anything_less_drains_nothing(changes: dict[str, Any]) -> None:
    assert drains(**{"node_evidence": True} | changes) == []


def test_jobs_of_other_users_count() -> None:
    assert drains(users=1) == []
    (drain,) = drains(users=2)
    assert not drain.node_evidence


def test_a_fault_that_no_restart_mends_drains_all_the_same() -> None:
    assert [each.action for each in propose(failure(node_evidence=True, restartable=False), SETTINGS)] == [Action.DRAIN]


def test_evidence_that_is_not_on_the_list_drains_nothing() -> None:
    assert drains(node_evidence=True, drain=False) == []
    assert len(drains(node_evidence=True, drain=True)) == 1
    (drain,) = drains(users=2, node_evidence=True, drain=False)
    assert not drain.node_evidence


@pytest.mark.parametrize(
    ("action", "drain", "drained"),
    [
        (RecoveryAction.NONE, True, False),
        (RecoveryAction.GPU_RESET, True, True),
        (RecoveryAction.NODE_REBOOT, False, True),
        (RecoveryAction.DRAIN_AND_RESET, False, True),
        (RecoveryAction.DRAIN_P2P, False, False),
        (RecoveryAction.UNKNOWN, False, False),
    ],
)
def test_the_drivers_recovery_action_decides_with_the_list(action: RecoveryAction, drain: bool, drained: bool) -> None:
    found = drains(node_evidence=True, drain=drain, recovery_action=action)
    assert bool(found) is drained
    assert all(action.replace("_", " ") in each.reason for each in found)
