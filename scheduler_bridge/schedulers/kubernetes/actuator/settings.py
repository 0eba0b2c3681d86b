"""Time limits of the Kubernetes actuator."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KubernetesLimits:
    """Time limits of the actuator.

    Attributes:
        stop_timeout: Seconds that the pods of a job may take to end (their terminationGracePeriodSeconds) before we give up.
        settle: Seconds to wait for a job's new pods to get nodes before "it is in the queue" is taken as the answer.
        poll: Seconds between two looks.
        pool_labels: Labels of nodes that name their pool.
    """

    stop_timeout: float = 120.0
    settle: float = 3.0
    poll: float = 0.1
    pool_labels: tuple[str, ...] = (
        "cloud.google.com/gke-nodepool",
        "eks.amazonaws.com/nodegroup",
        "kubernetes.azure.com/agentpool",
        "karpenter.sh/nodepool",
    )
