"""What can be asked of Kubernetes about jobs and nodes.

An object is changed only as long as it is the one that was looked at: patches of Jobs and evictions carry its uid, patches of nodes
its resource version. Every effect is looked up again afterwards, and written on the object as an Event.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog

from records import Action
from scheduler_bridge.act_keys import add_key
from scheduler_bridge.actuators.base import (
    Actuator,
    ActuatorError,
    JobView,
    NodeView,
    SchedulerAway,
    SchedulerJobState,
)
from scheduler_bridge.actuators.queue import Queue
from scheduler_bridge.checkpoint_note import is_tellable
from scheduler_clients.kubernetes import (
    ACTS,
    ATTEMPT,
    LINEAGE,
    Job,
    JobName,
    KubernetesClient,
    KubernetesConflict,
    KubernetesError,
    KubernetesNotFound,
    KubernetesRefused,
    KubernetesUnavailable,
    Node,
    Pod,
    Taint,
    attempt_of,
    pinned_nodes,
)

from .jobs import acts_of, outlives_eviction, present, state_of, view
from .nodes import DRAINED_BY, TAINT, drained_by, in_service, node_view, taints
from .owners import is_queued, ruler_of
from .queue import queue_of
from .settings import KubernetesLimits
from .successor import successor, successor_name

log = structlog.get_logger(__name__)

_SUPPORTED = frozenset(Action) - {Action.CANCEL_PACKING}
_OVER = (SchedulerJobState.FAILED, SchedulerJobState.COMPLETED, SchedulerJobState.CANCELLED)
_BY_NAME = "batch.kubernetes.io/job-name"
_RETRIES = 5
"""Times that a node is looked at again because somebody changed it between our look and our patch."""


class KubernetesActuator(Actuator):
    """Kubernetes as an `Actuator`. docs/kubernetes.md lists the rights that it needs.

    Jobs are named `NAMESPACE/LINEAGE` (see `scheduler_clients.kubernetes.lineage`). Pods are never shared between jobs, so there is
    no packing to cancel, and no signal to send: a pod gets SIGTERM and its terminationGracePeriodSeconds when it is evicted.

    Args:
        client: The cluster.
        limits: Time limits.
        clock: Seconds that only grow.
        sleep: Waits for so many seconds.
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

    def supports(self, action: Action) -> bool:
        """All but the end of packing."""
        return action in _SUPPORTED

    def job(self, job: str) -> JobView | None:
        """Return what Kubernetes says of a job; None where there is no Job of it (any more)."""
        with _translated():
            found = self._newest(job)
            return view(job, found, self._pods(found)) if found else None

    def nodes(self, _beside: str = "", /) -> list[NodeView]:
        """Return what Kubernetes says of all nodes."""
        with _translated():
            return [self._node_view(node) for node in self._client.nodes()]

    def queue(self) -> Queue:
        """Return Jobs that wait for a place, Jobs that hold one, and what the nodes have beside all other pods."""
        with _translated():
            jobs, pods = self._client.list_all(Job)[0], self._client.list_all(Pod)[0]
            return queue_of(jobs, pods, self._client.nodes(), self._limits.pool_labels)

    def restart(self, job: str, exclude_nodes: tuple[str, ...], key: str, checkpoint: str = "") -> JobView:
        """Make a new Job like one that failed, its suspect nodes excluded besides those that it avoids already.

        Its containers find the checkpoint in `SCHEDMATE_CHECKPOINT`.
        """
        with _translated():
            before = self._look(job, SchedulerJobState.FAILED)
            for node in exclude_nodes:
                self._client.node(node)
            pinned = pinned_nodes(before.spec.template.spec)
            if pinned and pinned <= set(exclude_nodes):
                came = f"{job} asks for {','.join(sorted(pinned))} by name, which is suspect"
                raise ActuatorError("a job that can run elsewhere", came, "nothing was done; submit it again without")
            seen = self._replace(job, before, exclude_nodes, key, checkpoint)
        missing = set(exclude_nodes) - set(seen.excluded)
        if missing or set(seen.nodes) & set(exclude_nodes):
            came = f"excluded: {seen.excluded}, nodes: {seen.nodes}"
            raise ActuatorError(f"{job} kept away from {sorted(exclude_nodes)}", came, _look_at(job))
        return seen

    def evict(self, job: str, key: str, checkpoint: str = "", delay: float = 0.0) -> JobView:  # noqa: ARG002
        """Evict the pods of a running job through the eviction API; its Job starts them again.

        All pods are tried first (a dry run), so that a PodDisruptionBudget that forbids one leaves the others alone. A running
        Job's pods cannot be changed, so it is not told its checkpoint; and they are made again at once, whatever `delay` is: the
        scheduler gives a freed place to the pod of the highest priority.

        The key is noted before the first eviction, the attempt after the last: an act that was cut off is not done again, and shows
        that its effect is not known.
        """
        with _translated():
            before = self._look(job, SchedulerJobState.RUNNING)
            pods = present(self._pods(before))
            if not outlives_eviction(before, len(pods)):
                came = f"backoffLimit {before.spec.backoff_limit}, {before.status.failed} pods failed, {len(pods)} run"
                remedy = "nothing was done; ignore DisruptionTarget in the first rule of its podFailurePolicy"
                raise ActuatorError(f"{job} to outlive its eviction", came, remedy)
            for pod in pods:
                self._client.evict(pod, dry_run=True)
            self._client.patch_job(before, _noted(before, key))
            self._evict_all(pods)
            attempt = attempt_of(before.metadata) + 1
            self._client.patch_job(before, {"metadata": {"annotations": {ATTEMPT: str(attempt)}}})
        stopped = {pod.metadata.uid for pod in pods}
        seen, left = self._watch(
            job, lambda _, left: not any(pod.metadata.uid in stopped and not pod.over for pod in left)
        )
        if any(pod.metadata.uid in stopped and not pod.over for pod in left):
            raise ActuatorError(f"all pods of {job} gone", state_of(seen, left).value, _look_at(job))
        if (state := state_of(seen, left)) in _OVER:
            raise ActuatorError(f"{job} in the queue once more", f"it is {state}", "it ended meanwhile")
        self._tell(seen, Action.EVICT, key)
        return view(job, seen, left)

    def cancel(self, job: str, key: str) -> JobView:
        """End a running job for good. Its Job stays, as one that passed its deadline, until somebody deletes it."""
        with _translated():
            before = self._look(job, SchedulerJobState.RUNNING)
            self._client.patch_job(before, {**_noted(before, key), "spec": {"activeDeadlineSeconds": 1}})
        seen, pods = self._watch(job, lambda seen, left: state_of(seen, left) in _OVER)
        if (state := state_of(seen, pods)) is not SchedulerJobState.CANCELLED:
            raise ActuatorError(f"{job} over within {self._limits.stop_timeout:g} s", state.value, _look_at(job))
        if (why := seen.condition("Failed")) and why.reason != "DeadlineExceeded":
            raise ActuatorError(
                f"{job} ended by the bridge", f"it failed by itself ({why.reason})", "nothing is left to do"
            )
        self._tell(seen, Action.CANCEL, key)
        return view(job, seen, pods)

    def hold(self, job: str, key: str) -> JobView:
        """Suspend a job that waits."""
        with _translated():
            before = self._suspendable(job, SchedulerJobState.PENDING)
            self._client.patch_job(before, {**_noted(before, key), "spec": {"suspend": True}})
        seen, pods = self._watch(job, lambda seen, left: state_of(seen, left) is not SchedulerJobState.STOPPING)
        if (state := state_of(seen, pods)) is not SchedulerJobState.HELD:
            raise ActuatorError(f"{job} suspended", state.value, _look_at(job))
        self._tell(seen, Action.HOLD, key)
        return view(job, seen, pods)

    def release(self, job: str, key: str) -> JobView:
        """Resume a suspended job."""
        with _translated():
            before = self._suspendable(job, SchedulerJobState.HELD)
            seen = self._client.patch_job(before, {**_noted(before, key), "spec": {"suspend": False}})
            pods = self._pods(seen)
        if (state := state_of(seen, pods)) is SchedulerJobState.HELD:
            raise ActuatorError(f"{job} resumed", state.value, _look_at(job))
        self._tell(seen, Action.RELEASE, key)
        return view(job, seen, pods)

    def drain(self, node: str, reason: str, key: str) -> NodeView:
        """Cordon a node, and taint it so that the cordon is known for ours. What runs there goes on."""

        def drained(before: Node) -> dict[str, object]:
            if not in_service(before):
                came = f"{node} is {self._node_view(before).word}"
                raise ActuatorError("a node in service", came, "nothing was done")
            acts = add_key(before.metadata.annotations.get(ACTS, ""), key)
            notes = {ACTS: acts, DRAINED_BY: f"schedmate:{key} {reason}"}
            # One patch: never a cordon without its key.
            ours = Taint(key=TAINT, value=key.partition("/")[2], effect="NoSchedule")
            return {"metadata": {"annotations": notes}, "spec": {"unschedulable": True, "taints": taints(before, ours)}}

        seen = self._change_node(node, drained)
        if drained_by(seen) != key:
            raise ActuatorError(f"{node} drained", self._node_view(seen).word, f"see `kubectl describe node {node}`")
        self._tell(seen, Action.DRAIN, key)
        return self._node_view(seen)

    def undrain(self, node: str, key: str) -> NodeView:
        """Return a node to service that `drain` drained."""

        def returned(before: Node) -> dict[str, object]:
            if not drained_by(before):
                came = f"{node} is {self._node_view(before).word}"
                raise ActuatorError("a node that the bridge drained", came, "nothing was done; uncordon it by hand")
            acts = add_key(before.metadata.annotations.get(ACTS, ""), key)
            notes = {ACTS: acts, DRAINED_BY: None}
            return {"metadata": {"annotations": notes}, "spec": {"unschedulable": None, "taints": taints(before, None)}}

        seen = self._change_node(node, returned)
        if not in_service(seen):
            raise ActuatorError(f"{node} in service", self._node_view(seen).word, f"see `kubectl describe node {node}`")
        self._tell(seen, Action.UNDRAIN, key)
        return self._node_view(seen)

    def _replace(self, job: str, before: Job, exclude_nodes: tuple[str, ...], key: str, checkpoint: str) -> JobView:
        """Make the next attempt's Job, and return it once its pods have nodes, or have waited for some."""
        where = _parse(job)
        attempt = attempt_of(before.metadata) + 1
        acts = add_key(before.metadata.annotations.get(ACTS, ""), key)
        name = successor_name(where.lineage, attempt)
        raw = self._client.raw_job(where.namespace, before.metadata.name)
        try:
            told = checkpoint if is_tellable(checkpoint) else ""
            made = self._client.create_job(
                where.namespace, successor(raw, where.lineage, attempt, exclude_nodes, acts, checkpoint=told)
            )
        except KubernetesConflict:
            made = self._client.job(where.namespace, name)
            if key not in acts_of(made):
                raise ActuatorError(f"no Job {name} yet", "somebody else made it", "nothing was done") from None
        if not self._is_still(before):  # whoever deleted the Job meanwhile wants none in its place
            self._client.delete_job(made)
            raise ActuatorError(f"{job} to be there", "it was deleted meanwhile", "its new Job was deleted, too")
        self._tell(made, Action.RESTART, key)
        deadline = self._clock() + self._limits.settle
        while True:
            seen = self._client.job(where.namespace, name)
            pods = self._pods(seen)
            placed = [pod for pod in pods if pod.spec.node_name]
            if len(placed) >= max(1, seen.spec.parallelism) or self._clock() >= deadline:
                return view(job, seen, pods)
            self._sleep(self._limits.poll)

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

    def _newest(self, job: str) -> Job | None:
        """Return the Job that is the present attempt of a job."""
        where = JobName.parse(job)
        if where is None:
            return None
        found = []
        if where.lineage.replace("-", "").replace(".", "").isalnum():  # all that a name, and a selector, may hold
            found = self._client.jobs(where.namespace, f"{LINEAGE}={where.lineage}")
        try:
            first = self._client.job(where.namespace, where.lineage)
            found += [] if first.metadata.labels.get(LINEAGE) else [first]
        except KubernetesNotFound:
            pass
        return max(found, key=_age, default=None)

    def _look(self, job: str, state: SchedulerJobState | None = None) -> Job:
        """Return the present Job of a job; raises `ActuatorError` where it is not in `state`, or another controller rules it."""
        found = self._newest(job)
        if found is None:
            raise ActuatorError("a job that Kubernetes knows", repr(job[:80]), "name jobs as NAMESPACE/NAME")
        if ruler := ruler_of(found):
            came = f"{job} belongs to {ruler.name}: {ruler.why}"
            raise ActuatorError("a Job that nobody else restarts", came, "nothing was done")
        if state is not None and (seen := state_of(found, self._pods(found))) is not state:
            raise ActuatorError(f"a job that is {state}", f"{job} is {seen}", "nothing was done")
        return found

    def _suspendable(self, job: str, state: SchedulerJobState) -> Job:
        found = self._look(job, state)
        if is_queued(found.metadata):
            raise ActuatorError("a Job that may be suspended", f"Kueue rules {job}", "nothing was done; use Kueue")
        return found

    def _watch(self, job: str, reached: Callable[[Job, list[Pod]], bool]) -> tuple[Job, list[Pod]]:
        """Look until the job is as wanted, or `stop_timeout` has passed; return the last look."""
        deadline = self._clock() + self._limits.stop_timeout
        while True:
            with _translated():
                seen = self._look(job)
                pods = self._pods(seen)
            if reached(seen, pods) or self._clock() >= deadline:
                return seen, pods
            self._sleep(self._limits.poll)

    def _is_still(self, job: Job) -> bool:
        try:
            now = self._client.job(job.metadata.namespace, job.metadata.name)
        except KubernetesNotFound:
            return False
        return now.metadata.uid == job.metadata.uid and now.metadata.deletion_timestamp is None

    def _pods(self, job: Job) -> list[Pod]:
        return self._client.pods(job.metadata.namespace, f"{_BY_NAME}={job.metadata.name}")

    def _change_node(self, name: str, change: Callable[[Node], dict[str, object]]) -> Node:
        """Change a node as `change` says of its present state, and return it as it is afterwards."""
        with _translated():
            for _ in range(_RETRIES):
                before = self._client.node(name)
                try:
                    self._client.patch_node(before, change(before))
                except KubernetesConflict:
                    continue
                return self._client.node(name)
        raise ActuatorError(f"{name} to be changed", "others change it all the time", "it is tried again")

    def _node_view(self, node: Node) -> NodeView:
        pods = [] if in_service(node) else self._client.pods_on(node.metadata.name)
        return node_view(node, pods, self._limits.pool_labels)

    def _tell(self, about: Job | Node, action: Action, key: str) -> None:
        """Write an Event. What was done stands without it."""
        try:
            reason = "".join(word.capitalize() for word in action.value.split("_"))
            self._client.tell(about, f"SchedMate{reason}", f"The SchedMate bridge carried out {key}.")
        except KubernetesError as error:
            log.warning("event_not_written", name=about.metadata.name, error=str(error))


@contextmanager
def _translated() -> Iterator[None]:
    """Raise Kubernetes' errors as those of an actuator."""
    try:
        yield
    except KubernetesUnavailable as error:
        raise SchedulerAway(error.expected, error.came, error.remedy) from error
    except KubernetesError as error:
        raise ActuatorError(error.expected, error.came, error.remedy) from error


def _noted(job: Job, key: str, others: dict[str, str] | None = None) -> dict[str, object]:
    acts = add_key(job.metadata.annotations.get(ACTS, ""), key)
    return {"metadata": {"annotations": {ACTS: acts, **(others or {})}}}


def _parse(job: str) -> JobName:
    where = JobName.parse(job)
    assert where is not None  # `_look` found its Job by it
    return where


def _age(job: Job) -> tuple[float, int]:
    made = job.metadata.creation_timestamp
    return (made.timestamp() if made else 0.0, attempt_of(job.metadata))


def _look_at(job: str) -> str:
    namespace, _, name = job.partition("/")
    return f"see `kubectl -n {namespace} describe job {name}`"
