"""What the bridge does to Jobs and nodes of a real control plane, with the rights that the docs give it."""

import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from schedmate_records import Action
from scheduler_bridge.schedulers import ActuatorError, SchedulerJobState, SchedulerNodeState
from tests.servers.kubernetes import Kubernetes

pytest.importorskip("kubernetes")

from scheduler_bridge.schedulers.kubernetes.actuator import KubernetesActuator, KubernetesLimits
from scheduler_bridge.schedulers.kubernetes.client.client import KubernetesClient

pytestmark = [pytest.mark.kubernetes, pytest.mark.slow]

RUNNING, PENDING, HELD = SchedulerJobState.RUNNING, SchedulerJobState.PENDING, SchedulerJobState.HELD
FAILED, COMPLETED, CANCELLED = SchedulerJobState.FAILED, SchedulerJobState.COMPLETED, SchedulerJobState.CANCELLED
IGNORE = {
    "podFailurePolicy": {
        "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
    }
}
"""A Job that goes on when its pods are evicted."""


def key(action: str) -> str:
    return f"{action}/{uuid.uuid4().hex[:16]}"


@pytest.fixture
def actuator(kubernetes: Kubernetes) -> KubernetesActuator:
    client = KubernetesClient.connect(kubernetes.kubeconfig("bridge"))
    return KubernetesActuator(client, KubernetesLimits(stop_timeout=30, settle=10))


@pytest.fixture
def space(kubernetes: Kubernetes, request: pytest.FixtureRequest) -> Any:
    name = kubernetes.namespace(f"t-{uuid.uuid4().hex[:8]}")
    yield name
    kubernetes.delete(f"/apis/batch/v1/namespaces/{name}/jobs?propagationPolicy=Background")
    kubernetes.until(lambda: not kubernetes.api("GET", f"/api/v1/namespaces/{name}/pods")["items"], "no pods are left")


def state(actuator: KubernetesActuator, job: str) -> SchedulerJobState | None:
    seen = actuator.job(job)
    return seen.state if seen else None


def reach(kubernetes: Kubernetes, actuator: KubernetesActuator, job: str, wanted: SchedulerJobState) -> None:
    kubernetes.until(lambda: state(actuator, job) is wanted, f"{job} is {wanted}")


def failed(kubernetes: Kubernetes, actuator: KubernetesActuator, job: str) -> str:
    """Let the job run and fail; return the node that it ran on."""
    (node,) = kubernetes.wait_running(job)
    kubernetes.end(job, 1)
    reach(kubernetes, actuator, job, FAILED)
    return node


def events(kubernetes: Kubernetes, space: str) -> list[str]:
    return [event["reason"] for event in kubernetes.api("GET", f"/api/v1/namespaces/{space}/events")["items"]]


def test_a_failed_job_restarts_elsewhere_under_its_id(
    kubernetes: Kubernetes, actuator: KubernetesActuator, space: str
) -> None:
    job = kubernetes.submit(space, "train")
    node = failed(kubernetes, actuator, job)
    mark = key("restart")
    seen = actuator.restart(job, (node,), mark)
    assert (seen.attempt, seen.excluded, seen.acts) == (1, (node,), (mark,))
    (new,) = kubernetes.wait_running(f"{space}/train-r1")
    assert new != node
    reach(kubernetes, actuator, job, RUNNING)
    assert "SchedMateRestart" in events(kubernetes, space)
    labels = kubernetes.pods(f"{space}/train-r1")[0]["metadata"]["labels"]
    assert (labels["schedmate.io/lineage"], labels["schedmate.io/attempt"]) == ("train", "1")


