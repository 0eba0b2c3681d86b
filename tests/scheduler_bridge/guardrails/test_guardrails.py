from dataclasses import replace
from typing import Any

import pytest

from schedmate_records import Action, Decision, DecisionResult, InvalidRecord, Mode, Outcome, decode, encode
from scheduler_bridge import BridgeSettings
from scheduler_bridge.guardrails import Context, Objection, Wait, first_objection, limit_reached, objection_of_state
from scheduler_bridge.ledger import Ledger
from scheduler_bridge.schedulers import JobView, SchedulerJobState
from tests.scheduler_bridge.findings import NOW

ALL = dict.fromkeys(Action, Mode.ACT)
SETTINGS = BridgeSettings(
    modes=ALL, restarts_per_cause=2, actions_per_job=3, actions_per_node_hour=4, actions_per_hour=6, user_share=0.5
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
    assert objection(decision(), settings=BridgeSettings(modes={Action.EVICT: Mode.ACT})) == "mode shadowed"


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


def test_a_lost_node_spends_nothing_of_what_cures_may_cost() -> None:
    lost = [tried(number, cause="node_fail") for number in range(1, 4)]
    assert objection(decision(attempt=9, cause="node_fail"), *lost) == ""
    assert objection(decision(attempt=9), *lost, tried(4)) == ""
    assert objection(decision(attempt=9), *lost, tried(4), tried(5)) == "budget refused"
    assert objection(decision(attempt=9, cause="boot_fail"), tried(1), tried(2), tried(3)) == ""
    few = SETTINGS.model_copy(update={"restarts_after_lost_nodes": 3})
    assert objection(decision(attempt=9, cause="boot_fail"), *lost, settings=few) == "budget refused"
    assert objection(decision(attempt=9, action=Action.CANCEL, cause="node_fail"), *lost) == "", "an end is no restart"


def test_a_failed_action_uses_up_the_budget_too() -> None:
    assert objection(decision(attempt=9), tried(1, Outcome.FAILED), tried(2, Outcome.UNVERIFIED)) == "budget refused"


def limit(
    about: Decision, *history: DecisionResult, user: str = "ada", settings: BridgeSettings = SETTINGS
) -> tuple[str, float]:
    """Return the limit that is reached, and the seconds until it is so no longer."""
    ledger = Ledger()
    for result in history:
        ledger.remember(result)
    found = limit_reached(about, Context(ledger, settings, NOW), user)
    return (found.guardrail, found.until - NOW) if found else ("", 0.0)


def test_limit_of_the_cluster() -> None:
    ages = [600, 500, 400, 300, 200, 100]
    others = [tried(n, job=f"j{n}", user=f"u{n}", time=NOW - age) for n, age in enumerate(ages)]
    assert limit(decision(), *others) == ("cluster-limit", 3000)
    assert limit(decision(), *others[1:]) == ("", 0)
    assert limit(decision(), *[tried(n, job=f"j{n}", user=f"u{n}", time=NOW - 3601) for n in range(6)]) == ("", 0)


def test_limit_of_a_node_counts_only_what_its_own_evidence_speaks_for() -> None:
    against = [tried(n, job=f"j{n}", user=f"u{n}", node="n1") for n in range(4)]
    assert limit(decision(exclude_nodes=["n1"], node_evidence=True), *against) == ("node-limit", 3590)
    assert limit(decision(exclude_nodes=["n2"], node_evidence=True), *against) == ("", 0)
    assert limit(decision(exclude_nodes=["n1"]), *against) == ("", 0)


def test_a_user_gets_a_share_of_the_cluster_and_no_more() -> None:
    mine = [tried(n, job=f"j{n}", user="ada", time=NOW - n) for n in range(3)]
    assert limit(decision(), *mine) == ("user-limit", 3598)
    assert limit(decision(), *mine, user="bob") == ("", 0)
    unknown = [tried(n, job=f"j{n}") for n in range(3)]
    assert limit(decision(), *unknown, user="") == ("user-limit", 3590)
    assert limit(decision(), *unknown) == ("", 0)


@pytest.mark.parametrize(
    ("cluster", "share", "expected"), [(20, 0.25, 5), (3, 0.25, 1), (20, 1.0, 20), (0, 0.25, 0), (1, 0.01, 1)]
)
def test_the_share_of_a_user_follows_the_limit_of_the_cluster(cluster: int, share: float, expected: int) -> None:
    assert BridgeSettings(actions_per_hour=cluster, user_share=share).actions_per_user_hour == expected


def test_a_limit_of_none_is_never_free() -> None:
    assert limit(decision(), settings=BridgeSettings(actions_per_hour=0)) == ("user-limit", float("inf"))


def test_bounds_of_what_may_be_asked() -> None:
    def refused(**changes: Any) -> bool:
        return objection(decision(**changes)) == "bounds refused"

    assert not refused(exclude_nodes=[f"n{number}" for number in range(4)])
    assert refused(exclude_nodes=[f"n{number}" for number in range(5)])
    assert refused(exclude_nodes=["n1,n2"])
    assert refused(exclude_nodes=["n[1-900]"])
    assert refused(exclude_nodes=[""])
    assert refused(exclude_nodes=["n" * 256])
    assert not refused(expires=NOW + 86400)
    assert refused(expires=NOW + 86401)
    assert refused(expires=float("inf"))
    assert refused(expires=float("nan"))
    assert refused(expires=NOW - 1)
    assert not refused(time=NOW + 299, expires=NOW + 600)
    assert refused(time=NOW + 301, expires=NOW + 600)


@pytest.mark.parametrize("field", ["id", "job", "policy", "reason", "cause", "cause_id", "beneficiary"])
def test_a_decision_with_endless_texts_is_none(field: str) -> None:
    with pytest.raises(InvalidRecord, match=f"length <= .*{field}"):
        decode(Decision, encode(decision(**{"id": "d", field: "x" * 5000})))
    with pytest.raises(InvalidRecord, match="exclude_nodes"):
        decode(Decision, encode(decision(exclude_nodes=["x" * 257])))


def seen(state: SchedulerJobState, **changes: Any) -> JobView:
    return JobView(**{"job": "1", "state": state, "nodes": ("n1",), **changes})


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (seen(SchedulerJobState.FAILED), None),
        (seen(SchedulerJobState.RUNNING), Wait),
        (seen(SchedulerJobState.STOPPING), Wait),
        (seen(SchedulerJobState.COMPLETED), Objection),
        (seen(SchedulerJobState.CANCELLED), Objection),
        (seen(SchedulerJobState.HELD), Objection),
        (replace(seen(SchedulerJobState.FAILED), opted_out=True), Objection),
        (seen(SchedulerJobState.OTHER), Wait),
        (seen(SchedulerJobState.FAILED, attempt=1), Objection),
        (None, Objection),
    ],
)
def test_a_restart_needs_a_job_that_failed(job: JobView | None, expected: type | None) -> None:
    found = objection_of_state(decision(), job, None)
    assert found is None if expected is None else isinstance(found, expected)


