"""Ends of jobs, in the terms of job events."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from ..client.lineage import is_cancelled
from ..client.objects import Condition, Pod
from ..client.workloads.kind import WorkloadObject, WorkloadPhase


class Ending(NamedTuple):
    """End of a Job; fields as in `records.JobEvent`."""

    exit_code: int | None
    signal: int | None
    state: str
    detail: str
    time: datetime | None


class _Exit(NamedTuple):
    time: datetime
    code: int
    signal: int
    reason: str


def ending(job: WorkloadObject, pods: Sequence[Pod]) -> Ending | None:
    """Return how a job ended; None while it has not."""
    why = job.why or Condition(type="")
    match job.phase:
        case WorkloadPhase.SUCCEEDED:
            return Ending(0, 0, "COMPLETED", "", why.last_transition_time)
        case WorkloadPhase.FAILED:
            return _failure(why, pods)
        case WorkloadPhase.TERMINATED:
            return _cancelled(why)
        case WorkloadPhase.SUSPENDED if is_cancelled(job.metadata):
            return _cancelled(why)
    return None


def _cancelled(why: Condition) -> Ending:
    """Return the end of what the bridge cancelled: a kind that has no order for it stays suspended."""
    return Ending(None, None, "CANCELLED", why.message[:1000], why.last_transition_time)


def _failure(failed: Condition, pods: Sequence[Pod]) -> Ending:
    detail = f"{failed.reason}: {failed.message}"[:1000]
    # The first to fail is the cause; those that follow are stopped for it.
    first = min(_failures(pods), default=None)
    time = failed.last_transition_time
    if failed.reason == "DeadlineExceeded":
        return Ending(None, None, "TIMEOUT", detail, time)
    if first is None:
        return Ending(None, None, "NODE_FAIL" if _lost_node(pods) else "FAILED", detail, time)
    state = "OUT_OF_MEMORY" if first.reason == "OOMKilled" else "NODE_FAIL" if _lost_node(pods) else "FAILED"
    # A shell, or a container, that a signal ended exits with 128 and the signal's number.
    signal = first.signal or (first.code - 128 if 128 < first.code <= 192 else 0)
    return Ending(None if signal else first.code, signal, state, detail, time)


def _failures(pods: Iterable[Pod]) -> list[_Exit]:
    ends = [status.state.terminated for pod in pods for status in pod.status.container_statuses]
    last = datetime.max.replace(tzinfo=UTC)
    return [
        _Exit(end.finished_at or last, end.exit_code, end.signal, end.reason) for end in ends if end and end.exit_code
    ]


def _lost_node(pods: Iterable[Pod]) -> bool:
    # Reasons of a pod's DisruptionTarget condition that concern its node (Kubernetes: Disruptions).
    return any(
        one.type == "DisruptionTarget"
        and one.status == "True"
        and one.reason in ("DeletionByPodGC", "DeletionByTaintManager", "NodeLost", "TerminationByKubelet")
        for pod in pods
        for one in pod.status.conditions
    )
