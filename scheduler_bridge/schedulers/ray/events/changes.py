"""Changes between two queries of the jobs of a Ray cluster."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from schedmate_records import EventKind, JobEvent, incarnation_of_time

from ..client.lineage import INTENT, SubmissionName
from ..client.objects import RayJob

SCHEDULER = "ray"
PLACING_S = 15.0
"""Seconds after which a job that runs is reported as started although none of its actors has a node: it may have none."""


@dataclass(frozen=True, slots=True)
class RayPlacement:
    """Placement of a job.

    Attributes:
        nodes: Names of the nodes of its driver and its actors, sorted.
        gpus: GPUs that it holds; None where none is known of.
        whole: Every actor that there is has a node, and there is one.
        driver_lives: The node of its driver is there.
    """

    nodes: list[str]
    gpus: float | None
    whole: bool
    driver_lives: bool = True


Locate = Callable[[RayJob], RayPlacement]
"""Asks where a job is."""


class ReportedJob(msgspec.Struct, kw_only=True):
    """Reported state of a job.

    Attributes:
        incarnation: Which job of this id it is: when its first attempt was submitted, as far as that was seen.
        submission: Its newest attempt, with the time of its submission: an id that was deleted may be used again.
        attempt: The number of that attempt.
        running: When it was first seen to run, in seconds since 1970; 0 for not yet.
        started: The newest attempt whose start was reported; -1 for none.
        ended: The newest attempt whose end was reported; -1 for none.
        nodes: Where it ran last.
    """

    incarnation: str = ""
    submission: str = ""
    attempt: int = 0
    running: float = 0.0
    started: int = -1
    ended: int = -1
    nodes: list[str] = []


def changes(
    known: Mapping[str, ReportedJob], jobs: Iterable[RayJob], locate: Locate, now: float
) -> tuple[list[JobEvent], dict[str, ReportedJob]]:
    """Return what happened since `known` was true, in order, and what is known from now on.

    Ids follow from submission, attempt and kind, so that events reported twice after a crash are the same events.

    Args:
        known: What was reported so far, by job id.
        jobs: All submissions.
        locate: Asked about jobs that start or end.
        now: Seconds since 1970; the time of what Ray gives no time for.
    """
    events: list[JobEvent] = []
    seen: set[str] = set()
    after = {name: msgspec.structs.replace(state, nodes=list(state.nodes)) for name, state in known.items()}
    for job in sorted((job for job in jobs if INTENT not in job.noted), key=_order):
        name = SubmissionName.parse(job.id)
        seen.add(name.lineage)
        state = after.get(name.lineage)
        if state and name.attempt < state.attempt:
            continue  # an earlier attempt than the reported one
        if state and name.attempt == state.attempt and state.submission != _identity(job):
            events += _vanished(name.lineage, state, now)  # deleted, and submitted again under its id
            state = None
        if state is None:
            after.pop(name.lineage, None)
        events += _life(job, after, locate, now)
    for lineage in sorted(known.keys() - seen):
        events += _vanished(lineage, after.pop(lineage), now)
    return events, after


def _life(job: RayJob, after: dict[str, ReportedJob], locate: Locate, now: float) -> list[JobEvent]:
    """Return events of submission, requeue, start and end of one attempt."""
    name, submission = SubmissionName.parse(job.id), _identity(job)
    state, attempt = after.get(name.lineage), name.attempt
    incarnation = state.incarnation if state else incarnation_of_time(_seconds(job.start_time, 0.0) or None)
    events: list[JobEvent] = []

    def emit(kind: EventKind, time: float, **fields: Any) -> None:
        identity = f"{SCHEDULER}/{name.lineage}/{submission}/{attempt}/{kind}"
        # Events repeat up to 1,000 characters of a command.
        events.append(
            JobEvent(
                id=identity, job=name.lineage, incarnation=incarnation, attempt=attempt, kind=kind, time=time,
                scheduler=SCHEDULER, command=job.entrypoint[:1000], **fields,
            )
        )  # fmt: skip

    if state is None or attempt > state.attempt:
        emit(EventKind.REQUEUED if attempt else EventKind.SUBMITTED, _seconds(job.start_time, now))
        old = state or ReportedJob()
        state = ReportedJob(
            incarnation=incarnation,
            submission=submission,
            attempt=attempt,
            started=old.started,
            ended=old.ended,
            nodes=old.nodes,
        )
        after[name.lineage] = state
    if job.status == "RUNNING" and not state.running:
        state.running = now
    ran = job.status == "RUNNING" or (job.is_over and job.driver_node_id is not None)
    placed = locate(job) if (ran and state.started < attempt) or (job.is_over and state.ended < attempt) else None
    if placed and ran and state.started < attempt and (job.is_over or placed.whole or now >= state.running + PLACING_S):
        state.started, state.nodes = attempt, placed.nodes
        since = state.running or _seconds(job.start_time, now)
        emit(EventKind.STARTED, since, nodes=placed.nodes, gpus=placed.gpus)
    if placed and job.is_over and state.ended < attempt:
        how = ending(job, placed.driver_lives)
        state.ended, state.nodes = attempt, placed.nodes or state.nodes
        emit(EventKind.ENDED, _seconds(job.end_time, now), nodes=state.nodes, **how._asdict())
    return events


def _vanished(lineage: str, state: ReportedJob, now: float) -> list[JobEvent]:
    """Return events of the end of a job that Ray has forgotten, as a restarted head has. How it ended is not known."""
    if state.ended >= state.attempt:
        return []
    kind, detail = EventKind.ENDED, "Ray no longer knows it: its head was restarted, or the job was deleted"
    identity = f"{SCHEDULER}/{lineage}/{state.submission}/{state.attempt}/{kind}"
    return [
        JobEvent(
            id=identity, job=lineage, incarnation=state.incarnation, attempt=state.attempt, kind=kind, time=now,
            scheduler=SCHEDULER, nodes=state.nodes, detail=detail,
        )
    ]  # fmt: skip


def _identity(job: RayJob) -> str:
    return f"{job.id}@{job.start_time or 0}"


def _seconds(milliseconds: int | None, otherwise: float) -> float:
    return milliseconds / 1000 if milliseconds else otherwise


def _order(job: RayJob) -> tuple[str, int]:
    return SubmissionName.parse(job.id)


class _Ending(NamedTuple):
    """End of a job; fields as in `records.JobEvent`."""

    exit_code: int | None
    signal: int | None
    state: str
    detail: str


def ending(job: RayJob, node_lives: bool) -> _Ending:
    """Return how a job that is over ended.

    Args:
        job: The submission.
        node_lives: The node of its driver is there.
    """
    if job.status == "SUCCEEDED":
        return _Ending(0, 0, "COMPLETED", "")
    if job.status == "STOPPED":
        return _Ending(None, None, "CANCELLED", "it was asked to stop")
    detail = _detail(job)
    code = job.driver_exit_code
    if code is None or job.error_type in ("JOB_SUPERVISOR_ACTOR_DIED", "JOB_SUPERVISOR_ACTOR_UNSCHEDULABLE"):
        return _Ending(None, None, "FAILED" if node_lives else "NODE_FAIL", detail)
    # A shell whose command a signal ended exits with 128 and the signal's number.
    signal = -code if code < 0 else code - 128 if 128 < code <= 192 else 0
    return _Ending(None if signal else code, signal, "FAILED", detail)


def _detail(job: RayJob) -> str:
    message = job.message or ""
    # Ray quotes what the job itself printed from here on.
    for quote in ("last available logs", "Traceback (most recent call last)"):
        message = message.partition(quote)[0]
    # Events repeat up to 300 characters of a message.
    text = " ".join(message.split())[:300].rstrip(" ,:")
    return f"{job.error_type}: {text}" if job.error_type else text
