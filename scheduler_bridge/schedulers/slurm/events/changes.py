"""Changes between two queries of Slurm's jobs."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from schedmate_records import EventKind, JobEvent, JobReference, Workload, incarnation_of_time

from ..client import ENDED, SlurmJob

SCHEDULER = "slurm"
_TEXT = 1000  # characters of each text that an event repeats


class ReportedJob(msgspec.Struct, kw_only=True):
    """Reported state of a job.

    Attributes:
        incarnation: Which job of this id it is: when it was submitted first.
        restarts: The newest attempt that was reported.
        started: The newest attempt whose start was reported; -1 for none.
        ended: The newest attempt whose end was reported; -1 for none.
        beside: The jobs that share a GPU with it now, and the attempt of each.
        nodes: Where it ran last.
    """

    incarnation: str = ""
    restarts: int = 0
    started: int = -1
    ended: int = -1
    beside: dict[str, int] = {}
    nodes: list[str] = []


def changes(
    known: Mapping[str, ReportedJob], jobs: Mapping[str, SlurmJob], now: float, gpus: Callable[[SlurmJob], float | None]
) -> tuple[list[JobEvent], dict[str, ReportedJob]]:
    """Return what happened since `known` was true, in order, and what is known from now on.

    Ids follow from job, attempt and kind, so that events reported twice after a crash are the same events.

    Args:
        known: What was reported so far.
        jobs: Slurm's list.
        now: Seconds since 1970; the time of what Slurm gives no time for.
        gpus: Counts the GPUs of a job.
    """
    after = {name: msgspec.structs.replace(state, beside=dict(state.beside)) for name, state in known.items()}
    events: list[JobEvent] = []
    for name in [name for name, state in after.items() if name in jobs and _is_another(jobs[name], state)]:
        detail = "Slurm uses the id for another job now; the end of this job was not observed"
        events += _lost(name, after.pop(name), now, detail)
    pairs = _pairs(jobs)
    events += _unpacked(after, jobs, pairs, now)
    for name in sorted(jobs, key=_order):
        events += _life(name, jobs[name], after, now, gpus)
    events += _packed(after, jobs, pairs, now, gpus)
    for name in known.keys() - jobs.keys():
        events += _lost(name, after.pop(name), now, "Slurm no longer knows the job; its end was not observed")
    return events, after


def _is_another(job: SlurmJob, state: ReportedJob) -> bool:
    """Return whether `job` is not the one that was reported under its id.

    A restart count never falls. The submit time distinguishes two jobs before the first requeue, which changes it.
    """
    if job.restarts != state.restarts:
        return job.restarts < state.restarts
    return not job.restarts and bool(job.submitted) and incarnation_of_time(job.submitted) != state.incarnation


def _lost(name: str, state: ReportedJob, now: float, detail: str) -> list[JobEvent]:
    """Return the end of a job that Slurm does not show any more, unless it was reported."""
    if state.ended >= state.restarts:
        return []
    return [_event(name, state, state.restarts, EventKind.ENDED, now, nodes=state.nodes, detail=detail)]


def described(known: Mapping[str, ReportedJob], found: Mapping[str, Workload], now: float) -> list[JobEvent]:
    """Return what became known of reported jobs that are not over. Once an attempt: a second event would have the same id.

    Args:
        known: What was reported so far.
        found: What each job trains.
        now: Seconds since 1970.
    """
    return [
        _event(name, state, state.restarts, EventKind.DESCRIBED, now, workload=workload)
        for name, workload in found.items()
        if (state := known.get(name)) and state.ended < state.restarts
    ]


def _life(
    name: str, job: SlurmJob, after: dict[str, ReportedJob], now: float, gpus: Callable[[SlurmJob], float | None]
) -> list[JobEvent]:
    """Return events of submission, requeues, start and end."""
    about = _about(job)
    asked = about | {"gpus": gpus(job)}
    events = []
    if name not in after:
        after[name] = ReportedJob(incarnation=incarnation_of_time(job.submitted))
        events.append(_event(name, after[name], 0, EventKind.SUBMITTED, job.submitted or now, **asked))
    state = after[name]
    for attempt in range(state.restarts + 1, job.restarts + 1):
        time = job.submitted if job.submitted and attempt == job.restarts else now
        events.append(_event(name, state, attempt, EventKind.REQUEUED, time, detail=job.reason, **asked))
    state.restarts = job.restarts
    over = job.state in ENDED
    if job.nodes and job.started and state.started < job.restarts and (over or job.state in ("RUNNING", "COMPLETING")):
        state.started, state.nodes = job.restarts, list(job.nodes)
        held: dict[str, Any] = {"nodes": list(job.nodes), "gpus": gpus(job), "sluid": job.sluid}
        events.append(_event(name, state, job.restarts, EventKind.STARTED, job.started, **about, **held))
    if over and state.ended < job.restarts:
        state.ended = job.restarts
        how: dict[str, Any] = {
            "exit_code": job.exit_code,
            "signal": job.signal,
            "state": job.state,
            "detail": job.reason,
        }
        end = job.ended or now
        events.append(_event(name, state, job.restarts, EventKind.ENDED, end, nodes=list(job.nodes), **about, **how))
    return events


def _about(job: SlurmJob) -> dict[str, Any]:
    """Return what a job is and asks for."""
    return {
        "command": job.command[:_TEXT],
        "directory": job.directory,
        "user": job.user,
        "name": job.name[:_TEXT],
        "partition": job.partition,
        "account": job.account,
        "node_count": job.node_count,
        "cpus": float(job.cpus) or None,
        "memory_gib": job.memory * job.node_count / 1024 or None,
        "time_limit_s": job.limit_s,
    }


def _pairs(jobs: Mapping[str, SlurmJob]) -> set[tuple[str, str]]:
    """Return the pairs of running jobs that share a GPU, each pair both ways."""
    holders: dict[tuple[str, int], list[str]] = {}
    for name, job in jobs.items():
        if job.state == "RUNNING":
            for device in job.devices:
                holders.setdefault(device, []).append(name)
    return {(one, other) for names in holders.values() for one in names for other in names if one != other}


def _unpacked(
    after: dict[str, ReportedJob], jobs: Mapping[str, SlurmJob], pairs: set[tuple[str, str]], now: float
) -> list[JobEvent]:
    """Return events of pairs that are no more, or that are between other attempts now."""
    events = []
    for name, state in sorted(after.items()):
        for other, attempt in sorted(state.beside.items()):
            mine, theirs = jobs.get(name), jobs.get(other)
            same = mine and theirs and (mine.restarts, theirs.restarts) == (state.restarts, attempt)
            if same and (name, other) in pairs:
                continue
            del state.beside[other]
            ends = [job.ended for job in (mine, theirs) if job and job.ended]
            place = f"{other}/{attempt}"
            time = min(ends, default=now)
            told = _event(
                name, state, state.restarts, EventKind.UNPACKED, time, place=place, nodes=state.nodes, packed_with=other
            )
            events.append(told)
    return events


def _packed(
    after: dict[str, ReportedJob],
    jobs: Mapping[str, SlurmJob],
    pairs: set[tuple[str, str]],
    now: float,
    gpus: Callable[[SlurmJob], float | None],
) -> list[JobEvent]:
    """Return events of new pairs, for each of the two jobs. The one that started later has `newcomer` set."""
    events = []
    for name, other in sorted(pairs):
        if other in after[name].beside:
            continue
        mine, theirs = jobs[name], jobs[other]
        after[name].beside[other] = theirs.restarts
        newcomer = (mine.started or now, _order(name)) > (theirs.started or now, _order(other))
        time = max(mine.started or now, theirs.started or now)
        shared = sorted({host for host, _ in mine.devices & theirs.devices})
        told = _event(
            name,
            after[name],
            mine.restarts,
            EventKind.PACKED,
            time,
            place=f"{other}/{theirs.restarts}",
            nodes=shared,
            gpus=gpus(mine),
            packed_with=other,
            newcomer=newcomer,
        )
        events.append(told)
    return events


def _event(
    job: str, reported: ReportedJob, attempt: int, kind: EventKind, time: float, *, place: str = "", **fields: object
) -> JobEvent:
    """Return an event of `job`; `place` distinguishes two of a kind in one attempt."""
    identity = f"{SCHEDULER}/{JobReference(job, reported.incarnation)}/{attempt}/{kind}" + (
        f"/{place}" if place else ""
    )
    return JobEvent(
        id=identity,
        job=job,
        incarnation=reported.incarnation,
        attempt=attempt,
        kind=kind,
        time=time,
        scheduler=SCHEDULER,
        **fields,  # type: ignore[arg-type]
    )


def _order(job: str) -> tuple[int, ...]:
    """Sort ids of one cluster by their numbers: 9 before 10, 10_2 before 10_11."""
    own = job.rpartition("/")[2]
    return tuple(int(part) for part in own.replace("+", "_").split("_") if part.isdecimal())
