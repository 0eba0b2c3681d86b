from typing import Any

import pytest

from records import Action, Decision, DecisionResult, Mode, Outcome
from scheduler_bridge import BridgeSettings
from scheduler_bridge.actuators import JobState, JobView
from scheduler_bridge.guardrails import Context, Objection, Wait, first_objection, objection_of_state
from scheduler_bridge.ledger import Ledger
from tests.scheduler_bridge.findings import NOW

ALL = frozenset(Action)
SETTINGS = BridgeSettings(
    enabled=ALL, actions_per_cause=2, actions_per_job=3, actions_per_node=4, actions_per_cluster=6
)


def decision(**changes: Any) -> Decision:
    fields: dict[str, Any] = {
        "id": f"restart/{changes.get('job', '1')}/{changes.get('attempt', 0)}/x",
        "action": Action.RESTART,
        "job": "1",
        "time": NOW,
        "expires": NOW + 100,
        "mode": Mode.ACT,
        "policy": "test",
        "reason": "a test",
        "cause": "xid_79",
    }
    return Decision(**fields | changes)


def tried(number: int, outcome: Outcome = Outcome.DONE, **changes: Any) -> DecisionResult:
    fields: dict[str, Any] = {
        "id": f"{number}/{outcome}",
        "decision_id": str(number),
        "action": Action.RESTART,
        "job": "1",
        "attempt": number,
        "cause": "xid_79",
        "time": NOW - 10,
        "outcome": outcome,
    }
    return DecisionResult(**fields | changes)


def objection(about: Decision, *history: DecisionResult, settings: BridgeSettings = SETTINGS, now: float = NOW) -> str:
    ledger = Ledger()
    for result in history:
        ledger.remember(result)
    found = first_objection(about, Context(ledger, settings, now))
    return f"{found.guardrail} {found.outcome}" if found else ""


def test_nothing_stands_in_the_way_of_a_first_decision() -> None:
    assert objection(decision()) == ""


def test_shadow_unless_turned_on_by_name() -> None:
    assert objection(decision(mode=Mode.SHADOW)) == "mode shadowed"
    assert objection(decision(), settings=BridgeSettings()) == "mode shadowed"
    assert objection(decision(), settings=BridgeSettings(enabled=frozenset({Action.EVICT}))) == "mode shadowed"


def test_too_late_is_too_late() -> None:
    assert objection(decision(), now=NOW + 100) == ""
    assert objection(decision(), now=NOW + 100.1) == "expiry expired"


def test_an_attempt_is_acted_on_once() -> None:
    assert objection(decision(attempt=1), tried(1)) == "once refused"
    assert objection(decision(attempt=1), tried(1, Outcome.STARTED)) == "once refused"
    assert objection(decision(attempt=1), tried(1, Outcome.REFUSED)) == ""
    assert objection(decision(attempt=1, action=Action.EVICT), tried(1)) == ""


def test_budgets_of_a_cause_and_of_a_job() -> None:
    assert objection(decision(attempt=9), tried(1)) == ""
    assert objection(decision(attempt=9), tried(1), tried(2)) == "budget refused"
    assert objection(decision(attempt=9, cause="other"), tried(1), tried(2)) == ""
    assert objection(decision(attempt=9, cause="other"), tried(1), tried(2), tried(3, cause="a")) == "budget refused"
    assert objection(decision(attempt=9), tried(1, Outcome.SHADOWED), tried(2, Outcome.EXPIRED)) == ""


def test_a_failed_action_uses_up_the_budget_too() -> None:
    assert objection(decision(attempt=9), tried(1, Outcome.FAILED), tried(2, Outcome.UNVERIFIED)) == "budget refused"


def test_breaker_of_a_node_and_of_the_cluster() -> None:
    against = [tried(number, job=f"j{number}", node="n1") for number in range(4)]
    assert objection(decision(exclude_nodes=["n1"]), *against) == "breaker refused"
    assert objection(decision(exclude_nodes=["n2"]), *against) == ""
    others = [tried(number, job=f"j{number}") for number in range(6)]
    assert objection(decision(), *others) == "breaker refused"
    assert objection(decision(), *[tried(n, job=f"j{n}", time=NOW - 3601) for n in range(6)]) == ""


def seen(state: JobState, **changes: Any) -> JobView:
    return JobView(**{"job": "1", "state": state, "nodes": ("n1",), **changes})


@pytest.mark.parametrize(
    ("job", "confirmed", "expected"),
    [
        (seen(JobState.FAILED), False, None),
        (seen(JobState.RUNNING), False, Wait),
        (seen(JobState.RUNNING), True, Wait),
        (seen(JobState.STOPPING), False, Wait),
        (seen(JobState.COMPLETED), False, Wait),
        (seen(JobState.COMPLETED), True, None),
        (seen(JobState.CANCELLED), True, Objection),
        (seen(JobState.HELD), False, Objection),
        (seen(JobState.OTHER), False, Wait),
        (seen(JobState.FAILED, attempt=1), False, Objection),
        (None, False, Objection),
    ],
)
def test_a_restart_needs_a_job_that_stopped_by_itself(
    job: JobView | None, confirmed: bool, expected: type | None
) -> None:
    found = objection_of_state(decision(), job, None, confirmed)
    assert found is None if expected is None else isinstance(found, expected)


@pytest.mark.parametrize(
    ("job", "beneficiary", "fine"),
    [
        (seen(JobState.RUNNING), seen(JobState.RUNNING), True),
        (seen(JobState.RUNNING, attempt=3), seen(JobState.RUNNING), True),
        (seen(JobState.RUNNING, nodes=("n2",)), seen(JobState.RUNNING), False),
        (seen(JobState.RUNNING, alone=True), seen(JobState.RUNNING), False),
        (seen(JobState.RUNNING), seen(JobState.RUNNING, attempt=1), False),
        (seen(JobState.RUNNING), seen(JobState.COMPLETED), False),
        (seen(JobState.RUNNING), None, False),
        (seen(JobState.PENDING), seen(JobState.RUNNING), False),
        (None, seen(JobState.RUNNING), False),
    ],
)
def test_a_packing_is_cancelled_while_it_lasts(job: JobView | None, beneficiary: JobView | None, fine: bool) -> None:
    about = decision(action=Action.CANCEL_PACKING, beneficiary="2")
    found = objection_of_state(about, job, beneficiary, False)
    assert (found is None) is fine
    assert fine or isinstance(found, Objection)


def test_an_eviction_is_about_the_attempt_that_runs() -> None:
    about = decision(action=Action.EVICT)
    assert objection_of_state(about, seen(JobState.RUNNING), None, False) is None
    assert objection_of_state(about, seen(JobState.RUNNING, attempt=1), None, False)
    assert objection_of_state(about, seen(JobState.PENDING), None, False)
