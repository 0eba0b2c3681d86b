"""Controllers that rule Jobs, and what the bridge may do about their Jobs: nothing that their owner would undo, or do a second time."""

from dataclasses import dataclass

from scheduler_clients.kubernetes import Job, Meta

QUEUE = "kueue.x-k8s.io/queue-name"
"""Label of a Job that Kueue admits: while it is suspended it waits in Kueue's queue, and nobody holds it."""
_CONTROLLER = "kubernetes.io/job-controller"
_KNOWN = {
    (
        "jobset.x-k8s.io",
        "JobSet",
    ): "JobSet starts its Jobs again as its failurePolicy says, and suspends them with spec.suspend",
    ("batch.volcano.sh", "Job"): "Volcano restarts its tasks as the Job's policies say",
    ("kubeflow.org", "PyTorchJob"): "the training operator restarts its replicas as their restartPolicy says",
    ("trainer.kubeflow.org", "TrainJob"): "the trainer restarts it through its JobSet",
}
"""By API group and kind: who starts the pods again, and how."""


@dataclass(frozen=True, slots=True)
class Ruler:
    """Who starts a Job's pods again instead of the bridge.

    Attributes:
        name: Kind and name, such as `JobSet/train`.
        why: What it does.
    """

    name: str
    why: str


def ruler_of(job: Job) -> Ruler | None:
    """Return who rules a Job besides its user; None where nobody does. A CronJob makes Jobs and starts none again."""
    owner = job.metadata.controller
    if owner and not (owner.kind == "CronJob" and owner.api_version.startswith("batch/")):
        group = owner.api_version.partition("/")[0]
        return Ruler(f"{owner.kind}/{owner.name}", _KNOWN.get((group, owner.kind), "it starts its Jobs again itself"))
    if job.spec.managed_by not in ("", _CONTROLLER):
        return Ruler(job.spec.managed_by, "the Job is managed by it (spec.managedBy)")
    return None


def is_queued(meta: Meta) -> bool:
    """True for what Kueue admits and suspends."""
    return QUEUE in meta.labels
