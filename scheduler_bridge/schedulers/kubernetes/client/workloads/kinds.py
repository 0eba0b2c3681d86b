"""The kinds that are known."""

from typing import Final

from ..objects import OwnerReference
from .jobset import JobSet
from .kind import WorkloadObject
from .pytorch_job import PyTorchJob
from .volcano_job import VolcanoJob

KINDS: Final[tuple[type[WorkloadObject], ...]] = (JobSet, VolcanoJob, PyTorchJob)


def kind_of(owner: OwnerReference) -> type[WorkloadObject] | None:
    """Return the kind of an owner; None for one that is not known."""
    group = owner.api_version.partition("/")[0]
    return next((kind for kind in KINDS if (group, owner.kind) == (kind.GROUP, kind.KIND)), None)


def kind_named(word: str) -> type[WorkloadObject] | None:
    """Return the kind that a job id names; None where there is none of that name."""
    return next((kind for kind in KINDS if word == kind.WORD), None)
