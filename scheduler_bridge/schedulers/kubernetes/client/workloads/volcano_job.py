"""Volcano Job (batch.volcano.sh/v1alpha1). Its controller takes orders: a Command of bus.volcano.sh, which it deletes and then obeys."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from ..objects import Condition, Object, Pod, PodTemplate
from .kind import Order, Patch, PodGroup, WorkloadObject, WorkloadPhase, index_of

_PHASES = {
    "Aborting": WorkloadPhase.STOPPING,
    "Aborted": WorkloadPhase.SUSPENDED,
    "Completed": WorkloadPhase.SUCCEEDED,
    "Failed": WorkloadPhase.FAILED,
    "Terminating": WorkloadPhase.STOPPING,
    "Terminated": WorkloadPhase.TERMINATED,
}
_TASK = "volcano.sh/task-spec"
_NAMES = re.compile(r"[^a-z0-9-]+")


class VolcanoTask(Object, frozen=True):
    """Pods that are alike."""

    name: str = ""
    replicas: int = 1
    template: PodTemplate = PodTemplate()


class VolcanoJobSpec(Object, frozen=True):
    """Specification of a Volcano Job."""

    tasks: list[VolcanoTask] = []
    queue: str = ""
    priority_class_name: str = ""
    max_retry: int = 0


class VolcanoJobState(Object, frozen=True):
    """Its state."""

    phase: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: Any = None


class VolcanoJobStatus(Object, frozen=True):
    """Status of a Volcano Job."""

    state: VolcanoJobState = VolcanoJobState()
    retry_count: int = 0


class VolcanoJob(WorkloadObject, frozen=True):
    """A Volcano Job. To abort it and resume it is one of the `maxRetry` times that it may be started again."""

    API_VERSION: ClassVar[str] = "batch.volcano.sh/v1alpha1"
    KIND: ClassVar[str] = "Job"
    PLURAL: ClassVar[str] = "jobs"
    WORD: ClassVar[str] = "vcjob"
    NAME_LABEL: ClassVar[str] = "volcano.sh/job-name"
    SUSPEND: ClassVar[tuple[str, ...]] = ()
    RESTARTS: ClassVar[str] = "Volcano restarts it by its policies, up to maxRetry"

    spec: VolcanoJobSpec = VolcanoJobSpec()
    status: VolcanoJobStatus = VolcanoJobStatus()

    @property
    def phase(self) -> WorkloadPhase:
        """Return what is to become of it."""
        return _PHASES.get(self.status.state.phase, WorkloadPhase.ACTIVE)

    @property
    def why(self) -> Condition | None:
        """Return the condition that explains why it is over, or suspended."""
        state = self.status.state
        if self.phase is WorkloadPhase.ACTIVE:
            return None
        return Condition(type=state.phase, status="True", reason=state.reason or state.phase, message=state.message)

    @property
    def groups(self) -> list[PodGroup]:
        """Return its pods, by kind."""
        return [PodGroup(task.replicas, task.template.spec) for task in self.spec.tasks]

    @property
    def queue(self) -> str:
        """Return the queue that it names."""
        return self.spec.queue

    @property
    def priority_class(self) -> str:
        """Return its priority class."""
        return self.spec.priority_class_name or super().priority_class

    @property
    def may_resume(self) -> bool:
        """Return True where it is started again after it was stopped."""
        return self.status.retry_count + 1 < self.spec.max_retry

    def rank(self, pod: Pod) -> int:
        """Return the pods of all tasks before its own, and its place in that."""
        notes = pod.metadata.annotations
        names = [task.name for task in self.spec.tasks]
        before = names.index(notes[_TASK]) if notes.get(_TASK) in names else 0
        return sum(task.replicas for task in self.spec.tasks[:before]) + index_of(
            notes.get("volcano.sh/task-index", "")
        )

    def stop(self, key: str) -> Patch:
        """Return what stops it."""
        return self._command("AbortJob", key)

    def resume(self, key: str) -> Patch:
        """Return what lets it go again."""
        return self._command("ResumeJob", key)

    def end(self, key: str) -> Patch:
        """Return what ends it for good."""
        return self._command("TerminateJob", key)

    def _command(self, action: str, key: str) -> Patch:
        """Return the order. Its name follows from the act, so that one act gives each order once at a time."""
        target = {
            "apiVersion": self.API_VERSION,
            "kind": self.KIND,
            "name": self.metadata.name,
            "uid": self.metadata.uid,
            "controller": True,
        }
        name = f"schedmate-{_NAMES.sub('-', key.lower())}-{action.lower()}"
        command = {
            "apiVersion": "bus.volcano.sh/v1alpha1",
            "kind": "Command",
            "metadata": {
                "name": name,
                "namespace": self.metadata.namespace,
                "ownerReferences": [target],  # it goes with its Job, should no controller take it
            },
            "action": action,
            "target": target,
            "reason": "SchedMate",
            "message": key,
        }
        return Patch(order=Order("commands", command))

    @classmethod
    def pod_templates(cls, manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the pod templates within a manifest."""
        return [task["template"] for task in manifest["spec"]["tasks"]]
