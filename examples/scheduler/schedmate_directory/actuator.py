"""The actuator: restarts and evicts jobs."""

import time
from pathlib import Path

import msgspec

from schedmate_records import Action
from scheduler_bridge.act_keys import add_key, read_keys
from scheduler_bridge.schedulers import Actuator, ActuatorError, JobView, SchedulerJobState, translated

from .jobs import DirectoryJob, JobDirectory


class DirectoryActuator(Actuator):
    """Acts on jobs by writing their files.

    Args:
        path: The directory.
    """

    name = "directory"

    def __init__(self, path: Path) -> None:
        self._jobs = JobDirectory(path)

    def supports(self, action: Action) -> bool:
        """Return whether the action is a restart or an eviction."""
        return action in (Action.RESTART, Action.EVICT)

    def job(self, job: str) -> JobView | None:
        """Return the view of a job."""
        with translated():
            found = self._jobs.read(job)
        return _view(job, found) if found else None

    def restart(self, job: str, exclude_nodes: tuple[str, ...], key: str, checkpoint: str = "") -> JobView:
        """Queue a failed job again, and exclude some nodes."""
        return self._queue(job, exclude_nodes, SchedulerJobState.FAILED, key, checkpoint)

    def evict(self, job: str, key: str, checkpoint: str = "", delay: float = 0.0) -> JobView:
        """Queue a running job again."""
        return self._queue(job, (), SchedulerJobState.RUNNING, key, checkpoint, time.time() + delay)

    def _queue(
        self,
        job: str,
        exclude: tuple[str, ...],
        state: SchedulerJobState,
        key: str,
        checkpoint: str,
        not_before: float = 0.0,
    ) -> JobView:
        with translated():
            found = self._jobs.read(job)
        if found is None:
            raise ActuatorError(f"a file of job {job[:80]!r}", "there is none", "nothing was done")
        before = _view(job, found)
        if key in before.acts:  # an earlier call with this key was interrupted after its effect
            return before
        if before.state is not state:
            raise ActuatorError(f"job {job} {state}", f"it is {before.state}", "nothing was done")
        queued = msgspec.structs.replace(
            found,
            state=SchedulerJobState.PENDING,
            attempt=found.attempt + 1,
            nodes=[],
            excluded=[*found.excluded, *exclude],
            comment=add_key(found.comment, key),  # the bridge finds it here should Kafka lose its topics
            checkpoint=checkpoint,
            not_before=not_before,
            exit_code=None,
        )
        with translated():
            self._jobs.write(job, queued)
        after = self.job(job)  # the effect is what the scheduler shows
        if after is None or key not in after.acts or not set(exclude) <= set(after.excluded):
            raise ActuatorError(f"job {job} in the queue, without {exclude}", f"{after}", "look at its file")
        return after


def _view(job: str, found: DirectoryJob) -> JobView:
    return JobView(
        job=job,
        state=found.state,
        attempt=found.attempt,
        nodes=tuple(found.nodes),
        excluded=tuple(found.excluded),
        user=found.user,
        acts=read_keys(found.comment),
    )
