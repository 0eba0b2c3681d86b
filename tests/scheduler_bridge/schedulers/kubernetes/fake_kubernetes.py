"""An API server of Kubernetes in memory, and what controllers do with its objects, for acts on kinds whose controllers are not run."""

import copy
from collections.abc import Mapping
from typing import Any

import msgspec

from scheduler_bridge.schedulers.kubernetes.client.errors import (
    KubernetesConflict,
    KubernetesNotFound,
    KubernetesRefused,
)
from scheduler_bridge.schedulers.kubernetes.client.objects import Node, Pod
from scheduler_bridge.schedulers.kubernetes.client.workloads.kueue import QueuedWorkload

TEMPLATE = {
    "metadata": {},
    "spec": {"containers": [{"name": "train", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]},
}
GANG = {"replicas": 2, "template": TEMPLATE}
SPECS: Mapping[str, Any] = {
    "": {"parallelism": 2, "backoffLimit": 0, "template": TEMPLATE},
    "jobset": {"replicatedJobs": [{"name": "w", "template": {"spec": {"parallelism": 2, "template": TEMPLATE}}}]},
    "pytorchjob": {"runPolicy": {}, "pytorchReplicaSpecs": {"Worker": GANG}},
    "vcjob": {"maxRetry": 3, "tasks": [{"name": "w", **GANG}]},
}


class FakeCluster:
    """The objects of one namespace. What the controllers would do is done when pods are asked for: each stops, or starts, two of them."""

    def __init__(self, word: str, *, queued: bool = False, waits: bool = False) -> None:
        self.word, self.waits = word, waits
        self.objects: dict[tuple[str, str], dict[str, Any]] = {}
        self.pods_now = 0
        self.budget = False
        self.told: list[str] = []
        self.dead = False
        labels = {"kueue.x-k8s.io/queue-name": "q"} if queued else {}
        self.put(word, "train", copy.deepcopy(SPECS[word]), labels=labels)
        if queued:
            by = {"kind": "any", "name": "train", "uid": "u-train", "controller": True}
            self.put("workload", "w", {"active": True, "priority": 7}, ownerReferences=[by])
        self.reconcile()

    def put(self, word: str, name: str, spec: Any, **meta: Any) -> None:
        body = {"metadata": {"name": name, "namespace": "a", "uid": f"u-{name}", "annotations": {}, **meta}}
        self.objects[word, name] = {**body, "spec": spec, "status": {}}

    @property
    def train(self) -> dict[str, Any]:
        return self.objects[self.word, "train"]

    def reconcile(self) -> None:
        """Do what the controllers do."""
        if self.dead:
            return
        queued, spec = self.objects.get(("workload", "w")), self.train["spec"]
        holder = spec.setdefault("runPolicy", {}) if self.word == "pytorchjob" else spec
        if queued:  # Kueue
            holder["suspend"] = not queued["spec"]["active"]
        stopped = holder.get("suspend", False)
        if self.word == "vcjob":
            state = self.train["status"].setdefault("state", {"phase": "Running"})
            for name in [name for kind, name in self.objects if kind == "commands"]:
                action = self.objects.pop(("commands", name))["action"]
                state["phase"] = {"AbortJob": "Aborted", "ResumeJob": "Running", "TerminateJob": "Terminated"}[action]
                self.train["status"]["retryCount"] = self.train["status"].get("retryCount", 0) + (action == "ResumeJob")
            stopped = state["phase"] != "Running"
        self.pods_now = 0 if stopped else 2

    # What the actuator asks for.

    def _kind(self, kind: type[Any]) -> str:
        return "workload" if kind is QueuedWorkload else str(getattr(kind, "WORD", ""))

    def workload(self, kind: type[Any], namespace: str, name: str) -> Any:
        return msgspec.convert(self.raw_workload(kind, namespace, name), kind)

    def raw_workload(self, kind: type[Any], namespace: str, name: str) -> dict[str, Any]:
        try:
            return copy.deepcopy(self.objects[self._kind(kind), name])
        except KeyError:
            raise KubernetesNotFound("an object", name, "nothing was done") from None

    def workloads(self, kind: type[Any], namespace: str, selector: str) -> list[Any]:
        label, _, value = selector.partition("=")
        found = [body for (word, _), body in self.objects.items() if word == self._kind(kind)]
        mine = (
            found
            if kind is QueuedWorkload
            else [body for body in found if body["metadata"].get("labels", {}).get(label) == value]
        )
        return [msgspec.convert(body, kind) for body in mine]

    def pods(self, namespace: str, selector: str) -> list[Pod]:
        self.reconcile()
        where = {} if self.waits else {"nodeName": "n1"}
        phase = "Pending" if self.waits else "Running"
        name = selector.partition("=")[2]
        return [
            msgspec.convert(
                {"metadata": {"name": f"{name}-{index}", "uid": str(index)}, "spec": where, "status": {"phase": phase}},
                Pod,
            )
            for index in range(self.pods_now)
        ]

    def raw_node(self, name: str) -> dict[str, Any]:
        ready = {"nodeInfo": {"bootID": "b"}, "conditions": [{"type": "Ready", "status": "True"}]}
        return self.objects.setdefault(("node", name), {"metadata": {"name": name}, "status": ready})

    def patch_node(self, node: Node, patch: Mapping[str, Any]) -> None:
        merge(self.raw_node(node.metadata.name), patch)

    def node(self, name: str) -> Node:
        return msgspec.convert(self.raw_node(name), Node)

    def nodes(self) -> list[Node]:
        return [self.node(name) for name in ("n1", "n2", "n3")]

    def pods_on(self, node: str) -> list[Pod]:
        return self.pods("a", "job=train")

    def evict(self, pod: Pod, *, dry_run: bool = False) -> None:
        assert dry_run, "pods of a job that is stopped by its controller are not evicted one by one"
        if self.budget:
            raise KubernetesRefused("an eviction", "429 disruption budget", "nothing was done")

    def patch_workload(self, one: Any, patch: Mapping[str, Any]) -> Any:
        kept = self.objects[self._kind(type(one)), one.metadata.name]
        merge(kept, patch)
        return msgspec.convert(kept, type(one))

    def create_custom(self, plural: str, body: Mapping[str, Any]) -> None:
        word = "commands" if plural == "commands" else self.word
        key = word, body["metadata"]["name"]
        if key in self.objects:
            raise KubernetesConflict("an object", "409", "nothing was done")
        made = copy.deepcopy(dict(body))
        made["metadata"]["uid"] = f"u-{key[1]}"
        self.objects[key] = {**made, "status": {}}

    def delete_custom(self, plural: str, body: Mapping[str, Any]) -> None:
        if self.objects.pop((plural, body["metadata"]["name"]), None) is None:
            raise KubernetesNotFound("an object", "404", "nothing was done")

    def tell(self, about: Any, reason: str, note: str) -> None:
        self.told.append(reason)


def merge(into: dict[str, Any], patch: Mapping[str, Any]) -> None:
    """Apply a merge patch (RFC 7396)."""
    for name, value in patch.items():
        if value is None:
            into.pop(name, None)
        elif isinstance(value, Mapping):
            merge(into.setdefault(name, {}), value)
        else:
            into[name] = value
