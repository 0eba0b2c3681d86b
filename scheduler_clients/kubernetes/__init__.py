"""Kubernetes through the official client: Jobs, Pods and Nodes as they are needed here, time limits, errors, list and watch."""

from .client import KubernetesClient
from .errors import (
    KubernetesConflict,
    KubernetesError,
    KubernetesNotFound,
    KubernetesRefused,
    KubernetesUnavailable,
    ResourceVersionExpired,
)
from .lineage import ACTS, ATTEMPT, LINEAGE, JobName, attempt_of, job_id, lineage_of
from .objects import Job, Meta, Node, Pod, Taint
from .placement import admits, excluded_nodes, is_tied_to_pods, pinned_nodes, with_excluded
from .resources import cpus, gpus, main_container, memory, requested
from .store import Store

__all__ = [
    "ACTS",
    "ATTEMPT",
    "LINEAGE",
    "Job",
    "JobName",
    "KubernetesClient",
    "KubernetesConflict",
    "KubernetesError",
    "KubernetesNotFound",
    "KubernetesRefused",
    "KubernetesUnavailable",
    "Meta",
    "Node",
    "Pod",
    "ResourceVersionExpired",
    "Store",
    "Taint",
    "admits",
    "attempt_of",
    "cpus",
    "excluded_nodes",
    "gpus",
    "is_tied_to_pods",
    "job_id",
    "lineage_of",
    "main_container",
    "memory",
    "pinned_nodes",
    "requested",
    "with_excluded",
]
