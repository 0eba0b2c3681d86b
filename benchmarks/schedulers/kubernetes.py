"""A real Kubernetes control plane: four nodes of eight GPUs, and Jobs of one pod that takes a node.

Their kubelets are played (`tests/servers/kubelets.py`): they run a pod's command as a process, without image and sandbox.
"""

import itertools
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.processes import waited
from tests.servers.kubelets import ProcessKubelets, pod_logs
from tests.servers.kubernetes import NODES, Kubernetes, running

SPACE = "research"
URGENT = "urgent"
USERS = {"bridge": "bridge", "watch-scheduler": "watcher", "collect": "collector"}
"""By program: as whom it connects."""
OUTLIVES_EVICTION = {
    "podFailurePolicy": {
        "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
    }
}
MERGE = "application/merge-patch+json"


class KubernetesSite:
    """Kubernetes as a `Site`. What a pod prints is read from its log on the node."""

    watcher = ("watch-scheduler", "kubernetes", "--interval", "0.2")
    nodes = NODES
    places = len(NODES)
    urgent = f"qos={URGENT}"
    evictable = f"user={SPACE}"

    def __init__(self, cluster: Kubernetes) -> None:
        self._cluster = cluster
        self._numbers = itertools.count()
        self.directory = cluster.root / "jobs"
        self.directory.mkdir()
        cluster.namespace(SPACE)
        priority = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": URGENT}}
        path = "/apis/scheduling.k8s.io/v1/priorityclasses"
        cluster.api("POST", path, {**priority, "value": 1000, "preemptionPolicy": "Never"})

    def environment(self, program: str) -> Mapping[str, str]:
        found = {"SCHEDMATE_BRIDGE__SCHEDULER": "kubernetes"}
        return {**found, "KUBECONFIG": str(self._cluster.kubeconfig(USERS[program]))} if program in USERS else found

    def collect(self, node: str, kernel_log: Path) -> tuple[str, ...]:
        logs = pod_logs(self._cluster.root, node)
        logs.mkdir(parents=True)
        kept = ("--node-log", str(kernel_log), "--checkpoint", f"{kernel_log}.read")
        return ("collect", "--node", node, "--pod-logs", str(logs), *kept)

    def train(self, brokers: str, program: Path, *arguments: str) -> str:  # noqa: ARG002
        node = {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
        words = [word.format(node="$(NODE)") for word in arguments]
        return self._submit("train", {"command": [sys.executable, str(program)], "args": words, "env": [node]})

    def occupy(self, *, urgent: bool = False) -> str:
        template = {"template": {"priorityClassName": URGENT}} if urgent else OUTLIVES_EVICTION
        return self._submit("hold", {"command": ["sleep", "600"], "args": []}, **template)

    def place(self, job: str) -> str:
        name = job.partition("/")[2]
        label = f"batch.kubernetes.io/job-name in ({name},{name}-r1)"
        found = self._cluster.api("GET", f"/api/v1/namespaces/{SPACE}/pods?labelSelector={label.replace(' ', '%20')}")
        return next((pod["spec"]["nodeName"] for pod in found["items"] if _runs(pod)), "")

    def restarts(self, job: str) -> int:
        return int(self._cluster.job(job)["metadata"].get("annotations", {}).get("schedmate.io/attempt", "0"))

    def end(self, *jobs: str) -> None:  # noqa: ARG002
        self._cluster.delete(f"/apis/batch/v1/namespaces/{SPACE}/jobs")
        waited(lambda: not self._cluster.api("GET", f"/api/v1/namespaces/{SPACE}/pods")["items"], 60)

    def return_nodes(self) -> None:
        free = {"spec": {"unschedulable": None, "taints": None}}
        noted = {"metadata": {"annotations": {"schedmate.io/drained-by": None}}}
        for node in self.nodes:
            self._cluster.api("PATCH", f"/api/v1/nodes/{node}", {**free, **noted}, kind=MERGE)

    def _submit(self, name: str, container: Mapping[str, Any], **spec: Any) -> str:
        return self._cluster.submit(SPACE, f"{name}-{next(self._numbers)}", container=container, **spec)


def _runs(pod: Any) -> bool:
    return pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]


@contextmanager
def kubernetes_site() -> Iterator[KubernetesSite]:
    """Start a control plane, and end it."""
    with running(ProcessKubelets) as cluster:
        yield KubernetesSite(cluster)
