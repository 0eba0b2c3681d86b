"""What the bridge reads from Jobs, and the Job that a restart makes; no control plane is needed."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("kubernetes")

from scheduler_bridge.schedulers import SchedulerJobState as State
from scheduler_bridge.schedulers.kubernetes.actuator.jobs import outlives_eviction, state_of, view
from scheduler_bridge.schedulers.kubernetes.actuator.nodes import drained_by, node_view
from scheduler_bridge.schedulers.kubernetes.actuator.successor import successor, successor_name
from scheduler_bridge.schedulers.kubernetes.client.lineage import attempt_of, job_id
from scheduler_bridge.schedulers.kubernetes.client.objects import Node, Pod
from scheduler_bridge.schedulers.kubernetes.client.workloads.batch_job import Job

ACT = "0123456789abcdef"
DISRUPTION = {"onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}


def job(*conditions: str, **more: Any) -> Job:
    spec = {"template": {"spec": {"containers": []}}, **more.pop("spec", {})}
    status = {"conditions": [{"type": one, "status": "True"} for one in conditions], **more.pop("status", {})}
    meta = {"name": "train", "namespace": "a", **more}
    return msgspec.convert({"metadata": meta, "spec": spec, "status": status}, Job)


def pod(phase: str, node: str = "n1", **meta: Any) -> Pod:
    return msgspec.convert({"metadata": meta, "spec": {"nodeName": node}, "status": {"phase": phase}}, Pod)


@pytest.mark.parametrize(
    ("seen", "pods", "state"),
    [
        (job("Complete"), [], State.COMPLETED),
        (job("Failed"), [], State.FAILED),
        (job("Failed", annotations={"schedmate.io/acts": f"schedmate:cancel/{ACT}"}), [], State.CANCELLED),
        (job("FailureTarget"), [pod("Running")], State.STOPPING),
        (job(), [pod("Pending")], State.PENDING),
        (job(), [pod("Running"), pod("Pending", "")], State.RUNNING),
        (job(), [pod("Failed")], State.PENDING),  # its owner makes another pod
        (job("Suspended", spec={"suspend": True}), [], State.HELD),
        (job("Suspended", spec={"suspend": True}), [pod("Running")], State.STOPPING),
        (job("Suspended", spec={"suspend": True}, labels={"kueue.x-k8s.io/queue-name": "q"}), [], State.PENDING),
    ],
)
def test_states(seen: Job, pods: list[Pod], state: State) -> None:
    assert state_of(seen, pods) is state


def test_a_namespace_is_the_user_and_nodes_are_those_of_its_present_pods() -> None:
    seen = view("a/train", job(annotations={"schedmate.io/attempt": "2"}), [pod("Failed", "n1"), pod("Running", "n2")])
    assert (seen.user, seen.nodes, seen.attempt) == ("a", ("n2",), 2)


@pytest.mark.parametrize(
    ("message", "lacks"),
    [
        ("0/4 nodes are available: 4 Insufficient nvidia.com/gpu.", True),
        ("0/4 nodes are available: 4 node(s) had untolerated taint(s).", False),
    ],
)
def test_a_job_of_which_one_pod_runs_may_lack_places_for_others(message: str, lacks: bool) -> None:
    why = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    waits = msgspec.convert({"metadata": {}, "status": {"phase": "Pending", "conditions": [why]}}, Pod)
    seen = view("a/train", job(), [pod("Running"), waits])
    assert (seen.state, seen.lacks_places) == (State.RUNNING, lacks)
    assert not view("a/train", job(), [pod("Running")]).lacks_places


@pytest.mark.parametrize(("said", "expected"), [("no", True), ("yes", False)])
def test_an_annotation_keeps_a_job_from_being_restarted(said: str, expected: bool) -> None:
    assert view("a/train", job(annotations={"schedmate.io/restart": said}), []).opted_out is expected


@pytest.mark.parametrize(
    ("spec", "failed", "outlives"),
    [
        ({"backoffLimit": 0}, 0, False),
        ({"backoffLimit": 2}, 0, True),
        ({"backoffLimit": 2}, 1, False),
        ({"backoffLimit": 0, "podFailurePolicy": {"rules": [{"action": "Ignore", **DISRUPTION}]}}, 0, True),
        ({"backoffLimit": 9, "podFailurePolicy": {"rules": [{"action": "FailJob", **DISRUPTION}]}}, 0, False),
        ({"backoffLimit": 9, "podFailurePolicy": {"rules": [{"action": "FailJob"}, {"action": "Ignore", **DISRUPTION}]}}, 0, False),
    ],
)  # fmt: skip
def test_what_outlives_the_eviction_of_two_pods(spec: dict[str, Any], failed: int, outlives: bool) -> None:
    assert outlives_eviction(job(spec=spec, status={"failed": failed}), 2) is outlives


@given(st.text(max_size=12))
def test_an_attempt_that_is_no_number_counts_as_none(noted: str) -> None:
    attempt = attempt_of(job(annotations={"schedmate.io/attempt": noted}).metadata)
    assert attempt == (int(noted) if noted.isascii() and noted.isdecimal() and len(noted) <= 6 else attempt)
    assert 0 <= attempt <= 1_000_000


@given(st.from_regex(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?", fullmatch=True), st.integers(1, 9999))
def test_a_name_is_one_that_kubernetes_takes(lineage: str, attempt: int) -> None:
    name = successor_name(lineage, attempt)
    assert len(name) <= 63
    assert name.endswith(f"-r{attempt}")
    assert not name.endswith(f"--r{attempt}")


def test_a_successor_keeps_what_is_its_users_and_leaves_what_is_the_controllers() -> None:
    labels = {"team": "a", "batch.kubernetes.io/controller-uid": "u", "job-name": "train"}
    container = {"name": "c", "image": "i", "env": [{"name": "A", "value": "1"}]}
    before = {
        "metadata": {
            "name": "train",
            "namespace": "a",
            "uid": "u",
            "resourceVersion": "7",
            "labels": labels,
            "annotations": {"note": "mine", "kubectl.kubernetes.io/last-applied-configuration": "{}"},
            "ownerReferences": [{"kind": "CronJob", "name": "nightly"}],
        },
        "spec": {
            "backoffLimit": 0,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
        "status": {"failed": 1},
    }
    kept = json.dumps(before)
    made = successor(
        before, Job, "train", 1, exclude=["n1"], acts=f"schedmate:restart/{ACT}", checkpoint="/ckpt/step-40"
    )
    assert json.dumps(before) == kept
    assert made["metadata"]["labels"] == {"team": "a", "schedmate.io/lineage": "train"}
    assert made["metadata"]["annotations"] == {
        "note": "mine",
        "schedmate.io/attempt": "1",
        "schedmate.io/incarnation": before["metadata"]["uid"],
        "schedmate.io/acts": f"schedmate:restart/{ACT}",
    }
    assert made["metadata"]["ownerReferences"] == [{"kind": "CronJob", "name": "nightly"}]
    assert set(made["metadata"]) == {"name", "namespace", "labels", "annotations", "ownerReferences"}
    assert "selector" not in made["spec"]
    assert "status" not in made
    assert made["spec"]["template"]["spec"]["containers"][0]["env"][-1]["value"] == "/ckpt/step-40"
    assert job_id(msgspec.convert(made, Job).metadata) == "a/train"


def test_a_cordon_is_ours_only_with_key_and_taint() -> None:
    notes = {"schedmate.io/drained-by": f"schedmate:drain/{ACT} Xid 79"}
    taints = [{"key": "schedmate.io/drained", "value": ACT, "effect": "NoSchedule"}]

    def node(annotations: dict[str, str], **spec: Any) -> Node:
        return msgspec.convert({"metadata": {"name": "n1", "annotations": annotations}, "spec": spec}, Node)

    assert drained_by(node(notes, unschedulable=True, taints=taints)) == f"drain/{ACT}"
    assert drained_by(node(notes, unschedulable=True)) == ""
    assert drained_by(node(notes, taints=taints)) == ""
    assert drained_by(node({}, unschedulable=True, taints=taints)) == ""
    daemon = pod("Running", ownerReferences=[{"kind": "DaemonSet", "name": "agent", "controller": True}])
    assert node_view(node(notes, unschedulable=True, taints=taints), [daemon, pod("Succeeded")], ()).state == "drained"
    assert node_view(node(notes, unschedulable=True, taints=taints), [pod("Running")], ()).state == "draining"


def test_a_new_job_bears_no_marks_of_the_old_ones_admission() -> None:
    labels = {"kueue.x-k8s.io/podset": "main", "kueue.x-k8s.io/cluster-queue-name": "all", "team": "ml"}
    notes = {"kueue.x-k8s.io/workload": "job-train-1", "kueue.x-k8s.io/podset-preferred-topology": "rack"}
    template = {"metadata": {"labels": labels, "annotations": notes}, "spec": {"containers": []}}
    before = {"metadata": {"name": "train", "namespace": "a"}, "spec": {"template": template}}
    made = successor(before, Job, "train", 1, exclude=(), acts="")["spec"]["template"]["metadata"]
    assert made["annotations"] == {"kueue.x-k8s.io/podset-preferred-topology": "rack"}
    assert made["labels"] == {"team": "ml", "schedmate.io/attempt": "1", "schedmate.io/lineage": "train"}
