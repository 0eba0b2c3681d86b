"""Kubernetes' Jobs as the bridge sees them."""

from collections.abc import Sequence

from records import Action
from scheduler_bridge.act_keys import read_keys
from scheduler_bridge.actuators.base import JobView, SchedulerJobState
from scheduler_bridge.opt_out import ANNOTATION
from scheduler_clients.kubernetes import ACTS, Job, Pod, attempt_of, excluded_nodes

from .owners import is_queued

DISRUPTED = "DisruptionTarget"
"""The condition of a pod that was evicted (Kubernetes: Disruptions, pod disruption conditions)."""


def acts_of(job: Job) -> tuple[str, ...]:
    """Return the keys of what the bridge did to a job, the oldest first."""
    return read_keys(job.metadata.annotations.get(ACTS, ""))


def present(pods: Sequence[Pod]) -> list[Pod]:
    """Return the pods that have not ended and are not being stopped."""
    return [pod for pod in pods if not pod.over and pod.metadata.deletion_timestamp is None]


def state_of(job: Job, pods: Sequence[Pod]) -> SchedulerJobState:
    """Return the state of a job. A Job whose owner will start its pods again has not failed: it runs, or waits."""
    if job.metadata.deletion_timestamp is not None:
        return SchedulerJobState.STOPPING
    if job.condition("Complete"):
        return SchedulerJobState.COMPLETED
    if job.condition("Failed"):
        cancelled = any(key.startswith(f"{Action.CANCEL}/") for key in acts_of(job)[-1:])
        return SchedulerJobState.CANCELLED if cancelled else SchedulerJobState.FAILED
    if job.condition("FailureTarget") or job.condition("SuccessCriteriaMet"):
        return SchedulerJobState.STOPPING
    if job.spec.suspend:
        rests = SchedulerJobState.PENDING if is_queued(job.metadata) else SchedulerJobState.HELD
        return SchedulerJobState.STOPPING if _left(job, pods) else rests
    runs = any(pod.status.phase == "Running" for pod in present(pods))
    return SchedulerJobState.RUNNING if runs else SchedulerJobState.PENDING


def view(name: str, job: Job, pods: Sequence[Pod]) -> JobView:
    """Return a job as the bridge sees it, under the name by which the bridge asked for it.

    Its user is the namespace: that is the border between tenants, and no label that somebody writes on a Job moves it. Its quality of
    service is its priority class.
    """
    state = state_of(job, pods)
    why = next((found for kind in ("Failed", "Suspended") if (found := job.condition(kind))), None)
    return JobView(
        job=name,
        state=state,
        attempt=attempt_of(job.metadata),
        nodes=tuple(sorted({pod.spec.node_name for pod in present(pods) or pods if pod.spec.node_name})),
        excluded=excluded_nodes(job.spec.template.spec),
        word=f"{state.value} ({why.reason})" if why else state.value,
        user=job.metadata.namespace,
        qos=job.spec.template.spec.priority_class_name,
        priority=next((pod.spec.priority for pod in pods if pod.spec.priority is not None), None),
        acts=acts_of(job),
        opted_out=job.metadata.annotations.get(ANNOTATION) == "no",
        lacks_places=any(lacks_a_place(pod) for pod in present(pods)),
    )


def outlives_eviction(job: Job, pods: int) -> bool:
    """True where the Job goes on when so many of its pods are evicted.

    Each evicted pod counts as failed towards backoffLimit, unless a rule of the podFailurePolicy ignores disruptions. Rules are
    tried in order; one before it that speaks of exit codes may fit an evicted pod, too, so only the first rule is trusted.
    """
    rules = job.spec.pod_failure_policy.rules if job.spec.pod_failure_policy else []
    first = rules[0] if rules else None
    if first and first.action == "Ignore" and any(one.type == DISRUPTED for one in first.on_pod_conditions):
        return True
    return not rules and job.status.failed + pods <= job.spec.backoff_limit


def lacks_a_place(pod: Pod) -> bool:
    """True where the scheduler found no node for want of resources; of volumes the bridge knows nothing."""
    return not pod.spec.node_name and any(
        one.type == "PodScheduled" and one.status == "False" and one.reason == "Unschedulable"
        and "Insufficient " in one.message and "volume" not in one.message
        for one in pod.status.conditions
    )  # fmt: skip


def _left(job: Job, pods: Sequence[Pod]) -> bool:
    return job.status.active > 0 or job.status.terminating > 0 or any(not pod.over for pod in pods)
