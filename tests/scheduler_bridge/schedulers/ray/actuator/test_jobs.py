"""What the bridge makes of Ray's answers, without a cluster."""

from typing import Any

import pytest

from scheduler_bridge.act_keys import read_keys
from scheduler_bridge.schedulers import ActuatorError, SchedulerJobState
from scheduler_bridge.schedulers.ray.actuator.jobs import INTENT_PREFIX, Attempt, intent_metadata, newest, view
from scheduler_bridge.schedulers.ray.actuator.nodes import Nodes
from scheduler_bridge.schedulers.ray.actuator.queue import queue_of
from scheduler_bridge.schedulers.ray.actuator.successor import NODE_ID, excluded_ids, successor, uploaded
from scheduler_bridge.schedulers.ray.client.lineage import ACTS, EXCLUDED
from scheduler_bridge.schedulers.ray.client.objects import (
    RayActor,
    RayBundle,
    RayJob,
    RayNode,
    RayPlacementGroup,
    RayTask,
)

KEY = "evict/0123456789abcdef"
NODES = Nodes(
    [
        RayNode(node_id="h1", node_name="head", state="ALIVE", is_head_node=True, resources_total={"CPU": 4}),
        RayNode(node_id="old", node_name="n1", state="DEAD", start_time_ms=1),
        RayNode(node_id="x1", node_name="n1", state="ALIVE", start_time_ms=2, resources_total={"CPU": 8, "GPU": 2}),
        RayNode(node_id="x2", node_name="n2", state="ALIVE", start_time_ms=2, resources_total={"CPU": 8, "GPU": 2}),
        RayNode(node_id="x3", node_name="n3", state="DEAD", start_time_ms=2),
    ]
)


def job(name: str = "train", status: str = "FAILED", **fields: Any) -> RayJob:
    return RayJob(submission_id=name, status=status, entrypoint="python train.py", **fields)


def intent(of: RayJob, key: str = KEY) -> RayJob:
    return job(INTENT_PREFIX + of.id, "SUCCEEDED", metadata=intent_metadata(Attempt(of), key))


def supervisor(resources: dict[str, float] | None = None, selector: dict[str, str] | None = None) -> RayActor:
    return RayActor(state="DEAD", required_resources=resources or {}, label_selector=selector or {})


def test_the_newest_attempt_is_the_job() -> None:
    found = newest([job("a.attempt10"), job("a"), job("a.attempt9"), job("b.attempt"), job("c.attempt01")])
    assert {name: attempt.name.attempt for name, attempt in found.items()} == {
        "a": 10,
        "b.attempt": 0,
        "c.attempt01": 0,
    }


@pytest.mark.parametrize(("noted", "expected"), [({}, False), ({"schedmate.io/restart": "no"}, True)])
def test_metadata_keeps_a_job_from_being_restarted(noted: dict[str, str], expected: bool) -> None:
    assert view(Attempt(job(metadata=noted))).opted_out is expected


@pytest.mark.parametrize(
    ("status", "noted", "state", "attempt"),
    [
        ("RUNNING", True, SchedulerJobState.RUNNING, 0),
        ("STOPPED", False, SchedulerJobState.CANCELLED, 0),
        ("STOPPED", True, SchedulerJobState.HELD, 1),
        ("FAILED", True, SchedulerJobState.FAILED, 0),
        ("SUCCEEDED", True, SchedulerJobState.COMPLETED, 0),
        ("A_LATER_WORD", False, SchedulerJobState.OTHER, 0),
    ],
)
def test_only_what_an_act_stopped_is_held(status: str, noted: bool, state: SchedulerJobState, attempt: int) -> None:
    one = job(status=status)
    seen = view(newest([one, *([intent(one)] if noted else [])])["train"])
    assert (seen.state, seen.attempt, seen.interrupted) == (state, attempt, state is SchedulerJobState.HELD)
    assert seen.acts == ((KEY,) if seen.interrupted else ())


def test_an_intent_of_an_earlier_attempt_means_nothing_more() -> None:
    first, second = job(status="STOPPED"), job("train.attempt1", "STOPPED")
    assert newest([first, second, intent(first)])["train"].state is SchedulerJobState.CANCELLED


def test_metadata_that_is_no_priority_is_none() -> None:
    for text in ("x", "-1", "9" * 40, "٣"):
        assert view(Attempt(job(metadata={"priority": text}))).priority is None


def test_a_successor_is_as_the_one_before() -> None:
    before = Attempt(
        job("train.attempt1", metadata={"team": "a", ACTS: "schedmate:restart/0000000000000000"},
            runtime_env={"pip": ["torch"], "env_vars": {"LR": "1", "SCHEDMATE_ATTEMPT": "1"}})
    )  # fmt: skip
    needs = supervisor({"CPU": 2.0, "GPU": 0.5, "memory": 5e9, "accelerator_type:H100": 0.001}, {"zone": "a"})
    made = successor(before, needs, NODES, ("n1",), KEY, checkpoint="/c/1")
    assert (made.submission_id, made.entrypoint) == ("train.attempt2", "python train.py")
    assert (made.entrypoint_num_cpus, made.entrypoint_num_gpus, made.entrypoint_memory) == (2.0, 0.5, 5_000_000_000)
    assert made.entrypoint_resources == {"accelerator_type:H100": 0.001}
    assert made.entrypoint_label_selector == {"zone": "a", NODE_ID: "!in(x1)"}
    assert read_keys(made.metadata[ACTS]) == ("restart/0000000000000000", KEY)
    assert made.metadata["team"] == "a"
    assert made.runtime_env == {
        "pip": ["torch"],
        "env_vars": {
            "LR": "1",
            "SCHEDMATE_JOB_ID": "train",
            "SCHEDMATE_ATTEMPT": "2",
            "SCHEDMATE_CHECKPOINT": "/c/1",
            "SCHEDMATE_EXCLUDED_NODES": "x1",
        },
    }


