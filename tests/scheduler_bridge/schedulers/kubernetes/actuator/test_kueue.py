"""Acts on Jobs that Kueue's own controller admits, on a real control plane, with the rights that the docs give."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from scheduler_bridge.schedulers import SchedulerJobState as State
from tests.servers.kubernetes import GPUS, Kubernetes, running
from tests.servers.kubernetes_kinds import kueue_controller

pytest.importorskip("kubernetes")

from scheduler_bridge.schedulers.kubernetes.actuator import KubernetesActuator, KubernetesLimits
from scheduler_bridge.schedulers.kubernetes.client.client import KubernetesClient

pytestmark = [pytest.mark.kubernetes, pytest.mark.slow]

API = "kueue.x-k8s.io/v1beta2"
QUEUED = {"labels": {"kueue.x-k8s.io/queue-name": "gpus"}}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Kubernetes]:
    """A control plane of its own, whose Kueue has a quota of two nodes."""
    with running() as own, kueue_controller(own):
        quota = {"name": "nvidia.com/gpu", "nominalQuota": 2 * GPUS}
        flavors = [{"name": "any", "resources": [quota]}]
        covered = {"coveredResources": ["nvidia.com/gpu"], "flavors": flavors}
        own.apply({"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": "any"}})
        spec = {"namespaceSelector": {}, "resourceGroups": [covered]}
        own.apply({"apiVersion": API, "kind": "ClusterQueue", "metadata": {"name": "all"}, "spec": spec})
        yield own


@pytest.fixture
def actuator(cluster: Kubernetes) -> KubernetesActuator:
    client = KubernetesClient.connect(cluster.kubeconfig("bridge"))
    return KubernetesActuator(client, KubernetesLimits(stop_timeout=60, settle=20))


@pytest.fixture
def space(cluster: Kubernetes) -> Iterator[str]:
    name = cluster.namespace(f"k-{uuid.uuid4().hex[:8]}")
    meta = {"name": "gpus", "namespace": name}
    cluster.apply({"apiVersion": API, "kind": "LocalQueue", "metadata": meta, "spec": {"clusterQueue": "all"}})
    yield name
    cluster.delete(f"/apis/batch/v1/namespaces/{name}/jobs")
    cluster.until(lambda: not cluster.api("GET", f"/api/v1/namespaces/{name}/pods")["items"], "no pods are left")
    cluster.until(lambda: not workloads(cluster, name), "Kueue has forgotten them")


def key(action: str) -> str:
    return f"{action}/{uuid.uuid4().hex[:16]}"


def workloads(cluster: Kubernetes, space: str) -> list[Any]:
    return list(cluster.api("GET", f"/apis/{API}/namespaces/{space}/workloads")["items"])


def reach(cluster: Kubernetes, actuator: KubernetesActuator, job: str, wanted: State) -> None:
    def reached() -> bool:
        seen = actuator.job(job)
        return bool(seen and seen.state is wanted)

    cluster.until(reached, f"{job} is {wanted}")


def test_an_evicted_job_returns_through_its_queue(
    cluster: Kubernetes, actuator: KubernetesActuator, space: str
) -> None:
    job = cluster.submit(space, "train", metadata=QUEUED)
    cluster.wait_running(job)
    before = {pod["metadata"]["uid"] for pod in cluster.pods(job)}
    mark = key("evict")
    seen = actuator.evict(job, mark)
    assert (seen.attempt, seen.acts, seen.interrupted) == (1, (mark,), False)
    cluster.wait_running(job)
    assert not before & {
        pod["metadata"]["uid"] for pod in cluster.pods(job) if "deletionTimestamp" not in pod["metadata"]
    }
    reach(cluster, actuator, job, State.RUNNING)
    (workload,) = workloads(cluster, space)
    assert workload["spec"]["active"]
    assert cluster.job(job)["status"].get("failed", 0) == 0, "no backoffLimit is spent"


def test_a_failed_job_restarts_elsewhere_once_kueue_admits_it(
    cluster: Kubernetes, actuator: KubernetesActuator, space: str
) -> None:
    job = cluster.submit(space, "train", metadata=QUEUED)
    (node,) = cluster.wait_running(job)
    full = [cluster.submit(space, "beside", metadata=QUEUED)]
    cluster.wait_running(full[0])
    cluster.end(job, 1)
    reach(cluster, actuator, job, State.FAILED)
    seen = actuator.restart(job, (node,), key("restart"))
    assert (seen.attempt, seen.excluded) == (1, (node,))
    (new,) = cluster.wait_running(f"{space}/train-r1")
    assert new != node


def test_what_has_no_quota_waits_and_is_held_and_released(
    cluster: Kubernetes, actuator: KubernetesActuator, space: str
) -> None:
    running_ones = [cluster.submit(space, f"first-{number}", metadata=QUEUED) for number in range(2)]
    for one in running_ones:
        cluster.wait_running(one)
    job = cluster.submit(space, "late", metadata=QUEUED)
    cluster.until(lambda: len(workloads(cluster, space)) == 3, "Kueue knows it")
    reach(cluster, actuator, job, State.PENDING)
    assert actuator.hold(job, key("hold")).state is State.HELD
    cluster.end(running_ones[0], 0)
    reach(cluster, actuator, running_ones[0], State.COMPLETED)
    assert not cluster.pods(job), "there is quota for it, and it is held"
    assert actuator.release(job, key("release")).state in (State.PENDING, State.RUNNING)
    cluster.wait_running(job)


def test_a_cancelled_job_does_not_return(cluster: Kubernetes, actuator: KubernetesActuator, space: str) -> None:
    job = cluster.submit(space, "train", metadata=QUEUED)
    cluster.wait_running(job)
    seen = actuator.cancel(job, key("cancel"))
    assert (seen.state, seen.attempt) == (State.CANCELLED, 0)
    cluster.until(lambda: not cluster.running(job), "its pods are gone")
    (workload,) = workloads(cluster, space)
    assert not workload["spec"]["active"]
