"""Kubernetes through the official client: jobs of all known kinds, Pods and Nodes, time limits, errors, list and watch."""

from .attempts import is_resumed, present_attempt
from .client import KubernetesClient
from .errors import (
    KubernetesConflict,
    KubernetesError,
    KubernetesForbidden,
    KubernetesNotFound,
    KubernetesRefused,
    KubernetesUnavailable,
    ResourceVersionExpired,
)
from .lineage import ACTS, ATTEMPT, LINEAGE, STOPPED_FOR, JobName, attempt_of, is_cancelled, job_id, lineage_of
from .objects import Job, Meta, Node, Pod, Taint
from .placement import admits, excluded_nodes, is_tied_to_pods, pinned_nodes, with_excluded
from .resources import cpus, gpus, main_container, memory, requested
from .store import Informer
from .workloads import (
    KINDS,
    QUEUE,
    Order,
    Patch,
    PodGroup,
    QueuedWorkload,
    WorkloadObject,
    WorkloadPhase,
    kind_named,
    kind_of,
)

__all__ = [
    "ACTS",
    "ATTEMPT",
    "KINDS",
    "LINEAGE",
    "QUEUE",
    "STOPPED_FOR",
    "Informer",
    "Job",
    "JobName",
    "KubernetesClient",
    "KubernetesConflict",
    "KubernetesError",
    "KubernetesForbidden",
    "KubernetesNotFound",
    "KubernetesRefused",
    "KubernetesUnavailable",
    "Meta",
    "Node",
    "Order",
    "Patch",
    "Pod",
    "PodGroup",
    "QueuedWorkload",
    "ResourceVersionExpired",
    "Taint",
    "WorkloadObject",
    "WorkloadPhase",
    "admits",
    "attempt_of",
    "cpus",
    "excluded_nodes",
    "gpus",
    "is_cancelled",
    "is_resumed",
    "is_tied_to_pods",
    "job_id",
    "kind_named",
    "kind_of",
    "lineage_of",
    "main_container",
    "memory",
    "pinned_nodes",
    "present_attempt",
    "requested",
    "with_excluded",
]
