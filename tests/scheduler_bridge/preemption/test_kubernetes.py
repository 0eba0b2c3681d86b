"""Evictions for Jobs that wait, on a real control plane."""

import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("kubernetes")

from schedmate_records import Action, Mode, Outcome
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.schedulers.kubernetes.actuator import KubernetesActuator, KubernetesLimits
from scheduler_bridge.schedulers.kubernetes.client.client import KubernetesClient
from scheduler_bridge.selectors import Selector
from tests.scheduler_bridge.findings import Written, checkpoint
from tests.servers.kubernetes import GPUS, NODES, Kubernetes

pytestmark = [pytest.mark.kubernetes, pytest.mark.slow]

ROUNDS = 12
WIDE_ROUNDS = 10
IGNORE = {
    "backoffLimit": 0,
    "podFailurePolicy": {
        "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
    },
}


def settings(space: str) -> BridgeSettings:
    return BridgeSettings(
        modes=dict.fromkeys(Action, Mode.ACT),
        evict_for=(Selector.parse(f"user={space}&qos=urgent"),),
        evictable=(Selector.parse(f"user={space}"),),
        evict_wait_seconds=0.0,
        actions_per_hour=1000,
        user_share=1.0,
    )


@pytest.fixture
def actuator(kubernetes: Kubernetes) -> KubernetesActuator:
    client = KubernetesClient.connect(kubernetes.kubeconfig("bridge"))
    return KubernetesActuator(client, KubernetesLimits(stop_timeout=30, settle=10))


@pytest.fixture
def space(kubernetes: Kubernetes) -> Iterator[str]:
    """A namespace, and the class of what must not wait: the scheduler leaves the choice of whom to evict to the bridge."""
    if kubernetes.api("GET", "/apis/scheduling.k8s.io/v1/priorityclasses/urgent") is None:
        urgent = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}}
        path = "/apis/scheduling.k8s.io/v1/priorityclasses"
        kubernetes.api("POST", path, {**urgent, "value": 1000, "preemptionPolicy": "Never"})
    name = kubernetes.namespace(f"p-{uuid.uuid4().hex[:8]}")
    yield name
    kubernetes.delete(f"/apis/batch/v1/namespaces/{name}/jobs?propagationPolicy=Background")
    kubernetes.until(lambda: not kubernetes.api("GET", f"/api/v1/namespaces/{name}/pods")["items"], "no pods are left")


def fill(kubernetes: Kubernetes, space: str, name: str, **spec: Any) -> list[str]:
    """Take every node with a Job that outlives its eviction."""
    jobs = [kubernetes.submit(space, f"{name}-{number}", **IGNORE, **spec) for number in range(len(NODES))]
    for job in jobs:
        kubernetes.wait_running(job)
    return jobs


def urgent(kubernetes: Kubernetes, space: str, name: str, **more: Any) -> str:
    return kubernetes.submit(space, name, template={"priorityClassName": "urgent"}, **more)


def step(bridge: Bridge, reached: Callable[[], bool], what: Callable[[], object] = str, seconds: float = 60.0) -> None:
    """Let the bridge work until something holds; `what` says what there is where it never does."""
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline, what()
        bridge.advance()
        time.sleep(0.02)


def test_who_waits_gets_the_place_of_who_loses_least(
    kubernetes: Kubernetes,
    actuator: KubernetesActuator,
    space: str,
    record_property: Callable[[str, object], None],
) -> None:
    """Another one is the least wasteful each time: it alone goes. Prints how long those that wait waited."""
    took: list[float] = []
    for number in range(ROUNDS):
        full = fill(kubernetes, space, f"low-{number}")
        written = Written()
        bridge = Bridge(actuator, settings(space), written)
        victim = full[number % len(full)]
        bridge.accept(checkpoint(victim, time.time()))
        began = time.monotonic()
        high = urgent(kubernetes, space, f"high-{number}")
        step(bridge, lambda high=high: len(kubernetes.running(high)) == 1)  # type: ignore[misc]
        took.append(time.monotonic() - began)
        assert [decision.job for decision in written.decisions] == [victim]
        assert written.outcomes == [Outcome.STARTED, Outcome.DONE]
        assert all(len(kubernetes.running(job)) == 1 for job in full if job != victim)
        kubernetes.end(high, 0)
        kubernetes.wait_running(victim)  # it comes back once there is a place
        for job in full:
            kubernetes.end(job, 0)
        kubernetes.until(lambda full=full: not any(map(kubernetes.running, full)), "all have ended")  # type: ignore[misc]
    took.sort()
    record_property("seconds", took)
    print(f"high-priority Job → running: median {took[len(took) // 2]:.2f} s, most {took[-1]:.2f} s of {len(took)}")


