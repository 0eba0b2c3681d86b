"""Targets of schedulers: what Slurm's commands print, and what the servers of Kubernetes and Ray answer."""

from typing import Any, cast

import msgspec

from processors.advise.predictors.sacct import NotAccounting, read_sacct
from scheduler_bridge.schedulers.kubernetes.client.client import KubernetesClient
from scheduler_bridge.schedulers.kubernetes.client.errors import KubernetesError
from scheduler_bridge.schedulers.kubernetes.client.objects import Node, Pod
from scheduler_bridge.schedulers.kubernetes.client.placement import admits, excluded_nodes, pinned_nodes
from scheduler_bridge.schedulers.kubernetes.client.store import Informer
from scheduler_bridge.schedulers.kubernetes.client.workloads.batch_job import Job
from scheduler_bridge.schedulers.kubernetes.client.workloads.kind import WorkloadObject
from scheduler_bridge.schedulers.kubernetes.client.workloads.kinds import KINDS
from scheduler_bridge.schedulers.kubernetes.client.workloads.kueue import QueuedWorkload
from scheduler_bridge.schedulers.kubernetes.events.changes import changes as kubernetes_changes
from scheduler_bridge.schedulers.ray.client.client import RayClient
from scheduler_bridge.schedulers.ray.client.connection import RayConnection
from scheduler_bridge.schedulers.ray.client.errors import RayError
from scheduler_bridge.schedulers.ray.events.changes import RayPlacement
from scheduler_bridge.schedulers.ray.events.changes import changes as ray_changes
from scheduler_bridge.schedulers.slurm.actuator.dependents import follow
from scheduler_bridge.schedulers.slurm.actuator.queue import next_tasks
from scheduler_bridge.schedulers.slurm.client import (
    SlurmClient,
    SlurmError,
    gres,
    host_list,
    json_list,
    submission,
)
from scheduler_bridge.schedulers.slurm.client import node as slurm_node
from scheduler_bridge.schedulers.slurm.client import text as slurm_text
from scheduler_bridge.schedulers.slurm.events.changes import changes as slurm_changes

from .targets import target, text

_SLURM = "scheduler_bridge/schedulers/slurm/client"
_SLURM_ACTUATOR = "scheduler_bridge/schedulers/slurm/actuator"


@target(_SLURM, "scheduler_bridge/schedulers/slurm/events/test_watcher.py", raises=SlurmError)
def slurm_commands(data: bytes) -> None:
    """What `scontrol` and `squeue` print, up to the events that follow: every command gets the same answer."""
    client = SlurmClient(lambda *_: text(data))
    jobs = client.jobs()
    events, known = slurm_changes({}, jobs, 1e9, client.gpus)
    slurm_changes(known, {}, 1e9, client.gpus)
    client.nodes()
    client.owners(["7", "7_1", "7+1"])
    client.dependencies()
    client.comments_of("a")
    assert all(event.job for event in events)


@target(_SLURM, f"{_SLURM_ACTUATOR}/test_dependents.py")
def slurm_lines(data: bytes) -> None:
    """One line of each command."""
    for line in text(data).split("\n")[:50]:
        slurm_text.parse(line)
        slurm_node.parse(line)
        submission.read_columns(line)
        follow(line, "7", "8")


@target(_SLURM)
def slurm_json(data: bytes) -> None:
    """The list of `squeue --json`."""
    json_list.parse(text(data))


@target(f"{_SLURM}/test_gres.py", f"{_SLURM}/test_host_list.py", f"{_SLURM_ACTUATOR}/test_array_tasks.py")
def slurm_lists(data: bytes) -> None:
    """Lists of hosts, devices and tasks."""
    listed = text(data)
    assert len(host_list.expand(listed)) <= host_list.LIMIT
    gres.held_devices([(("n1",), listed)])
    gres.shards_per_gpu(listed)
    gres.gpu_types(listed)
    gres.held_parts(listed, 2)
    next_tasks(listed, 0, 10)


