"""Changes between two queries of the jobs and pods of a cluster.

Events follow from queries, not from single changes: a change that a watch missed shows in the next query.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from schedmate_records import EventKind, JobEvent

from ..client.attempts import present_attempt
from ..client.lineage import incarnation_of, job_id
from ..client.objects import Pod, PodSpec
from ..client.resources import gpus as accelerators
from ..client.workloads.batch_job import Job
from ..client.workloads.kind import WorkloadObject
from ..client.workloads.kinds import kind_of
from ..client.workloads.kueue import QUEUE
from .ending import ending

SCHEDULER = "kubernetes"
_TEXT = 1000  # characters of each text that an event repeats


class ReportedJob(msgspec.Struct, kw_only=True):
    """Reported state of a job.

    Attributes:
        incarnation: Which job of this id it is: the uid of the first object of its lineage.
        uid: The object that is its newest attempt.
        attempt: The newest attempt that was reported.
        started: The newest attempt whose start was reported; -1 for none.
        ended: The newest attempt whose end was reported; -1 for none.
        nodes: Where it ran last.
    """

    incarnation: str = ""
    uid: str = ""
    attempt: int = 0
    started: int = -1
    ended: int = -1
    nodes: list[str] = []


def changes(
    known: Mapping[str, ReportedJob], jobs: Iterable[WorkloadObject], pods: Iterable[Pod], now: float
) -> tuple[list[JobEvent], dict[str, ReportedJob]]:
    """Return what happened since `known` was true, in order, and what is known from now on.

    Ids follow from the object's uid, attempt and kind, so that events reported twice after a crash are the same events. The Jobs of a
    JobSet are parts of one job. One that an earlier version reported as a job of its own is reported until it ends.

    Args:
        known: What was reported so far, by job id.
        jobs: All jobs.
        pods: All pods.
        now: Seconds since 1970; the time of what Kubernetes gives no time for.
    """
    jobs = list(jobs)
    wholes = {job.metadata.uid for job in jobs if not isinstance(job, Job)}
    # By the kind of its owner, and not because that is there: the API server may show the part before the whole.
    parts = {job.metadata.uid: owner.uid for job in jobs if (owner := job.metadata.controller) and kind_of(owner)}
    of: dict[str, list[Pod]] = {}
    for pod in pods:
        owner = pod.metadata.controller
        # Label of a pod: the uid of its Job.
        uid = (
            owner.uid
            if owner and owner.uid in wholes
            else pod.metadata.labels.get("batch.kubernetes.io/controller-uid", "")
        )
        for one in {uid, parts.get(uid, uid)}:
            of.setdefault(one, []).append(pod)
    newest: dict[str, WorkloadObject] = {}
    events: list[JobEvent] = []
    after = {name: msgspec.structs.replace(state, nodes=list(state.nodes)) for name, state in known.items()}
    # The older object of a lineage ends before the newer one begins.
    jobs.sort(key=_order)
    present = {_id(job): incarnation_of(job.metadata) for job in jobs}
    for job in jobs:
        name, uid = _id(job), job.metadata.uid
        if incarnation_of(job.metadata) != present[name]:
            continue  # its name is used again
        state = after.get(name)
        if uid in parts and not (state and state.uid == uid):
            continue
        newest[name] = job
        if state and state.incarnation != incarnation_of(job.metadata):
            events += _lost(name, state, now)  # deleted, and created again under its name
            state = None
        if state and state.uid != uid and present_attempt(job) < state.attempt:
            continue  # an earlier attempt than the reported one
        events += _life(job, of.get(uid, ()), state, after, now)
    for name in known.keys() - newest.keys():
        events += _lost(name, after.pop(name), now)
    return events, after


def gpus(pods: Iterable[PodSpec]) -> float | None:
    """Return the accelerators that pods hold by their limits; None where they hold none. Parts (MIG) are not counted."""
    found = sum(accelerators(container.resources.limits) for pod in pods for container in pod.containers)
    return float(found) if found else None


def _life(
    job: WorkloadObject, pods: Sequence[Pod], state: ReportedJob | None, after: dict[str, ReportedJob], now: float
) -> list[JobEvent]:
    """Return events of submission, requeues, start and end."""
    name, uid, attempt, about = _id(job), job.metadata.uid, present_attempt(job), _about(job)
    incarnation = incarnation_of(job.metadata)
    about["incarnation"] = incarnation
    if state and state.uid == uid:
        attempt = max(attempt, state.attempt)  # one that a person resumed, and suspends again
    made = seconds(job.metadata.creation_timestamp, now)
    # Users write the number of pods: a bound keeps the sum plausible.
    asked = about | {"gpus": sum((gpus([spec]) or 0.0) * min(number, 100_000) for number, spec in job.groups) or None}
    events = []
    if state is None:
        state = after[name] = ReportedJob(incarnation=incarnation, uid=uid, attempt=attempt)
        kind = EventKind.REQUEUED if attempt else EventKind.SUBMITTED
        events.append(_event(name, uid, attempt, kind, made, **asked))
    elif attempt > state.attempt:
        time = now if uid == state.uid else made
        events.append(_event(name, uid, attempt, EventKind.REQUEUED, time, **asked))
    state.uid, state.attempt = uid, attempt
    placed = [pod for pod in pods if pod.status.start_time and pod.spec.node_name]
    present = [pod for pod in placed if not pod.is_over and pod.metadata.deletion_timestamp is None]
    end = ending(job, pods)
    whole = len([pod for pod in present if pod.status.phase == "Running"]) >= _wanted(job) > 0
    if state.started < attempt and placed and (end or whole):
        shown = present or placed
        state.started, state.nodes = attempt, sorted({pod.spec.node_name for pod in shown})
        first = max(seconds(pod.status.start_time, now) for pod in shown)
        events.append(
            _event(
                name,
                uid,
                attempt,
                EventKind.STARTED,
                first,
                nodes=state.nodes,
                gpus=gpus(pod.spec for pod in shown),
                **about,
            )
        )
    if end and state.ended < attempt:
        state.ended = attempt
        how = {"exit_code": end.exit_code, "signal": end.signal, "state": end.state, "detail": end.detail}
        time = seconds(end.time, now)
        events.append(_event(name, uid, attempt, EventKind.ENDED, time, nodes=state.nodes, **(about | how)))
    return events


def _lost(name: str, state: ReportedJob, now: float) -> list[JobEvent]:
    if state.ended >= state.attempt:
        return []
    how: dict[str, Any] = {
        "incarnation": state.incarnation,
        "state": "CANCELLED",
        "detail": "it was deleted before it ended",
        "nodes": state.nodes,
    }
    return [_event(name, state.uid, state.attempt, EventKind.ENDED, now, user=name.partition("/")[0], **how)]


def _id(job: WorkloadObject) -> str:
    return job_id(job.metadata, job.WORD)


def _wanted(job: WorkloadObject) -> int:
    """Return how many pods run once all of a job runs: those of a Job that its controller means to run now."""
    return job.status.active if isinstance(job, Job) else sum(group.pods for group in job.groups)


def _about(job: WorkloadObject) -> dict[str, Any]:
    container = next((each for group in job.groups for each in group.spec.containers), None)
    command = " ".join([*container.command, *container.args]) if container else ""
    owner = job.metadata.controller
    limit = job.spec.active_deadline_seconds if isinstance(job, Job) else None
    return {
        "command": command[:_TEXT],
        "directory": container.working_dir[:_TEXT] if container else "",
        "user": job.metadata.namespace,
        "name": job.metadata.name,
        "partition": job.metadata.labels.get(QUEUE, job.queue),
        "time_limit_s": None if limit is None else float(limit),
        "detail": f"of {owner.kind}/{owner.name}" if owner else "",
    }


def seconds(time: datetime | None, otherwise: float) -> float:
    """Return a time of Kubernetes in seconds since 1970."""
    return time.timestamp() if time else otherwise


def _order(job: WorkloadObject) -> tuple[str, float, int]:
    return (_id(job), seconds(job.metadata.creation_timestamp, 0.0), present_attempt(job))


def _event(job: str, uid: str, attempt: int, kind: EventKind, time: float, **fields: Any) -> JobEvent:
    identity = f"{SCHEDULER}/{job}/{uid}/{attempt}/{kind}"
    return JobEvent(id=identity, job=job, attempt=attempt, kind=kind, time=time, scheduler=SCHEDULER, **fields)