def test_pods_that_fill_a_node_together_take_one_place(
    kubernetes: Kubernetes, actuator: KubernetesActuator, space: str
) -> None:
    full = fill(kubernetes, space, "low")
    written = Written()
    bridge = Bridge(actuator, settings(space), written)
    bridge.accept(checkpoint(full[2], time.time()))
    pair = urgent(kubernetes, space, "pair", pods=2, gpus=GPUS // 2)
    step(bridge, lambda: len(kubernetes.running(pair)) == 2, lambda: [(one.job, one) for one in written.records])
    assert [decision.job for decision in written.decisions] == [full[2]]


@pytest.mark.parametrize("places", [2, 3])
def test_who_needs_several_places_gets_all_of_them(
    kubernetes: Kubernetes,
    actuator: KubernetesActuator,
    space: str,
    record_property: Callable[[str, object], None],
    places: int,
) -> None:
    """Its first pods run in the first place while the others wait still. Prints how long it waited for all."""
    took: list[float] = []
    for number in range(WIDE_ROUNDS):
        full = fill(kubernetes, space, f"low-{number}")
        written = Written()
        bridge = Bridge(actuator, settings(space), written)
        staying = set(full[: len(NODES) - places])
        for job in set(full) - staying:
            bridge.accept(checkpoint(job, time.time()))
        began = time.monotonic()
        wide = urgent(kubernetes, space, f"wide-{number}", pods=2 * places, gpus=GPUS // 2)
        step(
            bridge,
            lambda wide=wide: len(kubernetes.running(wide)) == 2 * places,  # type: ignore[misc]
            lambda written=written: written.results,  # type: ignore[misc]
        )
        took.append(time.monotonic() - began)
        assert len(written.decisions) == places
        assert written.outcomes == [Outcome.STARTED, Outcome.DONE] * places
        assert {job for job in full if kubernetes.running(job)} == staying
        for job in (wide, *full):
            path = "/apis/batch/v1/namespaces/" + job.replace("/", "/jobs/")
            kubernetes.delete(path)
        kubernetes.until(lambda: not kubernetes.api("GET", f"/api/v1/namespaces/{space}/pods")["items"], "all are gone")
    took.sort()
    record_property("seconds", took)
    print(f"Job of {places} places → all pods run: median {took[len(took) // 2]:.2f} s, most {took[-1]:.2f} s")


def test_who_waits_for_another_reason_or_may_not_be_evicted_moves_nobody(
    kubernetes: Kubernetes, actuator: KubernetesActuator, space: str
) -> None:
    stubborn = [kubernetes.submit(space, f"stubborn-{number}") for number in range(len(NODES))]
    for job in stubborn:
        kubernetes.wait_running(job)
    no_pool = {"priorityClassName": "urgent", "nodeSelector": {"pool": "none"}}
    elsewhere = kubernetes.submit(space, "elsewhere", template=no_pool)
    here = urgent(kubernetes, space, "here")

    def seen() -> dict[str, bool]:
        return {job.view.job: job.blocked for job in actuator.queue().waiting}

    kubernetes.until(lambda: seen() == {here: True, elsewhere: False}, "the scheduler has found no place for either")
    written = Written()
    Bridge(actuator, settings(space), written).advance()
    assert not written.decisions
    queue = actuator.queue()
    assert {job.view.job for job in queue.running if not job.requeueable} == set(stubborn)
    assert sum(job.gpus for job in queue.running) == GPUS * len(NODES)
    assert {node.gpus for node in queue.nodes} == {GPUS}
    assert {job.view.qos for job in queue.waiting} == {"urgent"}
    assert {job.view.priority for job in queue.waiting} == {1000}


def test_pods_of_nobody_hold_their_place(kubernetes: Kubernetes, actuator: KubernetesActuator, space: str) -> None:
    limits = {"limits": {"nvidia.com/gpu": "3", "cpu": "2"}}
    container = {"name": "notebook", "image": "notebook", "resources": limits}
    body = {"nodeName": "gpu-3", "containers": [container], "terminationGracePeriodSeconds": 0}
    kubernetes.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "n", "namespace": space}, "spec": body})
    free = {node.view.node: (node.gpus, node.cpus) for node in actuator.queue().nodes}
    assert free == dict.fromkeys(NODES, (GPUS, 64.0)) | {"gpu-3": (GPUS - 3, 62.0)}
    kubernetes.delete(f"/api/v1/namespaces/{space}/pods/n")
