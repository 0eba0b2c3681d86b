"""What stands between a decision and a node."""

from typing import Any

import pytest

from schedmate_records import Action, Decision, Mode
from scheduler_bridge import BridgeSettings
from scheduler_bridge.act_keys import act_key, add_key, read_keys
from scheduler_bridge.guardrails import Objection, Wait, objection_of_node
from scheduler_bridge.schedulers import NodeView, SchedulerNodeState
from tests.scheduler_bridge.findings import NOW

from .test_guardrails import decision, objection, tried

SETTINGS = BridgeSettings(modes=dict.fromkeys(Action, Mode.ACT))
KEY = "drain/0123456789abcdef"


def drain(**changes: Any) -> Decision:
    fields: dict[str, Any] = {"id": "drain/n1", "action": Action.DRAIN, "node": "n1", "node_evidence": True}
    return decision(**fields | changes)


def nodes(count: int = 20, drained: int = 0, **changes: Any) -> list[NodeView]:
    """Return a cluster whose first node, n1, is as `changes` say, and of whose last nodes some were drained by the bridge."""
    first = NodeView(**{"node": "n1", "state": SchedulerNodeState.UP, "pools": ("p",)} | changes)
    rest = [
        NodeView(f"n{number}", SchedulerNodeState.UP, pools=("p",))
        if number <= count - drained
        else NodeView(f"n{number}", SchedulerNodeState.DRAINED, pools=("p",), drained_by=KEY)
        for number in range(2, count + 1)
    ]
    return [first, *rest]


def verdict(about: Decision, there: list[NodeView], users: set[str] | None = None, now: float = NOW) -> object:
    return objection_of_node(about, there, users or set(), SETTINGS, now)


def test_a_node_with_evidence_of_its_own_is_drained() -> None:
    assert verdict(drain(), nodes()) is None


@pytest.mark.parametrize(
    ("about", "there", "expected"),
    [
        (drain(node="n99"), nodes(), "does not know"),
        (drain(), nodes(state=SchedulerNodeState.DRAINED, reason="Ada: broken fan"), "Ada"),
        (drain(), nodes(state=SchedulerNodeState.DRAINING, drained_by=KEY), "out of service"),
        (drain(), nodes(state=SchedulerNodeState.DOWN), "out of service"),
        (drain(), nodes(booted=NOW + 1), "booted since"),
        (drain(), nodes(acts=(act_key(drain()),)), "carried out before"),
        (drain(action=Action.UNDRAIN), nodes(), "did not drain"),
        (drain(action=Action.UNDRAIN), nodes(state=SchedulerNodeState.DRAINED), "did not drain"),
    ],
)
def test_what_is_refused(about: Decision, there: list[NodeView], expected: str) -> None:
    found = verdict(about, there)
    assert isinstance(found, Objection)
    assert expected in found.reason


def test_a_node_that_the_bridge_drained_returns() -> None:
    about = drain(action=Action.UNDRAIN)
    assert verdict(about, nodes(state=SchedulerNodeState.DRAINED, drained_by=KEY)) is None
    assert verdict(about, nodes(state=SchedulerNodeState.DRAINING, drained_by=KEY)) is None


def test_a_witness_grows_stale() -> None:
    assert verdict(drain(), nodes(), now=NOW + 900) is None
    assert isinstance(verdict(drain(), nodes(), now=NOW + 901), Objection)


def test_jobs_of_several_users_are_a_witness_and_one_users_are_none() -> None:
    about = drain(node_evidence=False)
    assert isinstance(verdict(about, nodes()), Wait)
    assert isinstance(verdict(about, nodes(), {"ada", "bo"}), Wait)
    assert verdict(about, nodes(), {"ada", "bo", "cy"}) is None


@pytest.mark.parametrize(
    ("count", "drained", "fine"),
    [(20, 0, True), (20, 1, True), (20, 2, False), (4, 0, True), (4, 1, False), (3, 0, True), (2, 0, False)],
)
def test_a_tenth_at_most_and_small_clusters_keep_two(count: int, drained: int, fine: bool) -> None:
    found = verdict(drain(), nodes(count, drained))
    assert found is None if fine else isinstance(found, Wait)


def test_a_small_pool_of_a_large_cluster_keeps_its_nodes() -> None:
    small = [
        NodeView("n1", SchedulerNodeState.UP, pools=("p", "small")),
        NodeView("s2", SchedulerNodeState.UP, pools=("small",)),
    ]
    found = verdict(drain(), [*small, *nodes(100)[1:]])
    assert isinstance(found, Wait)
    assert "small" in found.reason


def test_a_node_is_left_alone_for_an_hour() -> None:
    done = tried(1, action=Action.DRAIN, node="n1", time=NOW - 3599)
    assert objection(drain(mode=Mode.ACT), done) == "cooldown refused"
    assert objection(drain(), tried(1, action=Action.DRAIN, node="n1", time=NOW - 3601)) == ""
    assert objection(drain(action=Action.UNDRAIN), done) == ""
    assert objection(drain(node="n2"), done) == ""


def test_a_drain_spends_no_budget_of_the_job_that_led_to_it() -> None:
    drains = [tried(number, action=Action.DRAIN, node=f"n{number}") for number in range(3)]
    assert objection(decision(attempt=9), *drains) == ""


@pytest.mark.parametrize("node", ["", "n1 State=DOWN", "-n1", "n" * 300])
def test_a_name_that_no_node_has(node: str) -> None:
    assert objection(drain(node=node[:256])) == "bounds refused" or node == "n" * 300


def test_an_action_needs_something_to_act_on_and_bounded_patience() -> None:
    assert objection(decision(job="")) == "bounds refused"
    assert objection(decision(job="", action=Action.NOTIFY)) == ""
    assert objection(decision(action=Action.EVICT, grace_s=901.0)) == "bounds refused"
    assert objection(decision(action=Action.EVICT, grace_s=float("nan"))) == "bounds refused"


def test_keys_stand_beside_what_others_wrote() -> None:
    comment = "rack 7"
    for number in range(10):
        comment = add_key(comment, f"drain/{number:016x}")
    assert comment.startswith("rack 7 schedmate:drain/")
    assert read_keys(comment) == tuple(f"drain/{number:016x}" for number in range(2, 10))
    assert read_keys(add_key(comment, "drain/0000000000000005"))[-1] == "drain/0000000000000005"
    assert read_keys("") == read_keys("schedmate:none of ours") == ()