@pytest.mark.parametrize(
    ("job", "beneficiary", "fine"),
    [
        (seen(SchedulerJobState.RUNNING), seen(SchedulerJobState.RUNNING), True),
        (seen(SchedulerJobState.RUNNING, attempt=3), seen(SchedulerJobState.RUNNING), True),
        (seen(SchedulerJobState.RUNNING, nodes=("n2",)), seen(SchedulerJobState.RUNNING), False),
        (seen(SchedulerJobState.RUNNING, alone=True), seen(SchedulerJobState.RUNNING), False),
        (seen(SchedulerJobState.RUNNING), seen(SchedulerJobState.RUNNING, attempt=1), False),
        (seen(SchedulerJobState.RUNNING), seen(SchedulerJobState.COMPLETED), False),
        (seen(SchedulerJobState.RUNNING), None, False),
        (seen(SchedulerJobState.PENDING), seen(SchedulerJobState.RUNNING), False),
        (None, seen(SchedulerJobState.RUNNING), False),
    ],
)
def test_a_packing_is_cancelled_while_it_lasts(job: JobView | None, beneficiary: JobView | None, fine: bool) -> None:
    about = decision(action=Action.CANCEL_PACKING, beneficiary="2")
    found = objection_of_state(about, job, beneficiary)
    assert (found is None) is fine
    assert fine or isinstance(found, Objection)


def test_an_eviction_is_about_the_attempt_that_runs() -> None:
    about = decision(action=Action.EVICT)
    assert objection_of_state(about, seen(SchedulerJobState.RUNNING), None) is None
    assert objection_of_state(about, seen(SchedulerJobState.RUNNING, attempt=1), None)
    assert objection_of_state(about, seen(SchedulerJobState.PENDING), None)


@pytest.mark.parametrize(
    ("beneficiary", "fine"),
    [
        (seen(SchedulerJobState.PENDING), True),
        (seen(SchedulerJobState.RUNNING, lacks_places=True), True),
        (seen(SchedulerJobState.RUNNING), False),
        (seen(SchedulerJobState.STOPPING, lacks_places=True), False),
        (None, False),
    ],
)
def test_who_gains_by_an_eviction_still_waits_if_only_in_part(beneficiary: JobView | None, fine: bool) -> None:
    about = decision(action=Action.EVICT, beneficiary="2")
    assert (objection_of_state(about, seen(SchedulerJobState.RUNNING), beneficiary) is None) is fine