def test_exclusions_stay_by_name_and_follow_a_node_that_started_anew() -> None:
    before = Attempt(job(metadata={EXCLUDED: "n1"}, runtime_env={"env_vars": {"SCHEDMATE_EXCLUDED_NODES": "old"}}))
    made = successor(before, supervisor({"GPU": 1.0}, {NODE_ID: "!in(old)"}), NODES, ("n2",), KEY)
    assert made.metadata[EXCLUDED] == "n1,n2"
    assert excluded_ids(made.entrypoint_label_selector) == {"old", "x1", "x2"}
    assert made.runtime_env["env_vars"]["SCHEDMATE_EXCLUDED_NODES"] == "x1,x2"


def test_the_head_that_ray_chose_is_no_wish_of_the_job() -> None:
    by_ray = supervisor(selector={NODE_ID: "a-head-of-yesterday"})
    assert successor(Attempt(job()), by_ray, NODES, ("n1",), KEY).entrypoint_label_selector == {}
    assert successor(Attempt(job()), by_ray, NODES, ("head",), KEY).entrypoint_label_selector == {NODE_ID: "!in(h1)"}


def test_a_job_that_asks_for_a_node_is_not_sent_elsewhere() -> None:
    wants = supervisor({"GPU": 1.0}, {NODE_ID: "in(x1,x2)"})
    with pytest.raises(ActuatorError, match="asks for nodes by id"):
        successor(Attempt(job()), wants, NODES, ("n1",), KEY)
    assert successor(Attempt(job()), wants, NODES, (), KEY).entrypoint_label_selector == {NODE_ID: "in(x1,x2)"}


def test_uploaded_files_are_found() -> None:
    assert uploaded({"working_dir": "gcs://a.zip", "py_modules": ["gcs://b.zip", "s3://c"]}) == [
        "gcs://a.zip",
        "gcs://b.zip",
    ]
    for without in ({}, {"working_dir": "/shared"}, {"py_modules": "gcs://x"}, {"working_dir": None}):
        assert uploaded(without) == []


def test_the_queue_counts_what_is_held_once() -> None:
    """A placement group holds for what lives in it; the GPUs of a node are dealt out among jobs."""
    jobs = newest(
        [
            job("a", "RUNNING", job_id="01", start_time=5000),
            job("b", "RUNNING", job_id="02"),
            job("c", "PENDING", start_time=9000),
            job("d", "FAILED", job_id="04"),
        ]
    )
    actors = [
        RayActor(
            job_id="01", state="ALIVE", node_id="x1", required_resources={"GPU_group_g": 1.0}, placement_group_id="g"
        ),
        RayActor(job_id="02", state="ALIVE", node_id="x1", required_resources={"GPU": 0.5, "CPU": 1}),
        RayActor(job_id="02", state="ALIVE", node_id="x1", required_resources={"GPU": 0.5}),
        RayActor(job_id="02", state="PENDING_CREATION", required_resources={"GPU": 1.0}),
        RayActor(job_id="04", state="DEAD", node_id="x2", required_resources={"GPU": 2.0}),
        RayActor(
            job_id="00", name="_ray_internal_job_actor_c", state="PENDING_CREATION", required_resources={"GPU": 2.0}
        ),
        RayActor(
            job_id="00",
            name="_ray_internal_job_actor_a",
            state="ALIVE",
            node_id="x2",
            required_resources={"memory": 2**21},
        ),
    ]
    groups = [
        RayPlacementGroup(
            creator_job_id="01", state="CREATED", bundles=[RayBundle(node_id="x1", unit_resources={"GPU": 1.0})]
        ),
        RayPlacementGroup(creator_job_id="01", state="PENDING", bundles=[RayBundle(unit_resources={"GPU": 1.0})]),
    ]
    tasks = [RayTask(job_id="02", state="RUNNING", node_id="x2", required_resources={"CPU": 1.0})]
    queue = queue_of(jobs, NODES, actors, tasks, groups)
    (waiting,) = queue.waiting
    assert (waiting.view.job, waiting.since, waiting.need.gpus, waiting.blocked) == ("c", 9.0, 2.0, True)
    first, second = queue.running
    assert (first.view.job, first.since, first.gpus, first.held["n1"].gpus) == ("a", 5.0, 1.0, {0: 1.0})
    assert first.held["n2"].memory == 2.0
    assert (second.view.job, second.gpus, second.held["n1"].gpus) == ("b", 1.0, {1: 1.0})
    assert (second.held["n1"].cpus, second.held["n2"].cpus) == (1, 1.0)
    assert {node.view.node: (node.gpus, node.view.state.value) for node in queue.nodes} == {
        "head": (0, "up"),
        "n1": (2, "up"),
        "n2": (2, "up"),
        "n3": (0, "down"),
    }