def test_nodes_excluded_before_stay_excluded(kubernetes: Kubernetes, actuator: KubernetesActuator, space: str) -> None:
    job = kubernetes.submit(space, "train", pods=1)
    first = failed(kubernetes, actuator, job)
    actuator.restart(job, (first,), key("restart"))
    second = failed_attempt(kubernetes, actuator, job, f"{space}/train-r1")
    seen = actuator.restart(job, (second,), key("restart"))
    assert (seen.attempt, set(seen.excluded)) == (2, {first, second})
    assert kubernetes.wait_running(f"{space}/train-r2")[0] not in (first, second)


def failed_attempt(kubernetes: Kubernetes, actuator: KubernetesActuator, job: str, one: str) -> str:
    (node,) = kubernetes.wait_running(one)
    kubernetes.end(one, 1)
    reach(kubernetes, actuator, job, FAILED)
    return node


def test_a_restart_that_is_asked_for_twice_makes_one_job(
    kubernetes: Kubernetes, actuator: KubernetesActuator, space: str
) -> None:
    job = kubernetes.submit(space, "train")
    failed(kubernetes, actuator, job)
    results: list[object] = []

    def ask(mark: str) -> None:
        try:
            results.append(actuator.restart(job, (), mark))
        except ActuatorError as error:
            results.append(error)

    threads = [threading.Thread(target=ask, args=(key("restart"),)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    jobs = kubernetes.api("GET", f"/apis/batch/v1/namespaces/{space}/jobs")["items"]
    assert sorted(one["metadata"]["name"] for one in jobs) == ["train", "train-r1"]
    assert sum(not isinstance(one, Exception) for one in results) == 1


def test_an_indexed_job_restarts_whole(kubernetes: Kubernetes, actuator: KubernetesActuator, space: str) -> None:
    job = kubernetes.submit(space, "gang", pods=2, indexed=True)
    kubernetes.wait_running(job, 2)
    kubernetes.end(job, 1)
    reach(kubernetes, actuator, job, FAILED)
    seen = actuator.restart(job, ("gpu-1",), key("restart"))
    assert len(kubernetes.wait_running(f"{space}/gang-r1", 2)) == 2
    assert seen.excluded == ("gpu-1",)
    assert "gpu-1" not in kubernetes.running(f"{space}/gang-r1")


def test_a_job_that_its_owner_starts_again_has_not_failed(
    kubernetes: Kubernetes, actuator: KubernetesActuator, space: str
) -> None:
    job = kubernetes.submit(space, "retry", backoffLimit=3)
    kubernetes.wait_running(job)
    kubernetes.end(job, 1)
    kubernetes.until(lambda: kubernetes.job(job)["status"].get("failed") == 1, "one pod failed")
    assert state(actuator, job) in (PENDING, RUNNING)
    with pytest.raises(ActuatorError, match="a job that is failed"):
        actuator.restart(job, (), key("restart"))


def test_a_job_pinned_to_the_suspect_node_is_refused(
    kubernetes: Kubernetes, actuator: KubernetesActuator, space: str
) -> None:
    job = kubernetes.submit(space, "train", template={"nodeName": "gpu-2"})
    failed(kubernetes, actuator, job)
    with pytest.raises(ActuatorError, match="by name"):
        actuator.restart(job, ("gpu-2",), key("restart"))
    assert kubernetes.job(f"{space}/train-r1") is None


def test_a_job_of_another_controller_is_refused(
    kubernetes: Kubernetes, actuator: KubernetesActuator, space: str
) -> None:
    # An owner that is there: else the garbage collector takes the Job.
    made = kubernetes.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "s", "namespace": space}})
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "s", "uid": made["metadata"]["uid"], "controller": True}
    job = kubernetes.submit(space, "train", metadata={"ownerReferences": [owner]})
    failed(kubernetes, actuator, job)
    with pytest.raises(ActuatorError, match="ConfigMap/s"):
        actuator.restart(job, (), key("restart"))


