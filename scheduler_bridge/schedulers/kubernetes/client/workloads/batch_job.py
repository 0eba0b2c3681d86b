"""Job (batch/v1), Indexed ones included."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from ..objects import Condition, JobSpec, Object, Pod
from .kind import PodGroup, WorkloadObject, WorkloadPhase, holding, index_of


class JobStatus(Object, frozen=True):
    """Status of a Job."""

    active: int = 0
    failed: int = 0
    terminating: int = 0
    start_time: datetime | None = None
    conditions: list[Condition] = []


class Job(WorkloadObject, frozen=True):
    """A Job. Suspending it deletes its pods; it ends for good once its deadline has passed."""

    API_VERSION: ClassVar[str] = "batch/v1"
    KIND: ClassVar[str] = "Job"
    PLURAL: ClassVar[str] = "jobs"
    WORD: ClassVar[str] = ""
    NAME_LABEL: ClassVar[str] = "batch.kubernetes.io/job-name"
    SUCCEEDED: ClassVar[str] = "Complete"
    SUSPEND: ClassVar[tuple[str, ...]] = ("suspend",)
    RESTARTS: ClassVar[str] = "its own controller starts its pods again, up to backoffLimit"

    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()

    @property
    def conditions(self) -> list[Condition]:
        """Return the conditions of its status."""
        return self.status.conditions

    @property
    def phase(self) -> WorkloadPhase:
        """Return what is to become of it: its pods end before it has completed or failed."""
        ending = holding(self.conditions, "FailureTarget", "SuccessCriteriaMet")
        stopping = ending and not holding(self.conditions, self.SUCCEEDED, "Failed")
        return WorkloadPhase.STOPPING if stopping else super().phase

    @property
    def suspended(self) -> bool:
        """Return the field that suspends it."""
        return self.spec.suspend

    @property
    def groups(self) -> list[PodGroup]:
        """Return its pods."""
        return [PodGroup(self.spec.parallelism, self.spec.template.spec)]

    @property
    def managed_by(self) -> str:
        """Return the controller that runs it in another's place."""
        return "" if self.spec.managed_by == "kubernetes.io/job-controller" else self.spec.managed_by

    def rank(self, pod: Pod) -> int:
        """Return the completion index in an Indexed Job. The pods of other Jobs have no order: all are 0."""
        index = pod.metadata.annotations.get("batch.kubernetes.io/job-completion-index", "")
        return index_of(index) if self.spec.completion_mode == "Indexed" else 0

    @classmethod
    def pod_templates(cls, manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the pod template within a manifest."""
        return [manifest["spec"]["template"]]
