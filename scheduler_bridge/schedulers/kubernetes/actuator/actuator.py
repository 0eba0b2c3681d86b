"""Actions on jobs and nodes of Kubernetes.

An object is changed only as long as it is the one that was looked at: patches of Jobs and evictions carry its uid, patches of nodes
its resource version. Every effect is looked up again afterwards, and written on the object as an Event.
"""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from schedmate_records import Action

from ....act_keys import add_key
from ....checkpoint_note import is_tellable
from ...base import Actuator
from ...errors import ActuatorError, translated
from ...queue import Queue
from ...views import JobView, NodeView, SchedulerJobState
from ..client.attempts import present_attempt
from ..client.client import KubernetesClient
from ..client.errors import KubernetesConflict, KubernetesNotFound, KubernetesRefused
from ..client.lineage import ACTS, ATTEMPT, JobName, lineage_of
from ..client.objects import Pod
from ..client.placement import pinned_nodes
from ..client.workloads.batch_job import Job
from ..client.workloads.kind import WorkloadObject
from ..client.workloads.kinds import KINDS
from ..client.workloads.kueue import QueuedWorkload
from .drains import Drains
from .jobs import acts_of, outlives_eviction, pod_specs, present, tell, wanted_pods
from .lookup import Lookup, Target
from .owners import is_queued
from .queue import queue_of
from .settings import KubernetesLimits
from .successor import successor, successor_name
from .suspension import Suspension, is_suspended_by_fields

_Custom = TypeVar("_Custom", bound=WorkloadObject | QueuedWorkload)

_OVER = (SchedulerJobState.FAILED, SchedulerJobState.COMPLETED, SchedulerJobState.CANCELLED)


