"""Nodes, Jobs and pods as a cluster's API server shows them."""

from typing import Any

import msgspec

from scheduler_bridge.schedulers.kubernetes.client.objects import Node, Pod
from scheduler_bridge.schedulers.kubernetes.client.workloads.batch_job import Job

NO_GPU = "0/2 nodes are available: 2 Insufficient nvidia.com/gpu."


def node(name: str, gpus: int = 8, taints: list[dict[str, str]] | None = None, **labels: str) -> Node:
    allocatable = {"cpu": "64", "memory": "64Gi", "nvidia.com/gpu": str(gpus)}
    status = {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": "True"}]}
    return msgspec.convert(
        {"metadata": {"name": name, "labels": labels}, "spec": {"taints": taints or []}, "status": status}, Node
    )


def job(name: str, **spec: Any) -> Job:
    owners, namespace = spec.pop("owners", []), spec.pop("namespace", "a")
    about = {"name": name, "namespace": namespace, "uid": name, "ownerReferences": owners}
    return msgspec.convert({"metadata": about, "spec": spec}, Job)


def pod(of: str, on: str = "", gpus: int = 8, *, why: str = NO_GPU, leaving: bool = False, **spec: Any) -> Pod:
    owner = [{"apiVersion": "batch/v1", "kind": "Job", "name": of, "uid": of, "controller": True}]
    wants = {"limits": {"nvidia.com/gpu": str(gpus), "memory": "1Gi"}, "requests": {"cpu": "500m"}}
    waits = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": why}
    made = {
        "creationTimestamp": "2031-05-06T07:08:09Z",
        **({"deletionTimestamp": "2031-05-06T07:08:10Z"} if leaving else {}),
    }
    return msgspec.convert(
        {
            "metadata": {
                "name": f"{of}-x",
                "namespace": "a",
                "uid": f"{of}-{on}",
                "ownerReferences": owner if of else [],
                **made,
            },
            "spec": {"containers": [{"resources": wants}], "nodeName": on, **spec},
            "status": {
                "phase": "Running" if on else "Pending",
                "startTime": "2031-05-06T07:08:09Z",
                "conditions": [] if on else [waits],
            },
        },
        Pod,
        strict=False,
    )
