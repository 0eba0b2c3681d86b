"""How a job keeps its id while Jobs come and go.

A Job that has ended cannot start again: a restart makes a new one. All Jobs of one lineage are one job with one id,
`NAMESPACE/LINEAGE`; the annotation on each says which attempt it is.
"""

from typing import NamedTuple

from .objects import Meta

LINEAGE = "schedmate.io/lineage"
"""Label: the name of the first Job of a lineage. A Job without it is the first."""
ATTEMPT = "schedmate.io/attempt"
"""Annotation (and label of the pods of a restarted Job): how often the job was started before. 0 where it is absent."""
ACTS = "schedmate.io/acts"
"""Annotation: the keys of what was done to the job or node."""
_MOST = 1_000_000


class JobName(NamedTuple):
    """Where the Jobs of a lineage are found."""

    namespace: str
    lineage: str

    @classmethod
    def parse(cls, job: str) -> "JobName | None":
        """Read an id such as `team-a/train`. None where it is no id of Kubernetes."""
        namespace, slash, name = job.partition("/")
        return cls(namespace, name) if slash and namespace and name and "/" not in name else None


def lineage_of(meta: Meta) -> str:
    """Return the lineage that a Job belongs to."""
    return meta.labels.get(LINEAGE) or meta.name


def job_id(meta: Meta) -> str:
    """Return the id of the job that a Job is an attempt of: `NAMESPACE/LINEAGE`."""
    return f"{meta.namespace}/{lineage_of(meta)}"


def attempt_of(meta: Meta) -> int:
    """Return how often the job was started before. An annotation that is no number counts as none: users may write it."""
    noted = meta.annotations.get(ATTEMPT, "")
    return min(int(noted), _MOST) if noted.isascii() and noted.isdecimal() and len(noted) <= 9 else 0
