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
from .placement import excluded_nodes, pinned_nodes, with_excluded
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
    "attempt_of",
    "excluded_nodes",
    "job_id",
    "lineage_of",
    "pinned_nodes",
    "with_excluded",
]
