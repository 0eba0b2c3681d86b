"""Jobs, pods and nodes as a queue, and which Jobs the bridge leaves to their owners."""

from typing import Any

import pytest

pytest.importorskip("kubernetes")

from scheduler_bridge.schedulers.kubernetes.actuator.owners import ruler_of
from scheduler_bridge.schedulers.kubernetes.actuator.queue import queue_of
from scheduler_bridge.schedulers.kubernetes.client.objects import Node, Pod
from scheduler_bridge.schedulers.kubernetes.client.placement import admits
from scheduler_bridge.schedulers.kubernetes.client.workloads.batch_job import Job
from scheduler_bridge.schedulers.queue import Queue
from tests.scheduler_bridge.schedulers.kubernetes.kubernetes_objects import job, node, pod


def queue(jobs: list[Job], pods: list[Pod], *nodes: Node) -> Queue:
    return queue_of(jobs, pods, nodes or (node("n1"), node("n2")), ())


def test_who_waits_and_who_holds_what() -> None:
    found = queue([job("low"), job("high")], [pod("low", "n1"), pod("high", priority=5, preemptionPolicy="Never")])
    (low,), (high,) = found.running, found.waiting
    assert (low.gpus, low.held["n1"].cpus, low.held["n1"].memory, low.requeueable) == (8.0, 0.5, 1024.0, True)
    assert (high.need.nodes, high.need.gpus, high.need.cpus, high.blocked) == (1, 8.0, 0.5, True)
    assert (high.view.priority, high.view.user) == (5, "a")


@pytest.mark.parametrize(
    ("pods", "gpus", "need"),
    [(4, 4, (2, 8.0)), (2, 8, (2, 8.0)), (3, 2, (1, 6.0)), (3, 4, None), (5, 2, None), (3, 0, (3, 0.0))],
)
def test_as_many_pods_on_a_node_as_it_has_gpus_for(pods: int, gpus: int, need: tuple[int, float] | None) -> None:
    (waiting,) = queue([job("gang")], [pod("gang", gpus=gpus)] * pods).waiting
    assert waiting.blocked == (need is not None)
    assert need is None or (waiting.need.nodes, waiting.need.gpus) == need


@pytest.mark.parametrize(
    "spec",
    [
        {"why": "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector."},
        {"why": "0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) had volume node affinity conflict."},
        {"topologySpreadConstraints": [{"whenUnsatisfiable": "DoNotSchedule"}]},
        {
            "affinity": {
                "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]}
            }
        },
        {"priority": 5, "preemptionPolicy": "PreemptLowerPriority"},
    ],
)
def test_nobody_goes_for_what_the_bridge_cannot_tell_or_the_scheduler_does(spec: dict[str, Any]) -> None:
    (waiting,) = queue([job("low"), job("high")], [pod("low", "n1"), pod("high", **spec)]).waiting
    assert not waiting.blocked


def test_what_is_leaving_holds_its_place_and_pods_of_nobody_do() -> None:
    found = queue([job("low")], [pod("low", "n1", leaving=True), pod("low"), pod("", "n2", gpus=3)])
    assert [(each.view.state, each.gpus) for each in found.running] == [("stopping", 8.0)]
    assert [(each.gpus, each.cpus) for each in found.nodes] == [(8, 64.0), (5, 63.5)]


def test_a_job_may_use_the_nodes_that_admit_it() -> None:
    taint = [{"key": "spot", "value": "yes", "effect": "NoSchedule"}]
    nodes = (node("n1", taints=taint), node("n2", zone="b"), node("n3", zone="a", age="5"))
    bears = {"tolerations": [{"key": "spot", "operator": "Exists"}]}

    def where(**spec: Any) -> set[str]:
        one = pod("high", **spec)
        (waiting,) = queue([job("high")], [one], *nodes).waiting
        open_to = {each.metadata.name for each in nodes} - set(waiting.view.excluded)
        assert open_to == {each.metadata.name for each in nodes if admits(each, one.spec)}
        return open_to

    def affinity(key: str, operator: str, *values: str) -> dict[str, Any]:
        terms = [{"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}]
        return {
            "affinity": {
                "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
            }
        }

    assert where() == {"n2", "n3"}
    assert where(**bears) == {"n1", "n2", "n3"}
    assert where(tolerations=[{"key": "spot", "value": "no"}]) == {"n2", "n3"}
    assert where(nodeSelector={"zone": "a"}) == {"n3"}
    assert where(**affinity("zone", "In", "b", "c")) == {"n2"}
    assert where(**affinity("zone", "NotIn", "b")) == {"n3"}
    assert where(**affinity("zone", "DoesNotExist"), **bears) == {"n1"}
    assert where(**affinity("age", "Gt", "4")) == {"n3"}
    assert where(**affinity("age", "Lt", "4")) == set()
    assert where(**affinity("age", "Like", "5")) == set()


@pytest.mark.parametrize(
    ("version", "kind", "why"),
    [
        ("jobset.x-k8s.io/v1alpha2", "JobSet", "failurePolicy"),
        ("batch.volcano.sh/v1alpha1", "Job", "Volcano"),
        ("kubeflow.org/v1", "PyTorchJob", "training operator"),
        ("example.com/v1", "CronJob", "itself"),
    ],
)
def test_jobs_of_a_controller_are_left_to_it(version: str, kind: str, why: str) -> None:
    owner = {"apiVersion": version, "kind": kind, "name": "train", "uid": "u", "controller": True}
    owned = job("train-0", owners=[owner])
    ruler = ruler_of(owned)
    assert ruler
    assert ruler.name == f"{kind}/train"
    assert why in ruler.why
    assert [each.requeueable for each in queue([owned], [pod("train-0", "n1")]).running] == [False]
    cron = {**owner, "apiVersion": "batch/v1", "kind": "CronJob"}
    assert ruler_of(job("nightly", owners=[cron])) is None
    assert ruler_of(job("train", managedBy="kueue.x-k8s.io/multikueue")) is not None