class KubernetesActuator(Actuator):
    """Kubernetes as an `Actuator`. docs/kubernetes.md lists the rights that it needs.

    Jobs are named `NAMESPACE/LINEAGE`, those of other kinds `NAMESPACE/KIND/LINEAGE` (see `client/lineage.py`).
    Pods are never shared between jobs, so there is no packing to cancel, and no signal to send: a pod gets SIGTERM and its
    terminationGracePeriodSeconds when it is evicted.
    """

    name = "kubernetes"

    def __init__(
        self,
        client: KubernetesClient,
        limits: KubernetesLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._limits = limits or KubernetesLimits()
        self._clock = clock
        self._sleep = sleep
        self._lookup = Lookup(client, self._limits, clock, sleep)
        self._suspension = Suspension(client, self._lookup)
        self._drains = Drains(client, self._limits)

    def supports(self, action: Action) -> bool:
        """All but the end of packing."""
        return action is not Action.CANCEL_PACKING

    def job(self, job: str) -> JobView | None:
        """Return the state of a job in Kubernetes; None where it has no object (any more)."""
        with translated():
            found = self._lookup.find(job)
            return found.view() if found else None

    def nodes(self, _beside: str = "", /) -> list[NodeView]:
        """Return the state of all nodes in Kubernetes."""
        with translated():
            return [self._drains.view(node) for node in self._client.nodes()]

    def queue(self) -> Queue:
        """Return jobs that wait for a place, jobs that hold one, and what other pods leave free on the nodes."""
        with translated():
            jobs = [job for kind in KINDS for job in self._all_of(kind)]
            pods = self._client.list_all(Pod)[0]
            queued = self._all_of(QueuedWorkload)
            return queue_of(jobs, pods, self._client.nodes(), self._limits.pool_labels, queued)

    def restart(self, job: str, exclude_nodes: tuple[str, ...], key: str, checkpoint: str = "") -> JobView:
        """Make a new object like one that failed, its suspect nodes excluded besides those that it avoids already.

        Its containers find the checkpoint in `SCHEDMATE_CHECKPOINT`.
        """
        with translated():
            before = self._lookup.look(job, SchedulerJobState.FAILED)
            for node in exclude_nodes:
                self._client.node(node)
            for pinned in filter(None, map(pinned_nodes, pod_specs(before.owner))):
                if pinned <= set(exclude_nodes):
                    came = f"{job} asks for {','.join(sorted(pinned))} by name, which is suspect"
                    raise ActuatorError(
                        "a job that can run elsewhere", came, "nothing was done; submit it again without"
                    )
            found = self._replace(before, exclude_nodes, key, checkpoint)
        seen = found.view()
        missing = set(exclude_nodes) - set(seen.excluded)
        if missing or set(seen.nodes) & set(exclude_nodes):
            came = f"excluded: {seen.excluded}, nodes: {seen.nodes}"
            raise ActuatorError(f"{job} kept away from {sorted(exclude_nodes)}", came, found.where_to_look())
        return seen

    def evict(self, job: str, key: str, checkpoint: str = "", delay: float = 0.0) -> JobView:  # noqa: ARG002
        """Stop a running job; its own controller, or Kueue, starts it again.

        The pods of a batch/v1 Job are evicted through the eviction API, those of other kinds and of what Kueue admitted are stopped by
        their controllers. All pods are tried first (a dry run), so that a PodDisruptionBudget that forbids one protects the others, too.
        What runs cannot be changed, so it does not learn its checkpoint. Its pods are made again at once, whatever `delay` is:
        the scheduler gives a freed place to the pod of the highest priority.
        """
        with translated():
            before = self._lookup.look(job)
        evict = self._suspension.evict if is_suspended_by_fields(before) else self._evict_pods
        seen = evict(before, key)
        tell(self._client, seen.owner, Action.EVICT, key)
        return seen.view()

    def cancel(self, job: str, key: str) -> JobView:
        """End a running job for good. It stays, until somebody deletes it: a Job as one that passed its deadline."""
        with translated():
            before = self._lookup.look(job, SchedulerJobState.RUNNING)
        cancel = self._suspension.cancel if is_suspended_by_fields(before) else self._end
        seen = cancel(before, key)
        tell(self._client, seen.owner, Action.CANCEL, key)
        return seen.view()

    def hold(self, job: str, key: str) -> JobView:
        """Keep a job that waits from starting."""
        with translated():
            before = self._lookup.look(job, SchedulerJobState.PENDING)
        seen = self._suspension.hold(before, key)
        tell(self._client, seen.owner, Action.HOLD, key)
        return seen.view()

    def release(self, job: str, key: str) -> JobView:
        """Let a job go that was held."""
        with translated():
            before = self._lookup.look(job, SchedulerJobState.HELD)
        seen = self._suspension.release(before, key)
        tell(self._client, seen.owner, Action.RELEASE, key)
        return seen.view()

    def drain(self, node: str, reason: str, key: str) -> NodeView:
        """Cordon a node, and taint it so that the cordon is known for ours. What runs there goes on."""
        return self._drains.drain(node, reason, key)

    def undrain(self, node: str, key: str) -> NodeView:
        """Return a node to service that `drain` drained."""
        return self._drains.undrain(node, key)

    def describe(self, node: str) -> str:
        """Return what Kubernetes shows of a node and of the pods on it."""
        return self._drains.describe(node)

    def _evict_pods(self, before: Target, key: str) -> Target:
        """Evict the pods of a Job.

        The key is noted before the first eviction, the attempt after the last: an act that was cut off is not done again, and shows
        that its effect is not known.
        """
        job, owner = before.job, _job(before)
        if before.state is not SchedulerJobState.RUNNING:
            raise ActuatorError("a job that is running", f"{job} is {before.state}", "nothing was done")
        with translated():
            pods = present(before.pods)
            if not outlives_eviction(owner, len(pods)):
                came = f"backoffLimit {owner.spec.backoff_limit}, {owner.status.failed} pods failed, {len(pods)} run"
                remedy = "nothing was done; ignore DisruptionTarget in the first rule of its podFailurePolicy"
                raise ActuatorError(f"{job} to outlive its eviction", came, remedy)
            for pod in pods:
                self._client.evict(pod, dry_run=True)
            self._client.patch_workload(owner, _noted(before, key))
            self._evict_all(pods)
            attempt = present_attempt(owner) + 1
            self._client.patch_workload(owner, {"metadata": {"annotations": {ATTEMPT: str(attempt)}}})
        stopped = {pod.metadata.uid for pod in pods}
        seen = self._lookup.watch(job, lambda seen: not _any_left(seen, stopped))
        if _any_left(seen, stopped):
            raise ActuatorError(f"all pods of {job} gone", seen.state.value, seen.where_to_look())
        if seen.state in _OVER:
            raise ActuatorError(f"{job} in the queue once more", f"it is {seen.state}", "it ended meanwhile")
        return seen

    def _end(self, before: Target, key: str) -> Target:
        """Let a Job pass its deadline."""
        job = before.job
        with translated():
            self._client.patch_workload(_job(before), {**_noted(before, key), "spec": {"activeDeadlineSeconds": 1}})
        seen = self._lookup.watch(job, lambda seen: seen.state in _OVER)
        if seen.state is not SchedulerJobState.CANCELLED:
            expected = f"{job} over within {self._limits.stop_timeout:g} s"
            raise ActuatorError(expected, seen.state.value, seen.where_to_look())
        if (why := seen.owner.why) and why.reason != "DeadlineExceeded":
            raise ActuatorError(
                f"{job} ended by the bridge", f"it failed by itself ({why.reason})", "nothing is left to do"
            )
        return seen

    def _replace(self, before: Target, exclude_nodes: tuple[str, ...], key: str, checkpoint: str) -> Target:
        """Make the next attempt's object, and return it once its pods have nodes, or have waited for some."""
        owner, where = before.owner, _parse(before.job)
        attempt = present_attempt(owner) + 1
        name = successor_name(where.lineage, attempt)
        try:
            self._client.create_custom(owner.PLURAL, self._successor(before, exclude_nodes, key, checkpoint))
        except KubernetesConflict:
            if key not in acts_of(self._client.workload(type(owner), where.namespace, name)):
                raise ActuatorError(
                    f"no {owner.KIND} {name} yet", "somebody else made it", "nothing was done"
                ) from None
        made = self._client.workload(type(owner), where.namespace, name)
        if not self._lookup.is_still(owner):  # it was deleted meanwhile: its user wants no replacement
            self._client.delete_workload(made)
            raise ActuatorError(
                f"{before.job} to be there", "it was deleted meanwhile", f"its new {owner.KIND} was deleted, too"
            )
        tell(self._client, made, Action.RESTART, key)
        deadline = self._clock() + self._limits.settle
        while True:
            seen = self._lookup.target_of(before.job, self._client.workload(type(owner), where.namespace, name))
            placed = [pod for pod in seen.pods if pod.spec.node_name]
            if len(placed) >= max(1, wanted_pods(seen.owner)) or self._clock() >= deadline:
                return seen
            self._sleep(self._limits.poll)

    def _successor(self, before: Target, exclude: tuple[str, ...], key: str, checkpoint: str) -> dict[str, Any]:
        """Return the manifest of the next attempt's object."""
        owner, meta = before.owner, before.owner.metadata
        acts = add_key(meta.annotations.get(ACTS, ""), key)
        told = checkpoint if is_tellable(checkpoint) else ""
        raw = self._client.raw_workload(type(owner), meta.namespace, meta.name)
        made = successor(
            raw, type(owner), lineage_of(meta), present_attempt(owner) + 1, exclude=exclude, acts=acts, checkpoint=told
        )
        if is_queued(owner):  # it waits until Kueue admits it
            owner.suspend_manifest(made)
        return made

    def _evict_all(self, pods: list[Pod]) -> None:
        """Evict all pods of a job. A budget that forbids one after others have gone is asked again: half a job is none."""
        deadline = self._clock() + self._limits.stop_timeout
        for pod in pods:
            while True:
                try:
                    self._client.evict(pod)
                except (KubernetesNotFound, KubernetesConflict):  # it ended meanwhile, or another has its name
                    pass
                except KubernetesRefused:
                    if self._clock() >= deadline:
                        raise
                    self._sleep(self._limits.poll)
                    continue
                break

    def _all_of(self, kind: type[_Custom]) -> list[_Custom]:
        try:
            return self._client.list_all(kind)[0]
        except KubernetesNotFound:  # the cluster does not know the kind
            return []


def _noted(target: Target, key: str) -> dict[str, object]:
    acts = add_key(target.owner.metadata.annotations.get(ACTS, ""), key)
    return {"metadata": {"annotations": {ACTS: acts}}}


def _any_left(target: Target, uids: set[str]) -> bool:
    return any(pod.metadata.uid in uids and not pod.is_over for pod in target.pods)


def _job(target: Target) -> Job:
    assert isinstance(target.owner, Job)  # other kinds are stopped through their own fields
    return target.owner


def _parse(job: str) -> JobName:
    where = JobName.parse(job)
    assert where is not None  # its object was found by it
    return where
