"""When somebody is evicted for somebody who waits."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from processors.eviction import weigh
from schedmate_records import Action, Checkpoint, Mode
from scheduler_bridge import BridgeSettings
from scheduler_bridge.preemption.losses import loss_of
from scheduler_bridge.preemption.policy import PreemptionFacts, decide
from scheduler_bridge.schedulers import Queue, SchedulerJobState, SchedulerNodeState
from scheduler_bridge.selectors import Selector
from tests.scheduler_bridge.findings import NOW, checkpoint

from .queues import node, running, waiting

SETTINGS = BridgeSettings(
    modes={Action.EVICT: Mode.ACT},
    evict_for=(Selector.parse("partition=urgent"),),
    evictable=(Selector.parse("partition=spot"),),
    evict_grace_seconds=30.0,
)
YOUNG, OLD = running("young", {"n1": [0, 1]}, age=60), running("old", {"n1": [2, 3]}, age=5000)
QUEUE = Queue((waiting(gpus=2),), (YOUNG, OLD), (node("n1"),))
FACTS = PreemptionFacts(room_for_others=5)


def victims(queue: Queue = QUEUE, facts: PreemptionFacts = FACTS, **changes: Any) -> list[str]:
    return [
        decision.job
        for decision in decide(queue, facts, BridgeSettings.model_validate({**dict(SETTINGS), **changes}), NOW)
    ]


def saved(job: str, ago: float) -> dict[str, Checkpoint]:
    return {job: checkpoint(job, NOW - ago)}


def test_who_loses_least_goes() -> None:
    (decision,) = decide(QUEUE, FACTS, SETTINGS, NOW)
    assert (decision.action, decision.job, decision.beneficiary, decision.grace_s) == (
        Action.EVICT,
        "young",
        "high",
        30.0,
    )
    assert "400 s" in decision.reason
    assert "60 s of work on 2 GPUs" in decision.reason


def test_a_durable_checkpoint_makes_the_loss_small() -> None:
    assert victims(facts=replace(FACTS, saves=saved("old", 5))) == ["old"]


def test_who_was_evicted_of_late_weighs_more_and_silence_does_not_protect_for_ever() -> None:
    silent = loss_of(running("silent", {"n1": [0]}, age=1e6), {}, 0, NOW)
    reporting = loss_of(running("reporting", {"n1": [0]}, age=1e6), saved("reporting", 5000), 0, NOW)
    again = loss_of(running("reporting", {"n1": [0]}, age=1e6), saved("reporting", 5000), 1, NOW)
    assert reporting.weighed < silent.weighed < again.weighed
    assert silent.unsaved_s == 1e6


@pytest.mark.parametrize(
    ("first", "interval", "counts"),
    [
        (60, None, 7200),  # one save in its first minute, and none since
        (60, 1800.0, 7200),
        (9000, None, 18_000),
        (60, 20_000.0, 40_000),
        (60, 80_000.0, 100_000 - 60),
    ],
)
def test_an_early_checkpoint_protects_no_longer_than_two_intervals(
    first: float, interval: float | None, counts: float
) -> None:
    job = running("a", {"n1": [0]}, age=100_000)
    (save,) = saved("a", 100_000 - first).values()
    loss = loss_of(job, {"a": msgspec.structs.replace(save, interval_s=interval)}, 0, NOW)
    assert loss.weighed == weigh(counts, 1, 0)
    assert loss.unsaved_s == 100_000 - first


@pytest.mark.parametrize(
    "changes",
    [
        {"evict_for": ()},
        {"evictable": ()},
        {"evict_wait_seconds": 500.0},
        {"evictable": (Selector.parse("partition=urgent"),)},
        {"evict_for": (Selector.parse("partition=urgent"), Selector.parse("partition=spot"))},
    ],
    ids=["nobody is high", "nobody may go", "not long enough", "only high ones", "spot is high, too"],
)
def test_nobody_goes_unless_the_operator_says_so(changes: dict[str, Any]) -> None:
    assert victims(**changes) == []


@pytest.mark.parametrize(
    "facts",
    [
        replace(FACTS, cooling={"high"}),
        replace(FACTS, served={"high/0"}),
        replace(FACTS, room={"ada": 0}),
        replace(FACTS, room_for_others=0),
        replace(FACTS, cooling={"young", "old"}),
    ],
    ids=[
        "it was evicted itself",
        "served before",
        "no room for its user",
        "no room at all",
        "all left alone for a while",
    ],
)
def test_loops_and_limits(facts: PreemptionFacts) -> None:
    assert victims(facts=facts) == []


def test_all_that_one_needs_or_none() -> None:
    everything = replace(QUEUE, waiting=(waiting(gpus=4),))
    assert sorted(victims(everything)) == ["old", "young"]
    assert victims(everything, replace(FACTS, room={"ada": 1})) == []


def test_what_the_scheduler_will_do_anyway_is_left_to_it() -> None:
    assert victims(replace(QUEUE, waiting=(waiting(gpus=2, blocked=False),))) == []
    assert victims(replace(QUEUE, nodes=(node("n1"), node("n2")))) == []


def test_who_may_not_be_started_again_or_leaves_anyway_is_no_victim() -> None:
    leaving = replace(YOUNG, view=replace(YOUNG.view, state=SchedulerJobState.STOPPING))
    assert victims(replace(QUEUE, running=(leaving, OLD))) == ["old"]
    assert victims(replace(QUEUE, running=(replace(YOUNG, requeueable=False), OLD))) == ["old"]


def test_nodes_out_of_service_are_no_place() -> None:
    assert victims(replace(QUEUE, nodes=(node("n1", state=SchedulerNodeState.DRAINED),))) == []


def test_two_that_wait_do_not_get_one_place() -> None:
    second = waiting("second", gpus=2, age=350)
    assert victims(replace(QUEUE, waiting=(*QUEUE.waiting, second))) == ["young"]
