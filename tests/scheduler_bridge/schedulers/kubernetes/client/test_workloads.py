"""What is read of jobs of other kinds, and what stops them; no control plane is needed."""

from typing import Any

import msgspec
import pytest

pytest.importorskip("kubernetes")

from scheduler_bridge.schedulers.kubernetes.client.lineage import JobName
from scheduler_bridge.schedulers.kubernetes.client.objects import Pod
from scheduler_bridge.schedulers.kubernetes.client.workloads.kind import Patch, WorkloadObject
from scheduler_bridge.schedulers.kubernetes.client.workloads.kind import WorkloadPhase as Phase
from scheduler_bridge.schedulers.kubernetes.client.workloads.kinds import KINDS, kind_named
from scheduler_bridge.schedulers.kubernetes.client.workloads.kueue import QueuedWorkload

KEY = "evict/0123456789abcdef"
POD = {"spec": {"containers": [{"name": "c"}], "priorityClassName": "low"}}


def make(word: str, spec: dict[str, Any], status: dict[str, Any] | None = None) -> WorkloadObject:
    kind = kind_named(word)
    assert kind
    meta = {"name": "train", "namespace": "a", "uid": "u"}
    return msgspec.convert({"metadata": meta, "spec": spec, "status": status or {}}, kind)


def jobset(*conditions: str, suspend: bool = False) -> WorkloadObject:
    leader = {"name": "leader", "replicas": 2, "template": {"spec": {"template": POD}}}
    workers = {"name": "workers", "template": {"spec": {"parallelism": 4, "template": POD}}}
    return make("jobset", {"replicatedJobs": [leader, workers], "suspend": suspend}, holding(*conditions))


def pytorch(*conditions: str, suspend: bool = False) -> WorkloadObject:
    replicas = {"Master": {"template": POD}, "Worker": {"replicas": 3, "template": POD}}
    policy = {"suspend": suspend, "schedulingPolicy": {"queue": "q"}}
    return make("pytorchjob", {"runPolicy": policy, "pytorchReplicaSpecs": replicas}, holding(*conditions))


def volcano(phase: str, retries: int = 0) -> WorkloadObject:
    tasks = [{"name": "ps", "replicas": 1, "template": POD}, {"name": "worker", "replicas": 2, "template": POD}]
    spec = {"tasks": tasks, "queue": "q", "priorityClassName": "high", "maxRetry": 3}
    return make("vcjob", spec, {"state": {"phase": phase}, "retryCount": retries})


def holding(*conditions: str) -> dict[str, Any]:
    return {"conditions": [{"type": one, "status": "True"} for one in conditions]}


def pod(annotations: dict[str, str] | None = None, labels: dict[str, str] | None = None) -> Pod:
    return msgspec.convert({"metadata": {"annotations": annotations or {}, "labels": labels or {}}}, Pod)


@pytest.mark.parametrize(
    ("job", "phase"),
    [
        (jobset(), Phase.ACTIVE),
        (jobset("Suspended", suspend=True), Phase.SUSPENDED),
        (jobset("Completed"), Phase.SUCCEEDED),
        (jobset("Failed"), Phase.FAILED),
        (pytorch("Created", "Restarting"), Phase.ACTIVE),  # the operator starts it again
        (pytorch("Suspended", suspend=True), Phase.SUSPENDED),
        (pytorch("Succeeded"), Phase.SUCCEEDED),
        (pytorch("Failed"), Phase.FAILED),
        (volcano("Restarting"), Phase.ACTIVE),
        (volcano("Aborting"), Phase.STOPPING),
        (volcano("Aborted"), Phase.SUSPENDED),
        (volcano("Completed"), Phase.SUCCEEDED),
        (volcano("Failed"), Phase.FAILED),
        (volcano("Terminated"), Phase.TERMINATED),
        (volcano("Somewhat"), Phase.ACTIVE),
    ],
)
def test_phases(job: WorkloadObject, phase: Phase) -> None:
    assert job.phase is phase


@pytest.mark.parametrize(
    ("job", "pods", "queue", "priority"),
    [(jobset(), [2, 4], "", "low"), (pytorch(), [1, 3], "q", "low"), (volcano("Running"), [1, 2], "q", "high")],
)
def test_pods_queue_and_priority(job: WorkloadObject, pods: list[int], queue: str, priority: str) -> None:
    assert ([group.pods for group in job.groups], job.queue, job.priority_class) == (pods, queue, priority)


def test_a_jobset_and_a_pytorchjob_are_suspended_by_their_own_fields() -> None:
    assert jobset().stop(KEY) == Patch({"spec": {"suspend": True}})
    assert jobset().resume(KEY) == Patch({"spec": {"suspend": False}})
    assert pytorch().stop(KEY) == Patch({"spec": {"runPolicy": {"suspend": True}}})
    assert pytorch().resume(KEY) == Patch({"spec": {"runPolicy": {"suspend": False}}})


def test_a_volcano_job_is_told_by_commands_whose_names_follow_from_the_act() -> None:
    job = volcano("Running")
    orders = [change.order for change in (job.stop(KEY), job.resume(KEY), job.end(KEY))]
    assert [order and order.manifest["action"] for order in orders] == ["AbortJob", "ResumeJob", "TerminateJob"]
    assert orders[0] == job.stop(KEY).order
    assert orders[0]
    assert orders[0].manifest["metadata"]["name"] == "schedmate-evict-0123456789abcdef-abortjob"
    assert orders[0].manifest["target"]["uid"] == "u"


@pytest.mark.parametrize(("retries", "comes_back"), [(0, True), (1, True), (2, False)])
def test_a_volcano_job_that_would_be_given_up_is_not_stopped(retries: int, comes_back: bool) -> None:
    assert volcano("Running", retries).may_resume is comes_back


def test_what_kueue_admits_is_told_to_kueue() -> None:
    queued = msgspec.convert({"metadata": {"name": "w"}, "spec": {}}, QueuedWorkload)
    assert queued.spec.active
    assert queued.stop(KEY) == Patch({"spec": {"active": False}})
    assert queued.resume(KEY) == Patch({"spec": {"active": True}})


@pytest.mark.parametrize(
    ("job", "of", "rank"),
    [
        (
            jobset(),
            pod({"jobset.sigs.k8s.io/job-global-index": "2", "batch.kubernetes.io/job-completion-index": "3"}),
            5,
        ),
        (jobset(), pod({"jobset.sigs.k8s.io/job-global-index": "many"}), 0),
        (
            pytorch(),
            pod(
                labels={"training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": "1"},
            ),
            2,
        ),
        (pytorch(), pod(labels={"training.kubeflow.org/replica-type": "master"}), 0),
        (volcano("Running"), pod({"volcano.sh/task-spec": "worker", "volcano.sh/task-index": "1"}), 2),
        (volcano("Running"), pod({"volcano.sh/task-spec": "none"}), 0),
    ],
)
def test_ranks(job: WorkloadObject, of: Pod, rank: int) -> None:
    assert job.rank(of) == rank


def test_ids_name_the_kind() -> None:
    assert JobName.parse("a/train") == JobName("a", "train")
    for kind in KINDS[1:]:
        assert JobName.parse(f"a/{kind.WORD}/train") == JobName("a", "train", kind.WORD)
    for no in ("train", "a/", "/train", "a//train", "a/jobset/", "a/b/c/d", ""):
        assert JobName.parse(no) is None, no