def test_a_node_that_is_not_there_is_refused(kubernetes: Kubernetes, actuator: KubernetesActuator, space: str) -> None:
    job = kubernetes.submit(space, "train")
    failed(kubernetes, actuator, job)
    with pytest.raises(ActuatorError, match="404"):
        actuator.restart(job, ("no-such-node",), key("restart"))
    assert actuator.job(f"{space}/none") is None
    assert actuator.job("4711") is None


def test_an_evicted_job_comes_back(kubernetes: Kubernetes, actuator: KubernetesActuator, space: str) -> None:
    job = kubernetes.submit(space, "train", pods=2, **IGNORE)
    kubernetes.wait_running(job, 2)
    before = {pod["metadata"]["uid"] for pod in kubernetes.pods(job)}
    mark = key("evict")
    seen = actuator.evict(job, mark)
    assert (seen.attempt, seen.acts) == (1, (mark,))
    kubernetes.until(lambda: len(kubernetes.running(job)) == 2, "it runs again")
    assert not before & {pod["metadata"]["uid"] for pod in kubernetes.pods(job)}
    reach(kubernetes, actuator, job, RUNNING)


def test_a_disruption_budget_is_respected(kubernetes: Kubernetes, actuator: KubernetesActuator, space: str) -> None:
    job = kubernetes.submit(space, "train", pods=2, **IGNORE)
    kubernetes.wait_running(job, 2)
    selector = {"matchLabels": {"batch.kubernetes.io/job-name": "train"}}
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "keep", "namespace": space},
    }
    kubernetes.apply({**budget, "spec": {"minAvailable": 2, "selector": selector}})
    path = f"/apis/policy/v1/namespaces/{space}/poddisruptionbudgets/keep"
    kubernetes.until(lambda: kubernetes.api("GET", path)["status"].get("currentHealthy") == 2, "the budget is known")
    before = {pod["metadata"]["uid"] for pod in kubernetes.pods(job)}
    with pytest.raises(ActuatorError, match="disruption budget"):
        actuator.evict(job, key("evict"))
    assert before == {pod["metadata"]["uid"] for pod in kubernetes.pods(job)}
    seen = actuator.job(job)
    assert seen
    assert (seen.attempt, seen.state, seen.acts) == (0, RUNNING, ())


def test_a_job_that_would_not_outlive_its_eviction_is_left_alone(
    kubernetes: Kubernetes, actuator: KubernetesActuator, space: str
) -> None:
    job = kubernetes.submit(space, "train")
    kubernetes.wait_running(job)
    with pytest.raises(ActuatorError, match="podFailurePolicy"):
        actuator.evict(job, key("evict"))
    assert state(actuator, job) is RUNNING


def test_a_cancelled_job_is_over_for_good(kubernetes: Kubernetes, actuator: KubernetesActuator, space: str) -> None:
    job = kubernetes.submit(space, "train", backoffLimit=6)
    kubernetes.wait_running(job)
    seen = actuator.cancel(job, key("cancel"))
    assert (seen.state, seen.attempt) == (CANCELLED, 0)
    kubernetes.until(lambda: not kubernetes.running(job), "its pods are gone")
    assert kubernetes.job(job)["status"]["conditions"][-1]["reason"] == "DeadlineExceeded"


def test_a_waiting_job_is_held_and_released(kubernetes: Kubernetes, actuator: KubernetesActuator, space: str) -> None:
    job = kubernetes.submit(space, "train", template={"nodeSelector": {"pool": "none"}})
    reach(kubernetes, actuator, job, PENDING)
    held = actuator.hold(job, key("hold"))
    assert held.state is HELD
    with pytest.raises(ActuatorError, match="a job that is pending"):
        actuator.hold(job, key("hold"))
    released = actuator.release(job, key("release"))
    assert released.state is PENDING
    assert [one.partition("/")[0] for one in released.acts] == ["hold", "release"]


