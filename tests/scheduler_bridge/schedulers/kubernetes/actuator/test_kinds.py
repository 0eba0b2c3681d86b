"""Acts on jobs of other kinds at a real API server, with their real definitions and the rights that the docs give the bridge.

Their controllers are not here, so the tests do what those would. What is shown: which fields are written, that the kinds' own schemas take
them, and that the rights suffice.
"""

import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from scheduler_bridge.schedulers import SchedulerJobState as State
from tests.servers.kubernetes import Kubernetes
from tests.servers.kubernetes_kinds import define

pytest.importorskip("kubernetes")

from scheduler_bridge.schedulers.kubernetes.actuator import KubernetesActuator, KubernetesLimits
from scheduler_bridge.schedulers.kubernetes.client.client import KubernetesClient
from scheduler_bridge.schedulers.kubernetes.client.workloads.kind import WorkloadObject
from scheduler_bridge.schedulers.kubernetes.client.workloads.kinds import KINDS, kind_named

pytestmark = [pytest.mark.kubernetes, pytest.mark.slow]

TEMPLATE = {
    "spec": {
        "restartPolicy": "Never",
        "containers": [{"name": "pytorch", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "8"}}}],
    }
}
SPECS: Mapping[str, Any] = {
    "jobset": {"replicatedJobs": [{"name": "w", "template": {"spec": {"parallelism": 2, "template": TEMPLATE}}}]},
    "pytorchjob": {
        "runPolicy": {"cleanPodPolicy": "All"},
        "pytorchReplicaSpecs": {"Worker": {"replicas": 2, "restartPolicy": "Never", "template": TEMPLATE}},
    },
    "vcjob": {"maxRetry": 3, "minAvailable": 2, "tasks": [{"name": "w", "replicas": 2, "template": TEMPLATE}]},
}
TIME = "2031-05-06T07:08:09Z"
FAILED: Mapping[str, Any] = {
    "jobset": {"conditions": [{"type": "Failed", "status": "True", "reason": "R", "message": "", "lastTransitionTime": TIME}]},
    "pytorchjob": {"conditions": [{"type": "Failed", "status": "True"}]},
    "vcjob": {"state": {"phase": "Failed"}},
}  # fmt: skip
MERGE = "application/merge-patch+json"


def key(action: str) -> str:
    return f"{action}/{uuid.uuid4().hex[:16]}"


@pytest.fixture(scope="module")
def kinds(kubernetes: Kubernetes) -> Kubernetes:
    """The control plane, with all kinds defined."""
    own = [(*kind.API_VERSION.split("/"), kind.PLURAL) for kind in KINDS if kind.WORD]
    define(kubernetes, *own, ("kueue.x-k8s.io", "v1beta1", "workloads"), ("bus.volcano.sh", "v1alpha1", "commands"))
    return kubernetes


@pytest.fixture
def actuator(kinds: Kubernetes) -> KubernetesActuator:
    return KubernetesActuator(
        KubernetesClient.connect(kinds.kubeconfig("bridge")), KubernetesLimits(stop_timeout=30, settle=0)
    )


@pytest.fixture
def space(kinds: Kubernetes) -> str:
    return kinds.namespace(f"k-{uuid.uuid4().hex[:8]}")


def path(space: str, word: str, name: str = "train") -> str:
    kind = kind_of_word(word)
    return f"/apis/{kind.API_VERSION}/namespaces/{space}/{kind.PLURAL}/{name}"


def kind_of_word(word: str) -> type[WorkloadObject]:
    kind = kind_named(word)
    assert kind
    return kind


def submit(kinds: Kubernetes, space: str, word: str, **meta: Any) -> str:
    kind = kind_of_word(word)
    body = {
        "apiVersion": kind.API_VERSION,
        "kind": kind.KIND,
        "metadata": {"name": "train", "namespace": space, **meta},
        "spec": SPECS[word],
    }
    kinds.api("POST", path(space, word, "").rstrip("/"), body)
    return f"{space}/{word}/train"


