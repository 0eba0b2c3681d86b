"""Controllers that rule jobs, and what the bridge may do about those: nothing that their owner would undo, or do a second time."""

from dataclasses import dataclass

from ..client.workloads.kind import WorkloadObject
from ..client.workloads.kinds import kind_of
from ..client.workloads.kueue import QUEUE

_KNOWN = {("trainer.kubeflow.org", "TrainJob"): "the trainer restarts it through its JobSet"}
"""By API group and kind: who starts the pods again, and how."""


@dataclass(frozen=True, slots=True)
class Ruler:
    """Controller that restarts a job's pods instead of the bridge.

    Attributes:
        name: Kind and name, such as `TrainJob/train`.
        why: What it does.
    """

    name: str
    why: str


def ruler_of(job: WorkloadObject) -> Ruler | None:
    """Return what controls a job besides its user; None for nothing. A CronJob makes Jobs and starts none again."""
    owner = job.metadata.controller
    if owner and not (owner.kind == "CronJob" and owner.api_version.startswith("batch/")):
        if kind := kind_of(owner):
            why = f"{kind.RESTARTS}; name the job {job.metadata.namespace}/{kind.WORD}/{owner.name}"
        else:
            group = owner.api_version.partition("/")[0]
            why = _KNOWN.get((group, owner.kind), "it starts its Jobs again itself")
        return Ruler(f"{owner.kind}/{owner.name}", why)
    return Ruler(job.managed_by, "the job is managed by it (managedBy)") if job.managed_by else None


def is_queued(job: WorkloadObject) -> bool:
    """True for what Kueue admits and suspends: while it is suspended it waits in Kueue's queue, and is not held."""
    return QUEUE in job.metadata.labels and bool(job.SUSPEND)
