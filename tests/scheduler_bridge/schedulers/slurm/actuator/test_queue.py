"""For whom others are evicted on Slurm, and on which nodes."""

from dataclasses import replace
from typing import Any

import pytest

from scheduler_bridge.preemption.policy import PreemptionFacts, decide
from scheduler_bridge.schedulers import Queue, SchedulerNodeState
from scheduler_bridge.schedulers.slurm.actuator.jobs import node_view
from scheduler_bridge.schedulers.slurm.actuator.queue import queue_of
from scheduler_bridge.schedulers.slurm.client import SlurmNode
from scheduler_bridge.schedulers.slurm.client.job import SlurmJob, SlurmShare
from scheduler_bridge.schedulers.slurm.client.node import parse
from scheduler_bridge.selectors import Selector
from scheduler_bridge.settings import BridgeSettings
from tests.scheduler_bridge.schedulers.slurm.client.test_kept_jobs import JOB

NOW = 1_800_000_000.0
CLASSES = BridgeSettings(evict_for=(Selector.parse("partition=urgent"),), evictable=(Selector.parse("partition=p"),))
NODE = SlurmNode("n1", ("MIXED",), ("p", "urgent"), cpus=16, memory=4000, gpus=1)
FREE = replace(NODE, name="n2", states=("IDLE",))
RUNS = replace(
    JOB,
    number="1",
    job="1",
    state="RUNNING",
    nodes=("n1",),
    partition="p",
    requeue=True,
    started=NOW - 60,
    shares={"n1": SlurmShare(1, 0.0, "gpu:1(IDX:0)")},
)
WAITS = replace(
    JOB,
    number="2",
    job="2",
    state="PENDING",
    nodes=(),
    partition="urgent",
    reason="Resources",
    eligible=NOW - 600,
    tres_per_node="gres:gpu",
    node_count=1,
    tasks=1,
    memory=0.0,
)


def queue(*nodes: SlurmNode, **waits: Any) -> Queue:
    jobs: list[SlurmJob] = [RUNS, replace(WAITS, **waits)]
    return queue_of(jobs, {node.name: node for node in nodes})


def evicted(*nodes: SlurmNode, **waits: Any) -> list[str]:
    facts = PreemptionFacts(room_for_others=10)
    return [decision.job for decision in decide(queue(*nodes, **waits), facts, CLASSES, NOW)]


def test_a_gpu_without_a_number_is_one() -> None:
    assert queue(NODE).waiting[0].need.gpus == 1
    assert evicted(NODE) == ["1"]
    assert evicted(NODE, FREE) == []


@pytest.mark.parametrize("word", ["RESERVED", "REBOOT_REQUESTED", "NOT_RESPONDING", "MAINTENANCE"])
def test_where_nothing_starts_nobody_goes_and_no_place_is_free(word: str) -> None:
    assert evicted(replace(NODE, states=("MIXED", word))) == []
    assert evicted(NODE, replace(FREE, states=("IDLE", word))) == ["1"]


def test_a_node_in_maintenance_is_out_of_service() -> None:
    node = parse("NodeName=n1 State=IDLE+MAINTENANCE+RESERVED Partitions=p")
    assert node
    assert node_view(node).state is SchedulerNodeState.DOWN


@pytest.mark.parametrize(
    ("asked", "has", "goes"),
    [
        ({"features": "fast"}, {"features": frozenset({"fast", "new"})}, True),
        ({"features": "fast&new"}, {"features": frozenset({"fast", "new"})}, True),
        ({"features": "fast&new"}, {"features": frozenset({"fast"})}, False),
        ({"features": "fast|new"}, {"features": frozenset({"fast"})}, False),
        ({"tres_per_node": "gres:gpu:a100:1"}, {"gpu_types": frozenset({"a100"})}, True),
        ({"tres_per_node": "gres:gpu:a100"}, {"gpu_types": frozenset({"v100"})}, False),
        ({"tres_per_job": "gres:gpu:a100:1"}, {"gpu_types": frozenset({"v100", "a100"})}, False),
        ({"reservation": "class"}, {}, False),
    ],
)
def test_nobody_goes_from_a_node_that_is_none_for_who_waits(
    asked: dict[str, Any], has: dict[str, Any], goes: bool
) -> None:
    assert evicted(replace(NODE, **has), **asked) == (["1"] if goes else [])


def test_features_and_types_are_read_from_what_slurm_prints() -> None:
    node = parse(
        "NodeName=n1 AvailableFeatures=slow ActiveFeatures=fast,new Gres=gpu:a100:2(S:0) State=IDLE Partitions=p"
    )
    assert node
    assert (node.features, node.gpu_types, node.gpus) == (frozenset({"fast", "new"}), frozenset({"a100"}), 2)
    bare = parse("NodeName=n1 AvailableFeatures=(null) ActiveFeatures=(null) Gres=(null) State=IDLE")
    assert bare
    assert (bare.features, bare.gpu_types) == (frozenset(), frozenset())


def test_of_an_array_that_waits_as_a_whole_the_next_tasks_wait() -> None:
    """As many as may run at once beside those that run. Room is made for the first of them alone."""
    array = replace(WAITS, job="2_3-90%3")
    running = replace(RUNS, number="3", job="2_1")
    waiting = queue_of([running, array], {NODE.name: NODE}).waiting
    assert [(one.view.job, one.blocked, one.need.gpus) for one in waiting] == [("2_3", True, 1), ("2_4", False, 1)]
    assert evicted(NODE, job="2_3-90%3") == ["1"]
    assert len(queue_of([replace(array, job="2_1-900")], {}).waiting) == 100
