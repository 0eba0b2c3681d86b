"""Kubernetes' jobs, of all kinds, as the bridge sees them."""

from collections.abc import Sequence

import structlog

from schedmate_records import Action

from ....act_keys import read_keys
from ....opt_out import ANNOTATION
from ...views import JobView, SchedulerJobState
from ..client.attempts import is_resumed, present_attempt
from ..client.client import KubernetesClient
from ..client.errors import KubernetesError
from ..client.lineage import ACTS, STOPPED_FOR, incarnation_of, is_cancelled
from ..client.objects import Node, Pod, PodSpec
from ..client.placement import excluded_nodes
from ..client.workloads.batch_job import Job
from ..client.workloads.kind import WorkloadObject, WorkloadPhase
from ..client.workloads.kueue import QUEUE, QueuedWorkload
from .owners import is_queued

log = structlog.get_logger(__name__)


_PHASES = {
    WorkloadPhase.SUCCEEDED: SchedulerJobState.COMPLETED,
    WorkloadPhase.STOPPING: SchedulerJobState.STOPPING,
    WorkloadPhase.TERMINATED: SchedulerJobState.CANCELLED,
}


def acts_of(job: WorkloadObject) -> tuple[str, ...]:
    """Return the keys of what the bridge did to a job, the oldest first."""
    return read_keys(job.metadata.annotations.get(ACTS, ""))


def present(pods: Sequence[Pod]) -> list[Pod]:
    """Return the pods that have not ended and are not being stopped."""
    return [pod for pod in pods if not pod.is_over and pod.metadata.deletion_timestamp is None]


def state_of(job: WorkloadObject, pods: Sequence[Pod], queued: QueuedWorkload | None = None) -> SchedulerJobState:
    """Return the state of a job. One whose controller will start its pods again has not failed: it runs, or waits.

    Args:
        job: The job.
        pods: Its pods.
        queued: Its place in a queue of Kueue; None where it has none.
    """
    if job.metadata.deletion_timestamp is not None:
        return SchedulerJobState.STOPPING
    cancelled = is_cancelled(job.metadata) and not is_resumed(job)
    phase = job.phase
    if phase is WorkloadPhase.FAILED:
        return SchedulerJobState.CANCELLED if cancelled else SchedulerJobState.FAILED
    if phase in _PHASES:
        return _PHASES[phase]
    stopped = queued is not None and not queued.spec.active  # Kueue suspends the job next, if it has not
    if phase is WorkloadPhase.SUSPENDED:
        rests = SchedulerJobState.PENDING if is_queued(job) and not stopped else SchedulerJobState.HELD
        if rests is SchedulerJobState.HELD and cancelled:
            rests = SchedulerJobState.CANCELLED
        return SchedulerJobState.STOPPING if _has_active_pods(job, pods) else rests
    if stopped:
        return SchedulerJobState.STOPPING
    runs = any(pod.status.phase == "Running" for pod in present(pods))
    return SchedulerJobState.RUNNING if runs else SchedulerJobState.PENDING


def view(name: str, job: WorkloadObject, pods: Sequence[Pod], queued: QueuedWorkload | None = None) -> JobView:
    """Return a job as the bridge sees it, under the name by which the bridge asked for it.

    Its user is the namespace: that is the border between tenants, and no label that somebody writes on a Job moves it. Its quality of
    service is its priority class. One that the bridge stopped and has not let go yet is in its next attempt already.
    """
    state = state_of(job, pods, queued)
    why = job.why
    at_rest = state in (SchedulerJobState.HELD, SchedulerJobState.STOPPING)
    interrupted = at_rest and STOPPED_FOR in job.metadata.annotations and not is_cancelled(job.metadata)
    specs = pod_specs(job)
    priorities = [queued.spec.priority] if queued else [pod.spec.priority for pod in pods]
    return JobView(
        job=name,
        state=state,
        attempt=present_attempt(job) + interrupted,
        nodes=tuple(sorted({pod.spec.node_name for pod in present(pods) or pods if pod.spec.node_name})),
        excluded=tuple(sorted(set.intersection(*(set(excluded_nodes(spec)) for spec in specs)))) if specs else (),
        word=f"{state.value} ({why.reason})" if why else state.value,
        user=job.metadata.namespace,
        partition=job.metadata.labels.get(QUEUE, job.queue),
        qos=(queued.spec.priority_class_name if queued else "") or job.priority_class,
        priority=next((one for one in priorities if one is not None), None),
        acts=acts_of(job),
        interrupted=interrupted,
        opted_out=job.metadata.annotations.get(ANNOTATION) == "no",
        incarnation=incarnation_of(job.metadata),
        lacks_places=any(lacks_a_place(pod) for pod in present(pods)),
    )


def pod_specs(job: WorkloadObject) -> list[PodSpec]:
    """Return what the pods of a job are made of, one for each group of them."""
    return [group.spec for group in job.groups]


def wanted_pods(job: WorkloadObject) -> int:
    """Return how many pods a job has when all of it runs."""
    return sum(group.pods for group in job.groups)


def outlives_eviction(job: Job, pods: int) -> bool:
    """True where the Job goes on when so many of its pods are evicted.

    Each evicted pod counts as failed towards backoffLimit, unless a rule of the podFailurePolicy ignores disruptions. Rules are
    tried in order; one before it that matches exit codes may fit an evicted pod, too, so only the first rule is trusted.
    """
    rules = job.spec.pod_failure_policy.rules if job.spec.pod_failure_policy else []
    first = rules[0] if rules else None
    # The condition of a pod that was evicted (Kubernetes: pod disruption conditions).
    if first and first.action == "Ignore" and any(one.type == "DisruptionTarget" for one in first.on_pod_conditions):
        return True
    return not rules and job.status.failed + pods <= job.spec.backoff_limit


def lacks_a_place(pod: Pod) -> bool:
    """True where the scheduler found no node for want of resources; of volumes the bridge knows nothing."""
    return not pod.spec.node_name and any(
        one.type == "PodScheduled" and one.status == "False" and one.reason == "Unschedulable"
        and "Insufficient " in one.message and "volume" not in one.message
        for one in pod.status.conditions
    )  # fmt: skip


def _has_active_pods(job: WorkloadObject, pods: Sequence[Pod]) -> bool:
    counted = isinstance(job, Job) and (job.status.active > 0 or job.status.terminating > 0)
    return counted or any(not pod.is_over for pod in pods)


def tell(client: KubernetesClient, about: WorkloadObject | Node, action: Action, key: str) -> None:
    """Write an Event. If that fails, the act remains done."""
    try:
        reason = "".join(word.capitalize() for word in action.value.split("_"))
        client.tell(about, f"SchedMate{reason}", f"The SchedMate bridge carried out {key}.")
    except KubernetesError as error:
        log.warning("event_not_written", name=about.metadata.name, error=str(error))
