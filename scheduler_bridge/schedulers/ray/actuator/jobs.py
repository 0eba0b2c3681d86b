"""Ray's submissions as the bridge sees them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from schedmate_records import incarnation_of_time

from ....act_keys import add_key, read_keys
from ....opt_out import ANNOTATION
from ...views import JobView, SchedulerJobState
from ..client.lineage import ACTS, EXCLUDED, INTENT, LINEAGE, SubmissionName
from ..client.objects import RayJob

INTENT_PREFIX = "schedmate-intent."
"""Submission ids of intents: this, and the id of the submission that is acted on."""
_STATES = {
    "PENDING": SchedulerJobState.PENDING,
    "RUNNING": SchedulerJobState.RUNNING,
    "STOPPED": SchedulerJobState.CANCELLED,
    "SUCCEEDED": SchedulerJobState.COMPLETED,
    "FAILED": SchedulerJobState.FAILED,
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """The newest submission of a job.

    Attributes:
        job: The submission.
        intent: The key of an act on it that has begun; empty for none.
    """

    job: RayJob
    intent: str = ""

    @property
    def name(self) -> SubmissionName:
        """The job's id, and which attempt this is."""
        return SubmissionName.parse(self.job.id)

    @property
    def interrupted(self) -> bool:
        """True where an act stopped it, and did not submit it again yet."""
        return bool(self.intent) and self.job.status == "STOPPED"

    @property
    def state(self) -> SchedulerJobState:
        """Its state. A job that an act has stopped half way is held: it is to go on."""
        if self.interrupted:
            return SchedulerJobState.HELD
        return _STATES.get(self.job.status, SchedulerJobState.OTHER)

    @property
    def excluded(self) -> tuple[str, ...]:
        """Names of the nodes that it is kept away from."""
        return tuple(name for name in self.job.noted.get(EXCLUDED, "").split(",") if name)


def newest(jobs: Iterable[RayJob]) -> dict[str, Attempt]:
    """Return the newest attempt of each job, by its id."""
    intents: dict[str, str] = {}
    found: dict[str, RayJob] = {}
    for job in jobs:
        if INTENT in job.noted:
            intents[job.id.removeprefix(INTENT_PREFIX)] = next(iter(read_keys(job.noted[INTENT])), "")
            continue
        name = SubmissionName.parse(job.id)
        kept = found.get(name.lineage)
        if kept is None or SubmissionName.parse(kept.id).attempt < name.attempt:
            found[name.lineage] = job
    return {lineage: Attempt(job, intents.get(job.id, "")) for lineage, job in found.items()}


def view(attempt: Attempt, nodes: Iterable[str] = ()) -> JobView:
    """Return a job as the bridge sees it.

    Ray knows no users, and every submitter may write any metadata: the user is unknown, and the class of a job is its own claim.
    An act that stopped the job counts as the begin of the next attempt.
    """
    job, noted = attempt.job, attempt.job.noted
    priority = noted.get("priority", "")
    return JobView(
        job=attempt.name.lineage,
        state=attempt.state,
        attempt=attempt.name.attempt + attempt.interrupted,
        nodes=tuple(sorted(nodes)),
        excluded=attempt.excluded,
        word=f"{job.status} ({job.error_type})" if job.error_type else job.status,
        acts=read_keys(noted.get(ACTS, "")) + ((attempt.intent,) if attempt.interrupted else ()),
        partition=noted.get("partition", ""),
        account=noted.get("account", ""),
        qos=noted.get("qos", ""),
        priority=int(priority) if priority.isascii() and priority.isdecimal() and len(priority) <= 9 else None,
        interrupted=attempt.interrupted,
        opted_out=noted.get(ANNOTATION) == "no",
        incarnation="" if attempt.name.attempt or not job.start_time else incarnation_of_time(job.start_time / 1000),
        queued=job.start_time / 1000 if job.start_time and job.status == "PENDING" else None,
    )


def with_key(noted: Mapping[str, str], key: str) -> str:
    """Return the keys in a submission's metadata, and one more."""
    return add_key(noted.get(ACTS, ""), key)


def intent_metadata(attempt: Attempt, key: str) -> dict[str, str]:
    """Return the metadata of the submission that announce what is about to be done."""
    return {INTENT: add_key("", key), LINEAGE: attempt.name.lineage}