@target("processors/advise/predictors/test_sacct.py", raises=NotAccounting)
def sacct(data: bytes) -> None:
    """The accounting of Slurm."""
    read_sacct(text(data).split("\n"))


class _Cluster:
    """A cluster whose lists are empty."""

    def list_all(self, *_: object) -> tuple[list[Any], str]:
        return [], "1"


_META = {
    "metadata": {
        "uid": "u",
        "name": "train",
        "namespace": "a",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "resourceVersion": "5",
    }
}
_CONTAINER = {"name": "a", "resources": {"limits": {"nvidia.com/gpu": "2", "cpu": "500m", "memory": "1Gi"}}}
_OBJECTS = [
    {
        **_META,
        "spec": {"template": {"spec": {"containers": [_CONTAINER]}}, "parallelism": 2},
        "status": {"active": 1, "startTime": "2026-01-01T00:00:00Z"},
    },
    {
        **_META,
        "spec": {"nodeName": "n1", "containers": [_CONTAINER]},
        "status": {"phase": "Running", "containerStatuses": [{"name": "a"}]},
    },
    {
        **_META,
        "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]},
        "status": {"allocatable": {"cpu": "4", "nvidia.com/gpu": "8"}},
    },
]
_CHANGES = [msgspec.json.encode({"type": "ADDED", "object": each}) for each in _OBJECTS]


@target(
    "scheduler_bridge/schedulers/kubernetes/client",
    "scheduler_bridge/schedulers/kubernetes/events/test_watcher.py",
    raises=KubernetesError,
    more=lambda: _CHANGES,
)
def kubernetes_watch(data: bytes) -> None:
    """Documents of a watch, for every kind of object, up to the events that follow."""
    found: dict[type, list[Any]] = {}
    for kind in (Job, Pod, Node, QueuedWorkload, *KINDS):
        store: Any = Informer(cast(KubernetesClient, _Cluster()), cast(Any, kind), lambda: None)
        store._list()  # noqa: SLF001  as its thread does first
        refused = 0
        for line in data.split(b"\n")[:20]:
            try:
                store.apply(line)
            except KubernetesError:
                refused += 1
        found[kind] = store.objects() or []
    jobs: list[Job | WorkloadObject] = [*found[Job], *(each for kind in KINDS for each in found[kind])]
    pods: list[Pod] = found[Pod]
    events, known = kubernetes_changes({}, jobs, pods, 1e9)
    kubernetes_changes(known, [], pods, 1e9)
    for pod in pods:
        excluded_nodes(pod.spec)
        pinned_nodes(pod.spec)
        for node in found[Node]:
            admits(node, pod.spec)
    assert all(event.job for event in events)


class _Dashboard:
    """A dashboard that answers every request with the same bytes."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer

    def request(self, method: str, path: str, body: bytes | None = None) -> bytes:
        return self.answer


@target("scheduler_bridge/schedulers/ray/client", "scheduler_bridge/schedulers/ray/events/test_watcher.py", more=lambda: [
    b'[{"submission_id": "train.1", "status": "RUNNING", "start_time": 1, "metadata": {}, "type": "SUBMISSION", "entrypoint": "a"}]',
    b'{"result": true, "msg": "", "data": {"result": {"result": [{"node_id": "a", "state": "ALIVE", "node_ip": "1"}]}}}',
])  # fmt: skip
def ray_answers(data: bytes) -> None:
    """Answers of Ray's dashboard, up to the events that follow."""
    client = RayClient(cast(RayConnection, _Dashboard(data)))
    for ask in (client.nodes, client.actors, client.tasks, client.placement_groups):
        try:
            ask()
        except RayError:
            continue
    for name in ("7", "train.1"):
        try:
            client.job(name)
            client.supervisor(name)
        except RayError:
            continue
    try:
        jobs = client.jobs()
    except RayError:
        return
    events, known = ray_changes({}, jobs, lambda _: RayPlacement(nodes=["n1"], gpus=1.0, whole=True), 1e9)
    ray_changes(known, [], lambda _: RayPlacement(nodes=[], gpus=None, whole=False), 1e9)
    assert all(event.job for event in events)
