"""Ids of jobs over several Job objects.

A Job that has ended cannot start again: a restart makes a new one. All Jobs of one lineage are one job with one id,
`NAMESPACE/LINEAGE`; an annotation on each holds the attempt's number. Of another kind the id names it, too: `NAMESPACE/jobset/LINEAGE`.
"""

import re
from typing import NamedTuple

from .objects import Meta

LINEAGE = "schedmate.io/lineage"
"""Label: the name of the first Job of a lineage. A Job without it is the first."""
ATTEMPT = "schedmate.io/attempt"
"""Annotation (and label of the pods of a restarted Job): how often the job was started before. 0 where it is absent."""
INCARNATION = "schedmate.io/incarnation"
"""Annotation of a restarted Job: the uid of the first Job of its lineage, which distinguishes lineages of one name."""
ACTS = "schedmate.io/acts"
"""Annotation: the keys of what was done to the job or node."""
STOPPED_FOR = "schedmate.io/stopped-for"
"""Annotation: the key of the act that stopped the job and is to let it go again. It is gone once that was done."""


class JobName(NamedTuple):
    """Name of a lineage of objects. `word` names their kind; it is empty for batch/v1 Jobs."""

    namespace: str
    lineage: str
    word: str = ""

    @classmethod
    def parse(cls, job: str) -> "JobName | None":
        """Read an id such as `team-a/train` or `team-a/jobset/train`. None where it is no id of Kubernetes."""
        namespace, *kind, name = job.split("/", 3) if "/" in job else ("", "")
        if not namespace or not name or len(kind) > 1 or kind == [""]:
            return None
        return cls(namespace, name, "".join(kind))


def lineage_of(meta: Meta) -> str:
    """Return the lineage that a Job belongs to."""
    return meta.labels.get(LINEAGE) or meta.name


def job_id(meta: Meta, word: str = "") -> str:
    """Return the id of the job that an object is an attempt of. `word` names its kind; it is empty for a batch/v1 Job."""
    return "/".join(filter(None, (meta.namespace, word, lineage_of(meta))))


def attempt_of(meta: Meta) -> int:
    """Return how often the job was started before. An annotation that is no number counts as none: users may write it."""
    noted = meta.annotations.get(ATTEMPT, "")
    # Users write the annotation: a bound keeps the number small.
    return min(int(noted), 1_000_000) if noted.isascii() and noted.isdecimal() and len(noted) <= 9 else 0


def incarnation_of(meta: Meta) -> str:
    """Return the uid of the first object of a lineage. An annotation that cannot be a uid counts as none: users may write it."""
    noted = meta.annotations.get(INCARNATION, "")
    return noted if LINEAGE in meta.labels and re.fullmatch(r"[A-Za-z0-9-]{1,64}", noted, flags=re.ASCII) else meta.uid


def is_cancelled(meta: Meta) -> bool:
    """True where the last act on a job was to end it for good."""
    return bool(re.search(r"[:,]cancel/[0-9a-f]{16}$", meta.annotations.get(ACTS, "")[-64:], flags=re.ASCII))
