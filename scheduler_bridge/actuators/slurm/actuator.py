"""What can be asked of Slurm, in the order of commands that was seen to work (Slurm 22.05).

A job is requeued *in hold*, changed while it waits, and then released: a job at rest cannot be changed, and a job requeued
without hold may start before the change. Every effect is looked up again afterwards.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from records import Action
from scheduler_bridge.actuators.base import ActuatorError, JobView, SchedulerAway, SchedulerJobState
from scheduler_clients.slurm import SlurmClient, SlurmError, SlurmJob, SlurmUnavailable, UnknownSlurmJob

from .jobs import state_of, view
from .settings import SlurmSettings

_STOPPED = (SchedulerJobState.FAILED, SchedulerJobState.COMPLETED, SchedulerJobState.CANCELLED)


class SlurmActuator:
    """Slurm as an `Actuator`. The user that runs it must be an operator or administrator of Slurm.

    Args:
        client: Slurm.
        settings: Time limits.
        clock: Seconds that only grow.
        sleep: Waits for so many seconds.
    """

    name = "slurm"

    def __init__(
        self,
        client: SlurmClient | None = None,
        settings: SlurmSettings | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client or SlurmClient()
        self._settings = settings or SlurmSettings()
        self._clock = clock
        self._sleep = sleep

    def supports(self, action: Action) -> bool:
        """Slurm can do all that decisions ask for."""
        return action in (Action.RESTART, Action.CANCEL_PACKING, Action.EVICT)

    def job(self, job: str) -> JobView | None:
        """Return what Slurm says of a job; None where it does not know it, or forgot it (MinJobAge)."""
        with _translated():
            try:
                return self._view(job, self._client.job(job))
            except UnknownSlurmJob:
                return None

    def restart(self, job: str, exclude_nodes: tuple[str, ...]) -> JobView:
        """Requeue a stopped job, its suspect nodes excluded besides those that it excludes already."""
        before = self._look(job)
        if state_of(before) not in _STOPPED:
            raise ActuatorError("a job that has stopped", f"{job} is {before.state}", "nothing was done")
        if not before.requeue:  # Slurm changes Requeue only while a job is not finished
            raise ActuatorError("a job that may be requeued", f"{job} has Requeue=0", "submit it again, with --requeue")
        for node in exclude_nodes:
            with _translated():
                self._client.check_node(node)
        if wanted := set(exclude_nodes) & set(before.required_nodes):
            came = f"{job} asks for {','.join(before.required_nodes)} by name, and {sorted(wanted)} is suspect"
            raise ActuatorError("a job that can run elsewhere", came, "nothing was done; submit it again without")
        excluded = ",".join((*before.excluded_nodes, *exclude_nodes))
        gone = set(before.nodes) <= set(exclude_nodes)
        seen = self._requeue(job, before, {"ExcNodeList": excluded} if exclude_nodes else {}, rest=not gone)
        missing = set(exclude_nodes) - set(seen.excluded)
        if missing:
            raise ActuatorError(f"{job} kept away from {sorted(missing)}", f"excluded: {seen.excluded}", _look_at(job))
        return seen

    def cancel_packing(self, job: str) -> JobView:
        """Requeue a running job that asks for shards, asking for all shards of a GPU from now on."""
        before = self._look(job)
        whole = self._shards_of_a_gpu()
        if state_of(before) is not SchedulerJobState.RUNNING:
            raise ActuatorError("a running job", f"{job} is {before.state}", "nothing was done")
        if not before.shards_per_node or not whole:
            came = f"{job} asks for {before.tres_per_node or 'no GPU'}, a GPU has {whole} shards"
            raise ActuatorError("a job packed by shards of a GPU", came, "nothing was done; pack with --gres=shard:N")
        shards = max(whole, before.shards_per_node)
        seen = self._requeue(job, before, {"TresPerNode": before.with_shards(shards)})
        if not seen.alone:
            raise ActuatorError(f"{job} to ask for a whole GPU", f"{seen.seen()}", _look_at(job))
        return seen

    def evict(self, job: str) -> JobView:
        """Requeue a running job."""
        before = self._look(job)
        if state_of(before) is not SchedulerJobState.RUNNING:
            raise ActuatorError("a running job", f"{job} is {before.state}", "nothing was done")
        return self._requeue(job, before, {})

    def _requeue(self, job: str, before: SlurmJob, changes: Mapping[str, str], rest: bool = True) -> JobView:
        """Requeue in hold, change, release, and return what Slurm then shows. `rest`: it may return to a node it just left."""
        pause = self._settings.rest if rest else 0
        limit = self._settings.stop_timeout
        with _translated():
            if (
                not before.requeue
            ):  # submitted with --no-requeue, or JobRequeue=0: Slurm would refuse, and the job be lost
                self._client.update_job(job, {"Requeue": "1"})
            self._client.requeue_hold(job)
            held = self._watch(job, lambda seen: state_of(seen) is SchedulerJobState.HELD, limit)
            if state_of(held) is not SchedulerJobState.HELD:
                raise ActuatorError(f"{job} queued and held within {limit:g} s", held.state, _look_at(job))
            # Requeueing sets a start time some two minutes ahead; the update must come after the job is at rest.
            self._client.update_job(job, {"StartTime": f"now+{pause}", **changes})
            self._client.release(job)
            after = self._watch(job, _has_settled, self._settings.settle + pause)
        came = f"{after.state} ({after.reason}), restart count {after.restarts}"
        if after.reason == "BadConstraints":
            remedy = f"no node is left for it: `scontrol update JobId={job} ExcNodeList=` and `scontrol release {job}`"
            raise ActuatorError(f"{job} able to start somewhere", came, remedy)
        if after.held or after.restarts <= before.restarts:
            raise ActuatorError(f"{job} in the queue once more", came, _look_at(job))
        return self._view(job, after)

    def _watch(self, job: str, reached: Callable[[SlurmJob], bool], seconds: float) -> SlurmJob:
        """Look until the job is as wanted, or `seconds` have passed; return the last look."""
        deadline = self._clock() + seconds
        while not reached(seen := self._look(job)) and self._clock() < deadline:
            self._sleep(self._settings.poll)
        return seen

    def _look(self, job: str) -> SlurmJob:
        with _translated():
            return self._client.job(job)

    def _view(self, job: str, seen: SlurmJob) -> JobView:
        return view(job, seen, self._shards_of_a_gpu())

    def _shards_of_a_gpu(self) -> int:
        with _translated():
            return self._settings.shards_per_gpu or self._client.shards_per_gpu()


@contextmanager
def _translated() -> Iterator[None]:
    """Raise Slurm's errors as those of an actuator."""
    try:
        yield
    except SlurmUnavailable as error:
        raise SchedulerAway(error.expected, error.came, error.remedy) from error
    except SlurmError as error:
        raise ActuatorError(error.expected, error.came, error.remedy) from error


def _has_settled(seen: SlurmJob) -> bool:
    """True once the job runs (or ran already), or never will."""
    return state_of(seen) not in (SchedulerJobState.PENDING, SchedulerJobState.HELD) or seen.reason == "BadConstraints"


def _look_at(job: str) -> str:
    return f"see `scontrol show job {job}`; if it is held, `scontrol release {job}` lets it go"
