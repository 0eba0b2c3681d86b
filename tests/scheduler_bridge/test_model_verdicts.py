"""Verdicts that a language model took part in: what they lead to, and what they never lead to."""

from typing import Any

import msgspec
import pytest

from schedmate_records import (
    RULES,
    Action,
    Component,
    Decision,
    ErrorType,
    Failure,
    FailureSource,
    Mode,
    Opinion,
    Outcome,
)
from scheduler_bridge import Bridge, BridgeSettings

from .findings import NOW, Written, failure
from .no_scheduler import NoScheduler

ON = BridgeSettings(modes=dict.fromkeys(Action, Mode.SHADOW))
TRUSTING = ON.model_copy(update={"trust_model": True})


def decisions(settings: BridgeSettings, *verdicts: Failure) -> list[Decision]:
    written = Written()
    bridge = Bridge(NoScheduler(), settings, written, lambda: NOW)
    for verdict in verdicts:
        bridge.accept(verdict)
    return [each for each in written.records if isinstance(each, Decision)]


def withdrawn(settings: BridgeSettings, *verdicts: Failure) -> bool:
    written = Written()
    bridge = Bridge(NoScheduler(), settings, written, lambda: NOW)
    for verdict in verdicts:
        bridge.accept(verdict)
    return Outcome.REFUSED in written.outcomes


def combined(rules: float, **changes: Any) -> Failure:
    """A verdict of the second revision, in which a model took part and the rules had the confidence `rules`."""
    opinions = [
        Opinion(by=RULES, error_type=ErrorType.INFRASTRUCTURE, confidence=rules),
        Opinion(by="m", error_type=ErrorType.INFRASTRUCTURE, confidence=0.9),
    ]
    return failure(revision=2, opinions=opinions, confidence=0.95, **changes)


DECIDED: dict[str, Any] = {"source": FailureSource.MODEL, "signature": ""}
CONFIRMED: dict[str, Any] = {"node_evidence": True, "drain": True}


def test_model_alone_leads_to_no_action() -> None:
    assert decisions(ON, failure(confidence=0.6), combined(0.6, **DECIDED)) == []
    assert decisions(ON, combined(0.6)) == []


def test_model_alone_restarts_a_job_where_the_operator_trusts_it_and_excludes_no_node() -> None:
    (decision,) = decisions(TRUSTING, failure(confidence=0.6), combined(0.6, **DECIDED))
    assert (decision.action, decision.exclude_nodes) == (Action.RESTART, [])


def test_node_is_excluded_only_where_the_rules_alone_are_confident() -> None:
    assert decisions(TRUSTING, combined(0.6))[0].exclude_nodes == []
    assert decisions(TRUSTING, combined(0.85))[0].exclude_nodes == ["slot-0"]


@pytest.mark.parametrize("settings", [ON, TRUSTING])
def test_model_drains_no_node_and_takes_no_drain_back(settings: BridgeSettings) -> None:
    lower = failure(confidence=0.85, **CONFIRMED)
    raised = combined(0.85, **CONFIRMED)
    assert [each for each in decisions(settings, lower, raised) if each.action is Action.DRAIN] == []
    drains = [
        each
        for each in decisions(settings, failure(**CONFIRMED), combined(0.6, **DECIDED))
        if each.action is Action.DRAIN
    ]
    assert len(drains) == 1
    assert not withdrawn(settings, failure(**CONFIRMED, restartable=False), combined(0.6, error_type=ErrorType.NONE))


def test_model_takes_a_restart_back_only_where_it_is_trusted() -> None:
    denied = combined(0.85, restartable=False)
    assert not withdrawn(ON, failure(), denied)
    assert withdrawn(TRUSTING, failure(), denied)


def test_later_verdict_of_the_rules_counts_again() -> None:
    later = msgspec.structs.replace(failure(), id="later", revision=3)
    assert [each.action for each in decisions(ON, combined(0.6, **DECIDED), later)] == [Action.RESTART]
    assert failure(faulty_component=Component.GPU).confidence_of_rules == 0.95
