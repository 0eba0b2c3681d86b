"""Acts that stop jobs and let them go again. A batch/v1 Job outside Kueue's queues is evicted and ended in another way (see `actuator`).

Their own controller stops them, through their own fields: a Job's backoffLimit or a JobSet's maxRestarts is not spent. What
Kueue admits is suspended through Kueue alone; the bridge never resumes what Kueue suspended. An order that no controller took in time
is withdrawn: it must not be obeyed long after it was reported as failed.
"""

import contextlib
from collections.abc import Mapping
from typing import Any, Literal

from ....act_keys import add_key
from ...errors import ActuatorError, translated
from ...views import SchedulerJobState
from ..client.attempts import is_resumed, present_attempt
from ..client.client import KubernetesClient
from ..client.errors import KubernetesConflict, KubernetesNotFound
from ..client.lineage import ACTS, ATTEMPT, STOPPED_FOR
from ..client.workloads.batch_job import Job
from ..client.workloads.kind import Order, Patch, WorkloadObject
from ..client.workloads.kueue import QueuedWorkload
from .jobs import present
from .lookup import Lookup, Target
from .owners import is_queued

_OVER = (SchedulerJobState.FAILED, SchedulerJobState.COMPLETED, SchedulerJobState.CANCELLED)
_AT_REST = (SchedulerJobState.HELD, SchedulerJobState.STOPPING)


def is_suspended_by_fields(target: Target) -> bool:
    """True for a job that is evicted and ended through the fields that suspend it."""
    return not isinstance(target.owner, Job) or is_queued(target.owner)


