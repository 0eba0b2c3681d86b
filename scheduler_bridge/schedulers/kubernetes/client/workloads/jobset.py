"""JobSet (jobset.x-k8s.io/v1alpha2): several Jobs that run, fail and are started again as one."""

from collections.abc import Mapping
from typing import Any, ClassVar

from ..objects import Condition, JobSpec, Object, Pod
from .kind import PodGroup, WorkloadObject, index_of


class JobTemplate(Object, frozen=True):
    """Template of its Jobs."""

    spec: JobSpec = JobSpec()


class ReplicatedJob(Object, frozen=True):
    """Jobs that are alike."""

    replicas: int = 1
    template: JobTemplate = JobTemplate()


class JobSetSpec(Object, frozen=True):
    """Specification of a JobSet."""

    replicated_jobs: list[ReplicatedJob] = []
    suspend: bool = False
    managed_by: str = ""


class JobSetStatus(Object, frozen=True):
    """Status of a JobSet."""

    conditions: list[Condition] = []


class JobSet(WorkloadObject, frozen=True):
    """A JobSet. Suspending it deletes its pods, and counts towards no limit; it has no order that ends it."""

    API_VERSION: ClassVar[str] = "jobset.x-k8s.io/v1alpha2"
    KIND: ClassVar[str] = "JobSet"
    PLURAL: ClassVar[str] = "jobsets"
    WORD: ClassVar[str] = "jobset"
    NAME_LABEL: ClassVar[str] = "jobset.sigs.k8s.io/jobset-name"
    SUCCEEDED: ClassVar[str] = "Completed"
    SUSPEND: ClassVar[tuple[str, ...]] = ("suspend",)
    RESTARTS: ClassVar[str] = "JobSet starts its Jobs again by its failurePolicy, up to maxRestarts"

    spec: JobSetSpec = JobSetSpec()
    status: JobSetStatus = JobSetStatus()

    @property
    def conditions(self) -> list[Condition]:
        """Return the conditions of its status."""
        return self.status.conditions

    @property
    def suspended(self) -> bool:
        """Return the field that suspends it."""
        return self.spec.suspend

    @property
    def groups(self) -> list[PodGroup]:
        """Return its pods, by kind."""
        specs = [(one.replicas, one.template.spec) for one in self.spec.replicated_jobs]
        return [PodGroup(replicas * job.parallelism, job.template.spec) for replicas, job in specs]

    @property
    def managed_by(self) -> str:
        """Return the controller that runs it in another's place."""
        return "" if self.spec.managed_by == "jobset.sigs.k8s.io/jobset-controller" else self.spec.managed_by

    def rank(self, pod: Pod) -> int:
        """Return the pods of all Jobs before its own, and its place in that."""
        # Users write the number of replicas: a bound keeps the sum cheap.
        each = [
            one.template.spec.parallelism
            for one in self.spec.replicated_jobs
            for _ in range(min(one.replicas, 100_000))
        ]
        notes = pod.metadata.annotations
        return sum(each[: index_of(notes.get("jobset.sigs.k8s.io/job-global-index", ""))]) + index_of(
            notes.get("batch.kubernetes.io/job-completion-index", "")
        )

    @classmethod
    def pod_templates(cls, manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the pod templates within a manifest."""
        return [one["template"]["spec"]["template"] for one in manifest["spec"]["replicatedJobs"]]
