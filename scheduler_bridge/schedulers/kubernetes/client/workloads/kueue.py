"""Kueue's Workload (kueue.x-k8s.io/v1beta1): the place of a job in a queue. Kueue alone suspends and resumes the job itself."""

from typing import ClassVar

from ..objects import Meta, Object
from .kind import Patch

QUEUE = "kueue.x-k8s.io/queue-name"
"""Label of a job that Kueue admits: the queue in which it waits."""


class QueuedWorkloadSpec(Object, frozen=True):
    """Specification of a Workload of Kueue."""

    active: bool = True
    priority: int | None = None
    priority_class_name: str = ""


class QueuedWorkload(Object, frozen=True):
    """A job in a queue of Kueue. While `active` is false it is not admitted; one that runs is stopped first."""

    API_VERSION: ClassVar[str] = "kueue.x-k8s.io/v1beta1"
    NEWER: ClassVar[str] = "kueue.x-k8s.io/v1beta2"
    """The version in which it is changed, where the server knows it: Kueue 0.17 takes no change of an admitted Workload in v1beta1, because
    a rule of its schema misses `priorityClassSource`."""
    KIND: ClassVar[str] = "Workload"
    PLURAL: ClassVar[str] = "workloads"
    UID_LABEL: ClassVar[str] = "kueue.x-k8s.io/job-uid"
    """Label of a Workload: the uid of its job."""

    metadata: Meta
    spec: QueuedWorkloadSpec = QueuedWorkloadSpec()

    @property
    def may_resume(self) -> bool:
        """True: Kueue puts a job back in its queue as often as it is ordered to."""
        return True

    def stop(self, key: str) -> Patch:  # noqa: ARG002
        """Return what makes Kueue stop the job, and admit it no more."""
        return Patch({"spec": {"active": False}})

    def resume(self, key: str) -> Patch:  # noqa: ARG002
        """Return what puts the job back in its queue."""
        return Patch({"spec": {"active": True}})

    def end(self, key: str) -> Patch:
        """Return what ends it: Kueue knows no more than to stop it."""
        return self.stop(key)