@contextmanager
def volcano(kinds: Kubernetes, space: str) -> Iterator[list[str]]:
    """Do what Volcano's controller does: delete each Command, and then obey it. Yields the actions."""
    stop, taken = threading.Event(), list[str]()
    commands = f"/apis/bus.volcano.sh/v1alpha1/namespaces/{space}/commands"
    phases = {"AbortJob": "Aborted", "ResumeJob": "Pending", "TerminateJob": "Terminated"}

    def run() -> None:
        while not stop.wait(0.05):
            for one in kinds.api("GET", commands)["items"]:
                kinds.delete(f"{commands}/{one['metadata']['name']}")
                taken.append(one["action"])
                status = {"status": {"state": {"phase": phases[one["action"]]}}}
                kinds.api("PATCH", f"{path(space, 'vcjob', one['target']['name'])}/status", status, kind=MERGE)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield taken
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize(
    ("word", "field"),
    [
        ("jobset", lambda spec: spec.get("suspend", False)),
        ("pytorchjob", lambda spec: spec["runPolicy"].get("suspend", False)),
    ],
)
def test_a_kind_that_has_a_field_for_it_is_held_and_released_by_that(
    kinds: Kubernetes, actuator: KubernetesActuator, space: str, word: str, field: Callable[[Any], bool]
) -> None:
    job = submit(kinds, space, word)
    hold, release = key("hold"), key("release")
    assert actuator.hold(job, hold).state is State.HELD
    assert field(kinds.api("GET", path(space, word))["spec"])
    seen = actuator.release(job, release)
    assert (seen.state, seen.acts) == (State.PENDING, (hold, release))
    assert not field(kinds.api("GET", path(space, word))["spec"])
    events = kinds.api("GET", f"/api/v1/namespaces/{space}/events")["items"]
    kind = kind_of_word(word)
    assert {(one["reason"], one["involvedObject"]["kind"]) for one in events} == {
        ("SchedMateHold", kind.KIND),
        ("SchedMateRelease", kind.KIND),
    }


def test_volcano_is_told_by_commands(kinds: Kubernetes, actuator: KubernetesActuator, space: str) -> None:
    job = submit(kinds, space, "vcjob")
    with volcano(kinds, space) as taken:
        assert actuator.hold(job, key("hold")).state is State.HELD
        assert actuator.release(job, key("release")).state is State.PENDING
    assert taken == ["AbortJob", "ResumeJob"]


@pytest.mark.parametrize("word", ["jobset", "pytorchjob"])
def test_what_waits_in_a_queue_of_kueue_is_held_by_its_workload(
    kinds: Kubernetes, actuator: KubernetesActuator, space: str, word: str
) -> None:
    job = submit(kinds, space, word, labels={"kueue.x-k8s.io/queue-name": "q"})
    suspended = {"runPolicy": {"suspend": True}} if word == "pytorchjob" else {"suspend": True}
    meta = kinds.api("PATCH", path(space, word), {"spec": suspended}, kind=MERGE)["metadata"]  # as Kueue does
    kind = kind_of_word(word)
    owner = {"apiVersion": kind.API_VERSION, "kind": kind.KIND, "name": "train", "uid": meta["uid"], "controller": True}
    place = {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "Workload",
        "metadata": {
            "name": "w",
            "namespace": space,
            "ownerReferences": [owner],
            "labels": {"kueue.x-k8s.io/job-uid": meta["uid"]},
        },
        "spec": {"queueName": "q", "podSets": [{"name": "main", "count": 2, "template": TEMPLATE}]},
    }
    kinds.apply(place)
    where = f"/apis/kueue.x-k8s.io/v1beta1/namespaces/{space}/workloads/w"
    before = actuator.job(job)
    assert before
    assert (before.state, before.partition) == (State.PENDING, "q")
    assert actuator.hold(job, key("hold")).state is State.HELD
    assert kinds.api("GET", where)["spec"]["active"] is False
    assert actuator.release(job, key("release")).state is State.PENDING
    assert kinds.api("GET", where)["spec"]["active"] is True
    spec = kinds.api("GET", path(space, word))["spec"]
    assert (spec["runPolicy"] if word == "pytorchjob" else spec)["suspend"], "Kueue alone resumes it"


@pytest.mark.parametrize("word", SPECS)
def test_a_failed_one_restarts_as_a_new_object_that_its_schema_takes(
    kinds: Kubernetes, actuator: KubernetesActuator, space: str, word: str
) -> None:
    job = submit(kinds, space, word)
    kinds.api("PATCH", f"{path(space, word)}/status", {"status": FAILED[word]}, kind=MERGE)
    seen = actuator.restart(job, ("gpu-1",), key("restart"), "/ckpt/step-40")
    assert (seen.attempt, seen.excluded, seen.state) == (1, ("gpu-1",), State.PENDING)
    made = kinds.api("GET", path(space, word, "train-r1"))
    for template in kind_of_word(word).pod_templates(made):
        terms = template["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        assert terms["nodeSelectorTerms"][0]["matchFields"][0]["values"] == ["gpu-1"]
        assert template["spec"]["containers"][0]["env"] == [{"name": "SCHEDMATE_CHECKPOINT", "value": "/ckpt/step-40"}]
    again = {**made, "metadata": {"name": "strict", "namespace": space}}
    again.pop("status", None)
    strict = "?dryRun=All&fieldValidation=Strict"
    kinds.api("POST", path(space, word, "").rstrip("/") + strict, again)


def test_all_kinds_are_in_the_queue(kinds: Kubernetes, actuator: KubernetesActuator, space: str) -> None:
    for word in SPECS:
        submit(kinds, space, word)
        seen = actuator.job(f"{space}/{word}/train")
        assert seen
        assert seen.state is State.PENDING
    assert {node.view.node for node in actuator.queue().nodes}