def test_a_drained_node_takes_no_pods_until_it_returns(
    kubernetes: Kubernetes, actuator: KubernetesActuator, space: str
) -> None:
    job = kubernetes.submit(space, "train")
    (node,) = kubernetes.wait_running(job)
    mark = key("drain")
    theirs = {"key": "example.com/theirs", "effect": "PreferNoSchedule"}
    patch = {"spec": {"taints": [theirs]}}
    kubernetes.api("PATCH", f"/api/v1/nodes/{node}", patch, kind="application/merge-patch+json")
    try:
        assert actuator.drain(node, "Xid 79", mark).state is SchedulerNodeState.DRAINING
        assert kubernetes.running(job) == [node]
        assert f"{space}/train-" in actuator.describe(node)
        assert f'"name": "{node}"' in actuator.describe(node)
        with pytest.raises(ActuatorError, match="a node in service"):
            actuator.drain(node, "again", key("drain"))
        kubernetes.end(job, 0)
        kubernetes.until(lambda: of(actuator, node).state is SchedulerNodeState.DRAINED, f"{node} is drained")
        assert (of(actuator, node).drained_by, of(actuator, node).pools) == (mark, ("gpus",))
    finally:
        seen = actuator.undrain(node, key("undrain"))
    assert (seen.state, seen.drained_by) == (SchedulerNodeState.UP, "")
    assert kubernetes.api("GET", f"/api/v1/nodes/{node}")["spec"] == {"taints": [theirs]}
    kubernetes.api("PATCH", f"/api/v1/nodes/{node}", {"spec": {"taints": None}}, kind="application/merge-patch+json")
    assert [one.partition("/")[0] for one in seen.acts] == ["drain", "undrain"]


def test_a_cordon_of_a_person_is_left_alone(kubernetes: Kubernetes, actuator: KubernetesActuator) -> None:
    cordon: Callable[[bool], Any] = lambda on: kubernetes.api(  # noqa: E731
        "PATCH", "/api/v1/nodes/gpu-4", {"spec": {"unschedulable": on}}, kind="application/merge-patch+json"
    )
    cordon(True)
    try:
        with pytest.raises(ActuatorError, match="by hand"):
            actuator.undrain("gpu-4", key("undrain"))
        with pytest.raises(ActuatorError, match="a node in service"):
            actuator.drain("gpu-4", "Xid 79", key("drain"))
    finally:
        cordon(False)


def of(actuator: KubernetesActuator, node: str) -> Any:
    return next(view for view in actuator.nodes() if view.node == node)


def test_fault_to_cordoned_and_elsewhere(
    kubernetes: Kubernetes, actuator: KubernetesActuator, space: str, record_property: Callable[[str, object], None]
) -> None:
    """The seconds between a pod's failure and its node cordoned, the job running elsewhere; printed, and bounded loosely."""
    took = []
    for number in range(8):
        job = kubernetes.submit(space, f"fault-{number}")
        (node,) = kubernetes.wait_running(job)
        began = time.monotonic()
        kubernetes.end(job, 1)
        actuator.drain(node, "Xid 79", key("drain"))
        reach(kubernetes, actuator, job, FAILED)
        actuator.restart(job, (node,), key("restart"))
        kubernetes.wait_running(f"{space}/fault-{number}-r1")
        took.append(time.monotonic() - began)
        actuator.undrain(node, key("undrain"))
        kubernetes.end(f"{space}/fault-{number}-r1", 0)
        reach(kubernetes, actuator, job, COMPLETED)
    took.sort()
    record_property("seconds", took)
    print(f"fault to cordoned and running elsewhere: median {took[4]:.2f} s, most {took[-1]:.2f} s of {len(took)}")


def test_packing_and_signals_are_refused(kubernetes: Kubernetes, actuator: KubernetesActuator) -> None:
    assert not actuator.supports(Action.CANCEL_PACKING)
    assert all(actuator.supports(action) for action in Action if action is not Action.CANCEL_PACKING)
    with pytest.raises(ActuatorError, match="nothing was done"):
        actuator.signal("a/b", "USR1")
