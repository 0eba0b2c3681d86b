"""Acts on JobSets that JobSet's own controller runs, with its webhooks, on a real control plane, and the rights that the docs give."""

import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scheduler_bridge.act_keys import read_keys
from scheduler_bridge.schedulers import ActuatorError, SchedulerAway
from scheduler_bridge.schedulers import SchedulerJobState as State
from tests.servers import races
from tests.servers.kubernetes import NODES, Kubernetes
from tests.servers.kubernetes_kinds import define, jobset_controller

pytest.importorskip("kubernetes")

from scheduler_bridge.schedulers.kubernetes.actuator import KubernetesActuator, KubernetesLimits
from scheduler_bridge.schedulers.kubernetes.client.client import KubernetesClient

pytestmark = [pytest.mark.kubernetes, pytest.mark.slow]

MERGE = "application/merge-patch+json"


@pytest.fixture(scope="module")
def cluster(kubernetes: Kubernetes) -> Iterator[Kubernetes]:
    define(kubernetes, ("jobset.x-k8s.io", "v1alpha2", "jobsets"))
    with jobset_controller(kubernetes):
        yield kubernetes


@pytest.fixture
def actuator(cluster: Kubernetes) -> KubernetesActuator:
    client = KubernetesClient.connect(cluster.kubeconfig("bridge"))
    return KubernetesActuator(client, KubernetesLimits(stop_timeout=60, settle=20))


