"""Incarnations: which of several jobs with one id a record is about.

Schedulers use ids again: Slurm's wrap or start over when a controller loses its state, and a Kubernetes Job can be deleted and created
under its old name. An incarnation is a text that distinguishes such jobs. Its sources are:

- Slurm's watcher: the submit time.
- Kubernetes: the uid of the first object of a lineage.
- Ray: the time at which the submission was made.
- A pipe that runs a whole job without a scheduler: its start, with `OWN_START` in front.

The empty text means that it is not known.
"""

from datetime import UTC, datetime
from typing import NamedTuple, Protocol

OWN_START = "pipe:"
"""Prefix of an incarnation that a pipe derives from its own start. It counts only for jobs that no scheduler reports."""
SEPARATOR = "@"
"""Between id and incarnation where a person reads or types both."""


class JobReference(NamedTuple):
    """A job id as entered by a person.

    Attributes:
        job: The scheduler's job id.
        incarnation: Which job of this id; empty for the newest.
    """

    job: str
    incarnation: str = ""

    @classmethod
    def parse(cls, text: str) -> "JobReference":
        """Return the reference that `text` holds: `4711`, or `4711@2026-11-27T18:53:51Z`."""
        job, separator, incarnation = text.rpartition(SEPARATOR)
        return cls(job, incarnation) if separator and job else cls(text)

    def __str__(self) -> str:
        return f"{self.job}{SEPARATOR}{self.incarnation}" if self.incarnation else self.job


class AboutJob(Protocol):
    """A record about a job."""

    @property
    def job(self) -> str:
        """The scheduler's job id."""

    @property
    def incarnation(self) -> str:
        """Which job of this id; empty where not known."""


def same_job(one: AboutJob, other: AboutJob) -> bool:
    """Return whether two records are about one job. An unknown incarnation counts as the same."""
    return one.job == other.job and same_incarnation(one.incarnation, other.incarnation)


def same_incarnation(one: str, other: str) -> bool:
    """Return whether two incarnations of one id may be the same. A pipe's own start contradicts nothing."""
    return one == other or not one or not other or OWN_START in (one[: len(OWN_START)], other[: len(OWN_START)])


def incarnation_of_time(seconds: float | None) -> str:
    """Return the incarnation of a job that was submitted at `seconds` since 1970; empty where that is not known."""
    if seconds is None:
        return ""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
