"""The kinds that are known."""

from typing import Final

from ..objects import OwnerReference
from .batch_job import Job
from .jobset import JobSet
from .kind import WorkloadObject
from .pytorch_job import PyTorchJob
from .volcano_job import VolcanoJob

KINDS: Final[tuple[type[WorkloadObject], ...]] = (Job, JobSet, VolcanoJob, PyTorchJob)


def kind_of(owner: OwnerReference) -> type[WorkloadObject] | None:
    """Return the kind of an owner; None for one that is not known."""
    of = (owner.api_version.partition("/")[0], owner.kind)
    return next((kind for kind in KINDS if of == (kind.API_VERSION.partition("/")[0], kind.KIND)), None)


def kind_named(word: str) -> type[WorkloadObject] | None:
    """Return the kind that a job id names; None where there is none of that name."""
    return next((kind for kind in KINDS if word == kind.WORD), None)
