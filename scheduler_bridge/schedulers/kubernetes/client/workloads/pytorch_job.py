"""PyTorchJob (kubeflow.org/v1), as Kubeflow's training operator runs it."""

from collections.abc import Mapping
from typing import Any, ClassVar

from ..objects import Condition, Object, Pod, PodTemplate
from .kind import PodGroup, WorkloadObject, index_of


class SchedulingPolicy(Object, frozen=True):
    """Policy for a gang scheduler."""

    queue: str = ""
    priority_class: str = ""


class RunPolicy(Object, frozen=True):
    """Run policy of the operator."""

    suspend: bool = False
    managed_by: str = ""
    scheduling_policy: SchedulingPolicy | None = None


class ReplicaSpec(Object, frozen=True):
    """Pods that are alike: the master, or the workers."""

    replicas: int | None = None
    template: PodTemplate = PodTemplate()


class PyTorchJobSpec(Object, frozen=True):
    """Specification of a PyTorchJob."""

    run_policy: RunPolicy = RunPolicy()
    pytorch_replica_specs: dict[str, ReplicaSpec] = {}


class PyTorchJobStatus(Object, frozen=True):
    """Status of a PyTorchJob."""

    conditions: list[Condition] | None = None


class PyTorchJob(WorkloadObject, frozen=True):
    """A PyTorchJob. Suspending it deletes its pods, and counts towards no limit; it has no order that ends it."""

    API_VERSION: ClassVar[str] = "kubeflow.org/v1"
    KIND: ClassVar[str] = "PyTorchJob"
    PLURAL: ClassVar[str] = "pytorchjobs"
    WORD: ClassVar[str] = "pytorchjob"
    NAME_LABEL: ClassVar[str] = "training.kubeflow.org/job-name"
    SUCCEEDED: ClassVar[str] = "Succeeded"
    SUSPEND: ClassVar[tuple[str, ...]] = ("runPolicy", "suspend")
    RESTARTS: ClassVar[str] = "the training operator restarts its replicas by their restartPolicy, up to backoffLimit"

    spec: PyTorchJobSpec = PyTorchJobSpec()
    status: PyTorchJobStatus = PyTorchJobStatus()

    @property
    def conditions(self) -> list[Condition]:
        """Return the conditions of its status."""
        return self.status.conditions or []

    @property
    def suspended(self) -> bool:
        """Return the field that suspends it."""
        return self.spec.run_policy.suspend

    @property
    def groups(self) -> list[PodGroup]:
        """Return its pods, by kind."""
        replicas = self.spec.pytorch_replica_specs.values()
        return [PodGroup(1 if one.replicas is None else one.replicas, one.template.spec) for one in replicas]

    @property
    def managed_by(self) -> str:
        """Return the controller that runs it in another's place."""
        managed = self.spec.run_policy.managed_by
        return "" if managed == "kubeflow.org/training-operator" else managed

    @property
    def queue(self) -> str:
        """Return the queue that it names."""
        policy = self.spec.run_policy.scheduling_policy
        return policy.queue if policy else ""

    def rank(self, pod: Pod) -> int:
        """Return 0 for the master, and then the workers in their order, as the operator sets RANK."""
        labels = pod.metadata.labels
        after = (
            labels.get("training.kubeflow.org/replica-type") == "worker" and "Master" in self.spec.pytorch_replica_specs
        )
        return index_of(labels.get("training.kubeflow.org/replica-index", "")) + after

    @classmethod
    def pod_templates(cls, manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the pod templates within a manifest."""
        return [one["template"] for one in manifest["spec"]["pytorchReplicaSpecs"].values()]