class Suspension:
    """Stops jobs and lets them go."""

    def __init__(self, client: KubernetesClient, lookup: Lookup) -> None:
        self._client = client
        self._lookup = lookup

    def evict(self, before: Target, key: str) -> Target:
        """Stop a running job, and let it go once its pods are gone.

        The key is noted with what stops the job, the attempt with what lets it go. A call that is made again with the same key after
        one was cut off goes on where that one stopped.
        """
        job, order = before.job, None
        if not _was_stopped_by(before, key):
            _expect(before, SchedulerJobState.RUNNING)
            _expect_to_resume(before)
            with translated():
                for pod in present(before.pods):
                    self._client.evict(pod, dry_run=True)  # a PodDisruptionBudget that forbids one leaves all alone
                order = self._tell(before, "stop", key, {STOPPED_FOR: key})
        # Job and pods are two answers: pods that are gone before the job is known to be stopped look like a job that waits.
        rests = (SchedulerJobState.HELD, *_OVER)
        stopped = self._lookup.watch(job, lambda seen: seen.state in rests)
        if stopped.state not in rests:
            self._withdraw(before, order)
        if stopped.state in _OVER:
            raise ActuatorError(f"{job} in the queue once more", f"it is {stopped.state}", "it ended meanwhile")
        if stopped.state is SchedulerJobState.HELD:
            notes: dict[str, str | None] = {}
            if stopped.owner.metadata.annotations.get(STOPPED_FOR) == key:
                notes = {STOPPED_FOR: None, ATTEMPT: str(present_attempt(stopped.owner) + 1)}
            with translated():
                self._tell(stopped, "resume", key, notes)
        seen = self._lookup.watch(job, lambda seen: seen.state not in _AT_REST)
        if seen.state in _AT_REST or STOPPED_FOR in seen.owner.metadata.annotations:
            raise ActuatorError(f"{job} in the queue once more", seen.view().word, seen.where_to_look())
        return seen

    def cancel(self, before: Target, key: str) -> Target:
        """End a running job. It stays; a kind that has no order for it stays suspended, until a person resumes or deletes it."""
        _expect(before, SchedulerJobState.RUNNING)
        with translated():
            # Until it has stopped: what is not suspended afterwards, a person has let go.
            order = self._tell(before, "end", key, {STOPPED_FOR: key})
        seen = self._lookup.watch(before.job, lambda seen: seen.state in _OVER)
        if seen.state not in _OVER:
            self._withdraw(before, order)
            raise ActuatorError(f"{before.job} over", seen.view().word, seen.where_to_look())
        if seen.state is not SchedulerJobState.CANCELLED:
            raise ActuatorError(f"{before.job} ended by the bridge", f"it is {seen.state}", "it ended by itself")
        with translated():
            self._note(seen.owner, {STOPPED_FOR: None})
        return seen

    def hold(self, before: Target, key: str) -> Target:
        """Stop a job that waits."""
        _expect(before, SchedulerJobState.PENDING)
        _expect_to_resume(before)
        with translated():
            order = self._tell(before, "stop", key)
        waits = (SchedulerJobState.PENDING, SchedulerJobState.STOPPING)
        seen = self._lookup.watch(before.job, lambda seen: seen.state not in waits)
        if seen.state is not SchedulerJobState.HELD:
            self._withdraw(before, order)
            raise ActuatorError(f"{before.job} held", seen.view().word, seen.where_to_look())
        return seen

    def release(self, before: Target, key: str) -> Target:
        """Let go what was held."""
        _expect(before, SchedulerJobState.HELD)
        with translated():
            order = self._tell(before, "resume", key, {STOPPED_FOR: None})
        seen = self._lookup.watch(before.job, lambda seen: seen.state not in _AT_REST)
        if seen.state in _AT_REST:
            self._withdraw(before, order)
            raise ActuatorError(f"{before.job} released", seen.view().word, seen.where_to_look())
        return seen

    def _tell(
        self,
        target: Target,
        what: Literal["stop", "resume", "end"],
        key: str,
        notes: dict[str, str | None] | None = None,
    ) -> Order | None:
        """Note an act on the job, and order its controller to carry it out: in one patch where that is a field of the job.

        Returns the order that was given; None where fields suffice.
        """
        owner, told = target.owner, _patched_object(target)
        change: Patch = {"stop": told.stop, "resume": told.resume, "end": told.end}[what](key)
        acts = add_key(owner.metadata.annotations.get(ACTS, ""), key)
        resumed = {ATTEMPT: str(present_attempt(owner))} if is_resumed(owner) else {}  # the new key hides that it was
        own = change.patch if told is owner else {}
        self._note(owner, {ACTS: acts, **resumed, **(notes or {})}, own)
        if change.patch and told is not owner:
            self._client.patch_workload(told, change.patch)
        if change.order:
            with contextlib.suppress(KubernetesConflict):  # it was given already, and has not been taken yet
                self._client.create_custom(*change.order)
        return change.order

    def _withdraw(self, before: Target, order: Order | None) -> None:
        """Take an order back that no controller took in time, and with it the note of the act; raises `ActuatorError` where it was."""
        if order is None:
            return
        notes = before.owner.metadata.annotations
        with translated():
            try:
                self._client.delete_custom(*order)
            except KubernetesNotFound:  # it was taken meanwhile
                return
            self._note(before.owner, {name: notes.get(name) for name in (ACTS, STOPPED_FOR)})
        came = "its controller did not take the order in time"
        raise ActuatorError(f"{before.job} changed by its controller", came, "it was withdrawn; nothing was done")

    def _note(
        self, owner: WorkloadObject, notes: Mapping[str, str | None], fields: Mapping[str, Any] | None = None
    ) -> None:
        """Write annotations on a job, with fields of its own in the same patch."""
        patch = {"metadata": {"annotations": dict(notes)}, **(fields or {})}
        self._client.patch_workload(owner, patch)


def _was_stopped_by(target: Target, key: str) -> bool:
    """True where an act that was cut off has stopped the job already."""
    return target.state in _AT_REST and target.acts[-1:] == (key,)


def _patched_object(target: Target) -> WorkloadObject | QueuedWorkload:
    if not is_queued(target.owner):
        return target.owner
    if target.queued is None:
        raise ActuatorError(f"a Workload of {target.job}", "Kueue has made none yet", "nothing was done")
    return target.queued


def _expect(target: Target, state: SchedulerJobState) -> None:
    if target.state is not state:
        raise ActuatorError(f"a job that is {state}", f"{target.job} is {target.state}", "nothing was done")


def _expect_to_resume(target: Target) -> None:
    if not _patched_object(target).may_resume:
        came = f"{target.job} was started again so often already that its controller would give it up"
        raise ActuatorError("a job that comes back after it was stopped", came, "nothing was done; raise its maxRetry")
