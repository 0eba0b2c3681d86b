"""What can be asked of Slurm, in the order of commands that was seen to work (Slurm 22.05).

A job is requeued *in hold*, changed while it waits, and then released: a job at rest cannot be changed, and a job requeued
without hold may start before the change. Every effect is looked up again afterwards.
"""

import re
import time
from collections.abc import Callable

import structlog

from records import Action
from scheduler_bridge.actuators.base import ActuatorError, JobState, JobView

from .commands import SlurmSettings, UnknownJob, call, checked_job, checked_node
from .jobs import SlurmJob, parse

log = structlog.get_logger(__name__)

_STOPPED = (JobState.FAILED, JobState.COMPLETED, JobState.CANCELLED)
_GRES = re.compile(r" Gres=(\S*)")
_COUNT = re.compile(r"(?:^|,)(gpu|shard)(?::[A-Za-z][^:,(]*)?:([0-9]+)")


class SlurmActuator:
    """Slurm's command line as an `Actuator`. The user that runs it must be an operator or administrator of Slurm."""

    name = "slurm"

    def __init__(
        self,
        settings: SlurmSettings | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings = settings or SlurmSettings()
        self._clock = clock
        self._sleep = sleep
        self._whole_gpu = self._settings.shards_per_gpu

    def supports(self, action: Action) -> bool:
        """Slurm can do all that decisions ask for."""
        return action in (Action.RESTART, Action.CANCEL_PACKING, Action.EVICT)

    def job(self, job: str) -> JobView | None:
        """Return what Slurm says of a job; None where it does not know it, or forgot it (MinJobAge)."""
        try:
            return self._view(self._look(job))
        except UnknownJob:
            return None

    def restart(self, job: str, exclude_nodes: tuple[str, ...]) -> JobView:
        """Requeue a stopped job, its suspect nodes excluded besides those that it excludes already."""
        before = self._look(job)
        if before.state not in _STOPPED:
            raise ActuatorError("a job that has stopped", f"{job} is {before.word}", "nothing was done")
        if not before.requeue:  # Slurm changes Requeue only while a job is not finished
            raise ActuatorError("a job that may be requeued", f"{job} has Requeue=0", "submit it again, with --requeue")
        for node in exclude_nodes:
            self._call("scontrol", "show", "node", checked_node(node))
        if wanted := set(exclude_nodes) & set(self._hosts(before.required)):
            came = f"{job} asks for {before.required} by name, and {sorted(wanted)} is suspect"
            raise ActuatorError("a job that can run elsewhere", came, "nothing was done; submit it again without")
        excluded = ",".join([before.excluded] * bool(before.excluded) + list(exclude_nodes))
        gone = set(self._hosts(before.node_list)) <= set(exclude_nodes)
        view = self._requeue(before, [f"ExcNodeList={excluded}"] if exclude_nodes else [], rest=not gone)
        missing = set(exclude_nodes) - set(view.excluded)
        if missing:
            raise ActuatorError(f"{job} kept away from {sorted(missing)}", f"excluded: {view.excluded}", _look_at(job))
        return view

    def cancel_packing(self, job: str) -> JobView:
        """Requeue a running job that asks for shards, asking for all shards of a GPU from now on."""
        before = self._look(job)
        whole = self._shards_of_a_gpu()
        if before.state is not JobState.RUNNING:
            raise ActuatorError("a running job", f"{job} is {before.word}", "nothing was done")
        if not before.shards or not whole:
            came = f"{job} asks for {before.tres_per_node or 'no GPU'}, a GPU has {whole} shards"
            raise ActuatorError("a job packed by shards of a GPU", came, "nothing was done; pack with --gres=shard:N")
        view = self._requeue(before, [f"TresPerNode={before.with_shards(max(whole, before.shards))}"])
        if not view.alone:
            raise ActuatorError(f"{job} to ask for a whole GPU", f"{view.seen()}", _look_at(job))
        return view

    def evict(self, job: str) -> JobView:
        """Requeue a running job."""
        before = self._look(job)
        if before.state is not JobState.RUNNING:
            raise ActuatorError("a running job", f"{job} is {before.word}", "nothing was done")
        return self._requeue(before, [])

    def _requeue(self, before: SlurmJob, changes: list[str], rest: bool = True) -> JobView:
        """Requeue in hold, change, release, and return what Slurm then shows. `rest`: it may return to a node it just left."""
        job, pause = before.job, self._settings.rest if rest else 0
        if not before.requeue:  # submitted with --no-requeue, or JobRequeue=0: Slurm would refuse, and the job be lost
            self._call("scontrol", "update", f"JobId={job}", "Requeue=1")
        self._call("scontrol", "requeuehold", job)
        limit = self._settings.stop_timeout
        held = self._watch(job, lambda seen: seen.state is JobState.HELD, limit)
        if held.state is not JobState.HELD:
            raise ActuatorError(f"{job} queued and held within {limit:g} s", held.word, _look_at(job))
        # Requeueing sets a start time some two minutes ahead; the update must come after the job is at rest.
        self._call("scontrol", "update", f"JobId={job}", f"StartTime=now+{pause}", *changes)
        self._call("scontrol", "release", job)
        after = self._watch(job, _has_settled, self._settings.settle + pause)
        came = f"{after.word} ({after.reason}), restart count {after.restarts}"
        if after.reason == "BadConstraints":
            remedy = f"no node is left for it: `scontrol update JobId={job} ExcNodeList=` and `scontrol release {job}`"
            raise ActuatorError(f"{job} able to start somewhere", came, remedy)
        if after.state is JobState.HELD or after.restarts <= before.restarts:
            raise ActuatorError(f"{job} in the queue once more", came, _look_at(job))
        return self._view(after)

    def _watch(self, job: str, reached: Callable[[SlurmJob], bool], seconds: float) -> SlurmJob:
        """Look until the job is as wanted, or `seconds` have passed; return the last look."""
        deadline = self._clock() + seconds
        while not reached(seen := self._look(job)) and self._clock() < deadline:
            self._sleep(self._settings.poll)
        return seen

    def _look(self, job: str) -> SlurmJob:
        seen = parse(job, self._call("scontrol", "show", "job", "-o", checked_job(job)))
        if seen is None:
            came = "an array without a task's number, or a job whose name holds text like Slurm's own fields"
            raise ActuatorError(f"one readable record of job {job}", came, "nothing was done; act by hand")
        return seen

    def _view(self, seen: SlurmJob) -> JobView:
        nodes, excluded = self._hosts(seen.node_list), self._hosts(seen.excluded)
        return seen.view(nodes, excluded, self._shards_of_a_gpu())

    def _hosts(self, host_list: str) -> tuple[str, ...]:
        if "[" not in host_list:
            return tuple(host_list.split(",")) if host_list else ()
        return tuple(self._call("scontrol", "show", "hostnames", host_list).split())

    def _shards_of_a_gpu(self) -> int:
        """Shards that make a whole GPU on the node that has most of them on one; 0 where there are none."""
        if not self._whole_gpu:
            for gres in _GRES.findall(self._call("scontrol", "show", "node", "-o")):
                counts = {kind: int(number) for kind, number in _COUNT.findall(gres)}
                if counts.get("gpu"):
                    self._whole_gpu = max(self._whole_gpu, counts.get("shard", 0) // counts["gpu"])
        return self._whole_gpu

    def _call(self, *command: str) -> str:
        return call(self._settings, *command)


def _has_settled(seen: SlurmJob) -> bool:
    """True once the job runs (or ran already), or never will."""
    return seen.state not in (JobState.PENDING, JobState.HELD) or seen.reason == "BadConstraints"


def _look_at(job: str) -> str:
    return f"see `scontrol show job {job}`; if it is held, `scontrol release {job}` lets it go"
