"""Kubernetes as a `Scheduler`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from ..base import Actuator
from ..scheduler import Scheduler, SchedulerSettings

if TYPE_CHECKING:
    from streams.transport import Producer

    from .events.watcher import KubernetesWatcher


class KubernetesWatchOptions(BaseModel, frozen=True):
    """Options of `schedmate watch-scheduler kubernetes`."""

    kubeconfig: Path | None = Field(
        None, description="File with the connection; by default the pod's service account, else KUBECONFIG."
    )
    namespace: str = Field("", description="Watch this namespace alone; all by default.")


class KubernetesScheduler(Scheduler):
    """Kubernetes, through the official client of the extra `kubernetes`."""

    name = "kubernetes"
    title = "Kubernetes"
    options = KubernetesWatchOptions

    def actuator(self, settings: SchedulerSettings) -> Actuator:
        """Return the actuator of the cluster of the pod, or of the kubeconfig."""
        from .actuator import KubernetesActuator
        from .client.client import KubernetesClient

        return KubernetesActuator(KubernetesClient.connect())

    def watcher(
        self,
        settings: SchedulerSettings,
        connect: "Callable[[], Producer]",
        checkpoint: Path | None,
        options: KubernetesWatchOptions,
    ) -> "KubernetesWatcher":
        """Watch Kubernetes' Jobs, and ship what changes: submitted, started, requeued, ended.

        It needs the extra `kubernetes`, and the right to list and watch Jobs, Pods and Nodes (docs/kubernetes.md). Run one for each
        cluster.

        Example: `schedmate watch-scheduler kubernetes --namespace research`
        """
        from .client.client import KubernetesClient
        from .events.watcher import KubernetesWatcher

        return KubernetesWatcher(
            connect,
            checkpoint or settings.producer.directory / "kubernetes-events.json",
            client=KubernetesClient.connect(options.kubeconfig),
            namespace=options.namespace,
        )