@pytest.fixture
def space(cluster: Kubernetes) -> Iterator[str]:
    name = cluster.namespace(f"s-{uuid.uuid4().hex[:8]}")
    yield name
    cluster.delete(f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{name}/jobsets")
    cluster.until(lambda: not cluster.api("GET", f"/api/v1/namespaces/{name}/pods")["items"], "no pods are left")


def key(action: str) -> str:
    return f"{action}/{uuid.uuid4().hex[:16]}"


def path(space: str, name: str = "train") -> str:
    return f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{space}/jobsets/{name}"


def submit(cluster: Kubernetes, space: str, name: str = "train", *, gpus: int = 8, **spec: Any) -> str:
    """Create a JobSet of two Jobs of one pod, and return the job's id."""
    container = {"name": "train", "image": "i", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}
    pod = {"restartPolicy": "Never", "containers": [container], "terminationGracePeriodSeconds": 1}
    job = {"spec": {"backoffLimit": 0, "template": {"spec": pod}}}
    meta = {"name": name, "namespace": space}
    body = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": meta}
    cluster.apply({**body, "spec": {"replicatedJobs": [{"name": "w", "replicas": 2, "template": job}], **spec}})
    return f"{space}/jobset/{name}"


def pods(cluster: Kubernetes, space: str, name: str = "train") -> dict[str, str]:
    """The nodes of its pods that run, by uid."""
    label = f"labelSelector=jobset.sigs.k8s.io/jobset-name={name}"
    found = cluster.api("GET", f"/api/v1/namespaces/{space}/pods?{label}")["items"]
    return {
        one["metadata"]["uid"]: one["spec"]["nodeName"]
        for one in found
        if one["status"].get("phase") == "Running" and "deletionTimestamp" not in one["metadata"]
    }


def wait_running(cluster: Kubernetes, space: str, name: str = "train") -> dict[str, str]:
    cluster.until(lambda: len(pods(cluster, space, name)) == 2, f"{name} runs")
    return pods(cluster, space, name)


def reach(cluster: Kubernetes, actuator: KubernetesActuator, job: str, wanted: State) -> None:
    def reached() -> bool:
        seen = actuator.job(job)
        return bool(seen and seen.state is wanted)

    cluster.until(reached, f"{job} is {wanted}")


def test_an_evicted_jobset_comes_back_and_spends_no_restart(
    cluster: Kubernetes, actuator: KubernetesActuator, space: str
) -> None:
    job = submit(cluster, space)
    before = wait_running(cluster, space)
    mark = key("evict")
    seen = actuator.evict(job, mark)
    assert (seen.attempt, seen.acts, seen.interrupted) == (1, (mark,), False)
    after = wait_running(cluster, space)
    assert not before.keys() & after.keys()
    status = cluster.api("GET", path(space))["status"]
    assert status.get("restarts", 0) == 0
    reach(cluster, actuator, job, State.RUNNING)


def test_a_waiting_jobset_is_held_and_released(cluster: Kubernetes, actuator: KubernetesActuator, space: str) -> None:
    job = submit(cluster, space, gpus=9)  # more than a node has
    reach(cluster, actuator, job, State.PENDING)
    assert actuator.hold(job, key("hold")).state is State.HELD
    assert actuator.release(job, key("release")).state is State.PENDING


def test_a_cancelled_jobset_stays_stopped_until_a_person_resumes_it(
    cluster: Kubernetes, actuator: KubernetesActuator, space: str
) -> None:
    job = submit(cluster, space)
    wait_running(cluster, space)
    assert actuator.cancel(job, key("cancel")).state is State.CANCELLED
    assert not pods(cluster, space)
    cluster.api("PATCH", path(space), {"spec": {"suspend": False}}, kind=MERGE)
    wait_running(cluster, space)
    seen = actuator.job(job)
    assert seen
    assert (seen.state, seen.attempt) == (State.RUNNING, 1)


def test_a_jobset_that_its_controller_gave_up_restarts_elsewhere(
    cluster: Kubernetes, actuator: KubernetesActuator, space: str
) -> None:
    job = submit(cluster, space, failurePolicy={"maxRestarts": 1})
    wait_running(cluster, space)
    cluster.end(f"{space}/train-w-0", 1)
    cluster.until(lambda: cluster.api("GET", path(space))["status"].get("restarts") == 1, "its controller restarts it")
    with pytest.raises(ActuatorError, match="a job that is failed"):
        actuator.restart(job, (), key("restart"))
    nodes = wait_running(cluster, space)
    cluster.end(f"{space}/train-w-0", 1)
    reach(cluster, actuator, job, State.FAILED)
    suspect = min(nodes.values())
    seen = actuator.restart(job, (suspect,), key("restart"))
    assert (seen.attempt, seen.excluded) == (1, (suspect,))
    assert set(wait_running(cluster, space, "train-r1").values()) <= set(NODES) - {suspect}


RACES = races(24)


@pytest.mark.timeout(1800)
def test_races_with_a_jobset_end_in_no_wrong_act(
    cluster: Kubernetes, actuator: KubernetesActuator, space: str, record_property: Callable[[str, object], None]
) -> None:
    """A JobSet ends, is deleted, suspended or loses a pod while the bridge acts on it: the act is refused, or done once."""
    came: Counter[str] = Counter()
    for number in range(RACES):
        name, act, how = f"race-{number}", ("evict", "cancel")[number % 2], HOW[number // 2 % len(HOW)]
        job = submit(cluster, space, name, gpus=1)
        wait_running(cluster, space, name)
        other = threading.Timer(0.02 * (number // 8), _disturb, (cluster, space, name, how))
        other.start()
        try:
            seen = getattr(actuator, act)(job, key(act))
        except SchedulerAway:
            raise
        except ActuatorError:
            seen = None
        other.join()
        left = cluster.api("GET", path(space, name))
        acts = read_keys(left["metadata"].get("annotations", {}).get("schedmate.io/acts", "")) if left else ()
        assert len(acts) <= 1, (act, how, acts)
        assert not seen or seen.acts[0].startswith(f"{act}/"), (act, how, seen)
        names = [one["metadata"]["name"] for one in cluster.api("GET", path(space, "").rstrip("/"))["items"]]
        assert set(names) <= {name}, names
        if left:
            cluster.delete(path(space, name))
        cluster.until(lambda name=name: cluster.api("GET", path(space, name)) is None, f"{name} is gone")  # type: ignore[misc]
        came[f"{act} {how}: {'done' if seen else 'refused'}"] += 1
    record_property("races", dict(came))
    print(f"{sum(came.values())} races, none wrong: {dict(sorted(came.items()))}")


HOW = ("end", "delete", "suspend", "pod")


def _disturb(cluster: Kubernetes, space: str, name: str, how: str) -> None:
    if how == "delete":
        cluster.delete(path(space, name))
    elif how == "suspend":
        cluster.api("PATCH", path(space, name), {"spec": {"suspend": True}}, kind=MERGE, check=False)
    elif how == "end":
        for index in range(2):
            cluster.end(f"{space}/{name}-w-{index}", 0)
    else:
        for pod in cluster.pods(f"{space}/{name}-w-0"):
            cluster.api(
                "DELETE",
                f"/api/v1/namespaces/{space}/pods/{pod['metadata']['name']}",
                {"gracePeriodSeconds": 0},
                check=False,
            )
