"""Actions on Slurm, with the order of commands that was tested (Slurm 22.05).

A job is requeued *in hold*, changed while it waits, and then released: a job at rest cannot be changed, and a job requeued
without hold may start before the change. Every effect is looked up again afterwards.

Should the bridge be killed in between, the job stays held, and what holds it is known for ours: a running job got the key
first, a job that was over is in Slurm's state SPECIAL_EXIT. The same call, made again, lets it go.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import structlog

from schedmate_records import Action

from ....act_keys import add_key, read_keys
from ....checkpoint_note import add_note, is_tellable
from ....node_check import NodeCheck
from ....opt_out import opts_out
from ...base import Actuator
from ...errors import ActuatorError, SchedulerAway, translated
from ...queue import Queue
from ...views import JobView, NodeView, SchedulerJobState, SchedulerNodeState
from ..client import InvalidSlurmJobId, SlurmClient, SlurmJob, SlurmRefused, UnknownSlurmJob
from ..client.job_command import SlurmJobCommand
from .checks import NodeChecks
from .dependents import carry_over
from .jobs import STOPPED, node_view, state_of, view
from .queue import queue_of
from .resubmission import Resubmission
from .settings import SlurmSettings

log = structlog.get_logger(__name__)


class SlurmActuator(Actuator):
    """Slurm as an `Actuator`. The user that runs it must be an administrator of Slurm; to restart jobs alone, an operator.

    Keys of acts stand in a job's AdminComment and in a node's Comment; the reason of a drain begins with its key, too.

    Args:
        resubmission: Submits jobs again that Slurm cannot start again; None: they are refused.
        stacks: Shows what a job's processes are doing; None: not available.
        checks: Checks nodes before they are drained or return to service; None: no node is checked.
    """

    name = "slurm"

    def __init__(
        self,
        client: SlurmClient | None = None,
        settings: SlurmSettings | None = None,
        *,
        resubmission: Resubmission | None = None,
        checks: NodeChecks | None = None,
        stacks: SlurmJobCommand | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client or SlurmClient()
        self._settings = settings or SlurmSettings()
        self._resubmission = resubmission
        self._checks = checks
        self._stacks = stacks
        self._clock = clock
        self._sleep = sleep

    def supports(self, action: Action) -> bool:
        """Slurm can do all that decisions ask for."""
        return action in Action

    def can_signal(self) -> bool:
        """Slurm can."""
        return True

    def job(self, job: str) -> JobView | None:
        """Return the state of a job in Slurm; None where Slurm does not know it, forgot it (MinJobAge), or the text is no job id."""
        with translated():
            try:
                seen = self._client.job(job)
            except InvalidSlurmJobId:
                return None
            except UnknownSlurmJob:
                return self._resubmission.view(job) if self._resubmission else None
            if self._resubmission and not _is_requeueable(seen) and self._resubmission.is_continued(job):
                return self._resubmission.view(job)
            return self._view(job, seen)

    def nodes(self, _beside: str = "", /) -> list[NodeView]:
        """Return the state of all nodes that Slurm shows to this user."""
        with translated():
            return [node_view(node) for node in self._client.nodes().values()]

    def queue(self) -> Queue:
        """Return what waits and runs in all partitions."""
        with translated():
            return queue_of(self._client.jobs(arrays=True).values(), self._client.nodes())

    def restart(self, job: str, exclude_nodes: tuple[str, ...], key: str, checkpoint: str = "") -> JobView:
        """Requeue a failed job, its suspect nodes excluded besides those that it excludes already."""
        with translated():
            try:
                before = self._client.job(job)
            except UnknownSlurmJob:
                if self._resubmission is None:
                    raise
                return self._resubmit_forgotten(self._resubmission, job, exclude_nodes, key, checkpoint)
        if state_of(before) is not SchedulerJobState.FAILED and not before.is_marked:
            raise ActuatorError("a job that has failed", f"{job} is {before.state}", "nothing was done")
        if not _is_requeueable(before):
            if self._resubmission is None:
                came = f"{job} has Requeue=0"
                raise ActuatorError("a job that may be requeued", came, "submit it again, with --requeue")
            with translated():
                return self._resubmission.submit(job, exclude_nodes, key, checkpoint)
        for node in exclude_nodes:
            with translated():
                self._client.check_node(node)
        if wanted := set(exclude_nodes) & set(before.required_nodes):
            came = f"{job} asks for {','.join(before.required_nodes)} by name, and {sorted(wanted)} is suspect"
            raise ActuatorError("a job that can run elsewhere", came, "nothing was done; submit it again without")
        gone = bool(before.nodes) and set(before.nodes) <= set(exclude_nodes)
        rest = 0 if gone else self._settings.rest
        seen = self._requeue(before, {}, key, job=job, rest=rest, checkpoint=checkpoint, exclude=exclude_nodes)
        missing = set(exclude_nodes) - set(seen.excluded)
        if missing:
            raise ActuatorError(f"{job} kept away from {sorted(missing)}", f"excluded: {seen.excluded}", _look_at(job))
        if got := set(exclude_nodes) & set(seen.nodes):  # what it was given, whatever it asked for
            raise ActuatorError(f"{job} to run elsewhere", f"it got {sorted(got)}", _look_at(job))
        return seen

    def cancel_packing(self, job: str, key: str) -> JobView:
        """Requeue a running job that asks for shards, asking for all shards of a GPU from now on."""
        before = self._look_stoppable(job, key)
        whole = self._shards_of_a_gpu()
        if not before.shards_per_node or not whole:
            came = f"{job} asks for {before.tres_per_node or 'no GPU'}, a GPU has {whole} shards"
            raise ActuatorError("a job packed by shards of a GPU", came, "nothing was done; pack with --gres=shard:N")
        shards = max(whole, before.shards_per_node)
        changes = {"TresPerNode": before.with_shards(shards)}
        seen = self._requeue(before, changes, key, job=job, rest=self._settings.rest)
        if not seen.alone:
            raise ActuatorError(f"{job} to ask for a whole GPU", f"{seen.summary()}", _look_at(job))
        return seen

    def evict(self, job: str, key: str, checkpoint: str = "", delay: float = 0.0) -> JobView:
        """Requeue a running job."""
        rest = max(self._settings.rest, int(delay))
        return self._requeue(self._look_stoppable(job, key), {}, key, job=job, rest=rest, checkpoint=checkpoint)

    def signal(self, job: str, signal: str) -> None:
        """Send a signal to the steps of a running job."""
        self._look(job, SchedulerJobState.RUNNING)
        with translated():
            self._client.signal(job, signal)

    def cancel(self, job: str, key: str) -> JobView:
        """Cancel a running job, and wait until it has left its nodes."""
        before = self._look(job, SchedulerJobState.RUNNING)
        with translated():
            self._add_key(job, key)
            self._client.cancel(job)
        limit = self._settings.stop_timeout
        seen = self._watch(job, lambda seen: state_of(seen) is not SchedulerJobState.STOPPING, limit)
        _check_remembered(before, seen)
        if state_of(seen) not in STOPPED:
            raise ActuatorError(f"{job} over within {limit:g} s", seen.state, f"see `scontrol show job {job}`")
        return self._view(job, seen)

    def hold(self, job: str, key: str) -> JobView:
        """Hold a job that waits, as an administrator: its user cannot release it."""
        self._look(job, SchedulerJobState.PENDING)
        with translated():
            self._add_key(job, key)
            self._client.hold(job)
        seen = self._look(job)
        if state_of(seen) is not SchedulerJobState.HELD:
            raise ActuatorError(f"{job} held", f"{seen.state} ({seen.reason})", "it started meanwhile, perhaps")
        return self._view(job, seen)

    def release(self, job: str, key: str) -> JobView:
        """Release a held job."""
        self._look(job, SchedulerJobState.HELD)
        with translated():
            self._add_key(job, key)
            self._client.release(job)
        seen = self._look(job)
        if state_of(seen) is SchedulerJobState.HELD:
            raise ActuatorError(f"{job} released", f"{seen.state} ({seen.reason})", _look_at(job))
        return self._view(job, seen)

    def drain(self, node: str, reason: str, key: str) -> NodeView:
        """Drain a node. Slurm wants a reason; it begins with the key, so that the drain is known for ours."""
        before = self._node(node)
        if before.state in (SchedulerNodeState.DRAINING, SchedulerNodeState.DRAINED):
            raise ActuatorError("a node in service", f"{node} is {before.word} ({before.reason})", "nothing was done")
        with translated():
            comment = self._client.nodes()[node].comment
            # One update: never a drain without its key.
            changes = {"State": "DRAIN", "Reason": f"schedmate:{key} {reason}", "Comment": add_key(comment, key)}
            self._client.update_node(node, changes)
        seen = self._node(node)
        if seen.drained_by != key:
            raise ActuatorError(f"{node} drained", f"{seen.word} ({seen.reason})", f"see `scontrol show node {node}`")
        return seen

    def undrain(self, node: str, key: str) -> NodeView:
        """Resume a node that `drain` drained, once it has passed its check."""
        before = self._node(node)
        if not before.drained_by:
            came = f"{node} is {before.word} ({before.reason})"
            raise ActuatorError("a node that the bridge drained", came, "nothing was done; resume it by hand")
        with translated():
            if self._checks:
                self._checks.check_in_reservation(node, before.reason)
            changes = {"State": "RESUME"} if self._node(node).drained_by else {}
            self._client.update_node(node, {**changes, "Comment": add_key(self._client.nodes()[node].comment, key)})
            if self._checks:
                self._client.unreserve_node(node)
        seen = self._node(node)
        if seen.state in (SchedulerNodeState.DRAINING, SchedulerNodeState.DRAINED):
            raise ActuatorError(
                f"{node} in service", f"{seen.word} ({seen.reason})", f"see `scontrol show node {node}`"
            )
        return seen

    def check(self, node: str) -> NodeCheck | None:
        """Run the operator's check as a job on a node."""
        return self._checks.check(node) if self._checks else None

    def stacks(self, job: str) -> str:
        """Return what the operator's command prints inside the job."""
        return self._stacks(self._client, job) if self._stacks else ""

    def describe(self, node: str) -> str:
        """Return what `scontrol` and `squeue` show of a node."""
        with translated():
            return self._client.describe_node(node)

    @staticmethod
    def _resubmit_forgotten(
        resubmission: Resubmission, job: str, exclude_nodes: tuple[str, ...], key: str, checkpoint: str
    ) -> JobView:
        """Submit a job again that Slurm does not know any more, where it failed by what Slurm reported last."""
        kept = resubmission.view(job)
        if kept and (kept.successor or kept.state is SchedulerJobState.FAILED):
            return resubmission.submit(job, exclude_nodes, key, checkpoint)
        came = (
            f"{job} is {kept.word}"
            if kept
            else f"{job}, which Slurm no longer knows (MinJobAge), and whose end was not recorded"
        )
        raise ActuatorError("a job that has failed", came, "submit it again by hand")

    def _requeue(
        self,
        before: SlurmJob,
        changes: Mapping[str, str],
        key: str,
        *,
        job: str,
        rest: int,
        checkpoint: str = "",
        exclude: tuple[str, ...] = (),
    ) -> JobView:
        """Requeue in hold, change, release, and return what Slurm then shows. It starts `rest` seconds later at the earliest."""
        # What an earlier call stopped already has its restart counted.
        cut_off = state_of(before) in (SchedulerJobState.HELD, SchedulerJobState.STOPPING)
        with translated():
            if state_of(before) is not SchedulerJobState.HELD:
                self._stop_in_hold(job, before, key)
            if is_tellable(checkpoint):
                changes = {**changes, "Comment": add_note(self._client.comment(job), checkpoint)}
            # Requeueing sets a start time some two minutes ahead; the update must come after the job is at rest.
            self._client.update_job(job, {"StartTime": f"now+{rest}", **changes})
            self._exclude(job, before, exclude)
            try:
                self._add_key(job, key)
            except SlurmRefused as error:  # no reason to leave the job held: the restart count reveals a repeat, too
                log.warning("act_key_not_written", job=job, error=str(error))
            # Before it is released: a bridge that is killed in between finds it held, and comes by here again.
            was_over = state_of(before) is not SchedulerJobState.RUNNING
            dependents = carry_over(self._client, job, job) if was_over else ()
            self._client.release(job)
            # One that yields its place is not waited for.
            after = self._watch(job, _has_settled, self._settings.settle + rest if rest <= self._settings.rest else 0)
        came = f"{after.state} ({after.reason}), restart count {after.restarts}"
        if after.reason == "BadConstraints":
            remedy = f"no node is left for it: `scontrol update JobId={job} ExcNodeList=` and `scontrol release {job}`"
            raise ActuatorError(f"{job} able to start somewhere", came, remedy)
        if after.held or after.restarts < before.restarts + (not cut_off):
            raise ActuatorError(f"{job} in the queue once more", came, _look_at(job))
        return replace(self._view(job, after), dependents=dependents)

    def _exclude(self, job: str, before: SlurmJob, nodes: tuple[str, ...]) -> None:
        """Keep a job away from nodes besides those that it, or each part of it, excludes already."""
        # What the first part of a heterogeneous job gets, Slurm gives to all parts; so it comes first.
        named = {part.number: part for part in before.parts} or {job: before}
        for name, part in named.items() if nodes else ():
            self._client.update_job(name, {"ExcNodeList": ",".join((*part.excluded_nodes, *nodes))})

    def _stop_in_hold(self, job: str, before: SlurmJob, key: str) -> None:
        """Requeue a job in hold, and wait until it is at rest."""
        limit = self._settings.stop_timeout
        if not before.requeue:  # submitted with --no-requeue, or JobRequeue=0: Slurm would refuse, and the job be lost
            self._client.update_job(job, {"Requeue": "1"})
        stopping = state_of(before) is SchedulerJobState.STOPPING  # an earlier call was cut off
        running = stopping or state_of(before) is SchedulerJobState.RUNNING
        if running and not stopping:
            self._add_key(job, key)
        if not stopping:
            self._client.requeue_hold(job, running=running)
        moving = (SchedulerJobState.STOPPING, SchedulerJobState.PENDING)
        held = self._watch(job, lambda seen: state_of(seen) not in moving, limit)
        if not stopping:
            _check_remembered(before, held)
        if state_of(held) in STOPPED:
            raise ActuatorError(f"{job} still running", held.state, "it ended meanwhile; nothing was done")
        if state_of(held) is not SchedulerJobState.HELD:
            raise ActuatorError(f"{job} queued and held within {limit:g} s", held.state, _look_at(job))

    def _look_stoppable(self, job: str, key: str) -> SlurmJob:
        """Return a running job, or one that an earlier call with the same key has stopped and not let go."""
        seen = self._look(job)
        if state_of(seen) is SchedulerJobState.RUNNING:
            return seen
        with translated():
            ours = key in read_keys(self._client.admin_comment(job))
        if not ours or state_of(seen) not in (SchedulerJobState.HELD, SchedulerJobState.STOPPING):
            raise ActuatorError("a job that is running", f"{job} is {seen.state} ({seen.reason})", "nothing was done")
        return seen

    def _watch(self, job: str, reached: Callable[[SlurmJob], bool], seconds: float) -> SlurmJob:
        """Look until the job is as wanted, or `seconds` have passed; return the last look."""
        deadline = self._clock() + seconds
        while not reached(seen := self._look(job)) and self._clock() < deadline:
            self._sleep(self._settings.poll)
        return seen

    def _look(self, job: str, state: SchedulerJobState | None = None) -> SlurmJob:
        """Return a job; raises `ActuatorError` where it is not in `state`."""
        with translated():
            seen = self._client.job(job)
        if state is not None and state_of(seen) is not state:
            raise ActuatorError(f"a job that is {state}", f"{job} is {seen.state} ({seen.reason})", "nothing was done")
        return seen

    def _view(self, job: str, seen: SlurmJob) -> JobView:
        with translated():
            acts, comment = read_keys(self._client.admin_comment(job)), self._client.comment(job)
        return view(job, seen, self._shards_of_a_gpu(), acts, opted_out=opts_out(comment))

    def _add_key(self, job: str, key: str) -> None:
        """Write down at Slurm what is about to be done. Slurm takes no note of a job that is over."""
        comment = add_key(self._client.admin_comment(job), key)
        self._client.update_job(job, {"AdminComment": comment})

    def _node(self, name: str) -> NodeView:
        found = next((node for node in self.nodes() if node.node == name), None)
        if found is None:
            raise ActuatorError("a node that Slurm knows", repr(name[:40]), "name nodes as sinfo prints them")
        return found

    def _shards_of_a_gpu(self) -> int:
        with translated():
            return self._settings.shards_per_gpu or self._client.shards_per_gpu()


def _is_requeueable(seen: SlurmJob) -> bool:
    """False for a job that is over and has Requeue=0: Slurm changes that only while a job is not finished."""
    return seen.requeue or state_of(seen) not in STOPPED


def _check_remembered(before: SlurmJob, seen: SlurmJob) -> None:
    """Raise `SchedulerAway` where a job is as it was before a command to stop it: Slurm changes its state before it answers.

    A backup controller that has taken over since goes on from an older state.
    """
    if (seen.state, seen.restarts, seen.ended) == (before.state, before.restarts, before.ended):
        came = f"{seen.job} is {seen.state}, as before"
        raise SchedulerAway(f"{seen.job} stopped", came, "the controller forgot the command; a backup took over")


def _has_settled(seen: SlurmJob) -> bool:
    """True once the job runs (or ran already), or never will."""
    return state_of(seen) not in (SchedulerJobState.PENDING, SchedulerJobState.HELD) or seen.reason == "BadConstraints"


def _look_at(job: str) -> str:
    return f"see `scontrol show job {job}`; if it is held, `scontrol release {job}` lets it go"
