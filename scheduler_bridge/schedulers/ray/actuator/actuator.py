"""Actions on jobs of Ray.

Ray can neither put a submission back in its queue nor hold it, and its metadata is written once, when it is submitted. So to restart a
job is to submit it again, under an id that follows from the one before: there can be one such submission only. To evict it is to stop
it first; what is about to be done is submitted as well, as a job that runs nothing (an intent), so that an eviction that is cut off
after the stop is known for one, and is finished.
"""

import time
from collections.abc import Callable
from contextlib import suppress

from schedmate_records import Action

from ....act_keys import read_keys
from ....checkpoint_note import is_tellable
from ...base import Actuator
from ...errors import ActuatorError, SchedulerAway, translated
from ...queue import Queue
from ...views import JobView, NodeView, SchedulerJobState
from ..client.client import RayClient
from ..client.errors import RayConflict, RayError
from ..client.lineage import ACTS
from ..client.objects import RayActor, RayJob, Submission
from .jobs import INTENT_PREFIX, Attempt, intent_metadata, newest, view
from .nodes import Nodes, node_view
from .queue import queue_of
from .settings import RayLimits
from .successor import successor, uploaded


class RayActuator(Actuator):
    """Ray as an `Actuator`. docs/ray.md describes what it needs, and what Ray cannot do.

    A job is called as its first submission (see `scheduler_bridge.schedulers.ray.client.lineage`).
    """

    name = "ray"

    def __init__(
        self,
        client: RayClient,
        limits: RayLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._limits = limits or RayLimits()
        self._clock = clock
        self._sleep = sleep

    def supports(self, action: Action) -> bool:
        """Restart, evict, cancel, notify."""
        return action in (Action.RESTART, Action.EVICT, Action.CANCEL, Action.NOTIFY)

    def job(self, job: str) -> JobView | None:
        """Return the state of a job in Ray; None where Ray does not know it (any more)."""
        with translated():
            found = newest(self._client.jobs()).get(job)
            return self._view(found) if found else None

    def nodes(self, _beside: str = "", /) -> list[NodeView]:
        """Return the state of all nodes in Ray. Of several of one name the living one counts."""
        with translated():
            return [node_view(node) for node in Nodes(self._client.nodes()).newest]

    def queue(self) -> Queue:
        """Return the jobs whose drivers wait or run, and what they hold."""
        with translated():
            return queue_of(
                newest(self._client.jobs()),
                Nodes(self._client.nodes()),
                self._client.actors(),
                self._client.tasks(state="RUNNING"),
                self._client.placement_groups(),
            )

    def restart(self, job: str, exclude_nodes: tuple[str, ...], key: str, checkpoint: str = "") -> JobView:
        """Submit a job that failed again, and look on which nodes it runs.

        Its driver is kept away from the nodes. Its tasks and actors are placed by its own code, and learn from
        `SCHEDMATE_EXCLUDED_NODES` what to avoid; one that is on such a node all the same is an error.
        """
        with translated():
            nodes = Nodes(self._client.nodes())
            for node in exclude_nodes:
                if not any(each.node_name == node for each in nodes.all):
                    raise ActuatorError("a node that Ray knows", repr(node[:80]), "nothing was done")
            if all(node.node_name in exclude_nodes for node in nodes.all if node.alive):
                raise ActuatorError("a node to run on", "all are excluded", "nothing was done")
            before = self._look(job)
            if _made_by(before.job, key):
                return self._placed(before.job, settled=True)
            _expect(before, SchedulerJobState.FAILED)
            for uri in uploaded(before.job.runtime_env or {}):
                if not self._client.has_package(uri):
                    came = f"the head keeps {uri[:100]} no more"
                    raise ActuatorError(f"the files of {job}", came, "nothing was done; submit it again by hand")
            made = self._submit_again(before, nodes, exclude_nodes, key, checkpoint)
            seen = self._placed(made, settled=not exclude_nodes)
        if astray := set(seen.nodes) & set(exclude_nodes):
            came = f"it runs on {','.join(sorted(astray))}"
            remedy = f"let it read SCHEDMATE_EXCLUDED_NODES, or stop it: `ray job stop {made.id}`"
            raise ActuatorError(f"{job} away from {','.join(sorted(exclude_nodes))}", came, remedy)
        return seen

    def evict(self, job: str, key: str, checkpoint: str = "", delay: float = 0.0) -> JobView:  # noqa: ARG002
        """Stop a running job, and submit it again.

        Ray cannot let it wait, whatever `delay` is: what asked for the freed place before has it before.
        """
        with translated():
            before = self._look(job)
            if _made_by(before.job, key):
                return self._placed(before.job, settled=True)
            if not (before.interrupted and before.intent == key):
                _expect(before, SchedulerJobState.RUNNING)
                before = self._stop(before, key)
            made = self._submit_again(before, Nodes(self._client.nodes()), (), key, checkpoint)
            with suppress(RayError):  # one that is left over counts no more: there is a newer attempt
                self._client.delete(_intent(before))
            return self._placed(made, settled=True)

    def cancel(self, job: str, key: str) -> JobView:  # noqa: ARG002
        """End a running job for good. Ray can keep no key of that; a job that is stopped is not stopped again."""
        with translated():
            before = self._look(job)
            _expect(before, SchedulerJobState.RUNNING)
            self._client.stop(before.job.id)
            after = self._wait_until_over(before)
            if after.status != "STOPPED":
                came = f"it ended by itself ({after.status})"
                raise ActuatorError(f"{job} ended by the bridge", came, "nothing is left to do")
            return self._view(Attempt(after))

    def _look(self, job: str) -> Attempt:
        """Return the newest attempt of a job."""
        found = newest(self._client.jobs()).get(job)
        if found is None:
            raise ActuatorError("a job that Ray knows", repr(job[:80]), "nothing was done")
        return found

    def _stop(self, before: Attempt, key: str) -> Attempt:
        """Write down what is about to be done, stop a job, and return how it then is."""
        job = before.name.lineage
        if uploaded(before.job.runtime_env or {}):
            came = "its files were uploaded with it, and are deleted when it stops"
            remedy = "nothing was done; name a working_dir that every node can read"
            raise ActuatorError(f"a job that can be submitted again ({job})", came, remedy)
        self._supervisor(before)
        try:
            noted = intent_metadata(before, key)
            self._client.submit(Submission(entrypoint="true", submission_id=_intent(before), metadata=noted))
        except RayConflict:
            if self._look(job).intent != key:
                came = "another action on it has begun"
                remedy = f"nothing was done; look at {_intent(before)}, and delete it"
                raise ActuatorError(f"no act on {job} yet", came, remedy) from None
        self._client.stop(before.job.id)
        after = self._wait_until_over(before)
        if after.status != "STOPPED":
            with suppress(RayError):
                self._client.delete(_intent(before))
            raise ActuatorError(f"{job} stopped by the bridge", f"it ended by itself ({after.status})", "it is over")
        return Attempt(after, key)

    def _submit_again(
        self, before: Attempt, nodes: Nodes, exclude: tuple[str, ...], key: str, checkpoint: str
    ) -> RayJob:
        """Submit the next attempt, once, and return it."""
        told = checkpoint if is_tellable(checkpoint) else ""
        submission = successor(before, self._supervisor(before), nodes, exclude, key, checkpoint=told)
        name = submission.submission_id
        try:
            self._client.submit(submission)
        except RayConflict:
            there = self._client.job(name)
            if there is None or not _made_by(there, key):
                raise ActuatorError(f"no {name} yet", "somebody else submitted it", "nothing was done") from None
        made = self._client.job(name)
        if made is None:
            raise ActuatorError(f"{name} submitted", "Ray does not know it", "see `ray job list`")
        if self._client.job(before.job.id) is None:  # it was deleted meanwhile: its user wants no replacement
            self._client.stop(name)
            raise ActuatorError(f"{before.job.id} to be there", "it was deleted meanwhile", "its successor was stopped")
        return made

    def _supervisor(self, before: Attempt) -> RayActor:
        found = self._client.supervisor(before.job.id)
        if found is None:
            came = "Ray no longer knows it"
            raise ActuatorError(f"what {before.job.id} asked for", came, "nothing was done; submit it again by hand")
        return found

    def _wait_until_over(self, before: Attempt) -> RayJob:
        """Return a job that was asked to end once it is over. One that takes longer is looked at again later."""
        deadline = self._clock() + self._limits.stop_timeout
        while True:
            found = self._client.job(before.job.id)
            if found is None:
                raise ActuatorError(f"{before.job.id} to be there", "it was deleted meanwhile", "nothing is left to do")
            if found.is_over:
                return found
            if self._clock() >= deadline:
                raise SchedulerAway(f"{before.job.id} over", found.status, "it is checked again")
            self._sleep(self._limits.poll)

    def _placed(self, made: RayJob, *, settled: bool) -> JobView:
        """Return a new attempt as it is; unless `settled`, once its workers have nodes, or had time to get some."""
        deadline = self._clock() + self._limits.settle
        while True:
            found = self._client.job(made.id) or made
            seen = self._view(Attempt(found))
            if settled or found.is_over or self._clock() >= deadline:
                return seen
            actors = self._client.actors(job_id=found.job_id) if found.job_id else []
            settled = bool(actors) and all(actor.node_id for actor in actors)
            if not settled:
                self._sleep(self._limits.poll)

    def _view(self, attempt: Attempt) -> JobView:
        """Return a job with its nodes: where its driver, its actors and its tasks are, or were when it ended."""
        job = attempt.job
        ids = {job.driver_node_id}
        if job.job_id:
            actors = self._client.actors(job_id=job.job_id)
            ids |= {actor.node_id for actor in actors if job.is_over or actor.state != "DEAD"}
            ids |= {
                task.node_id for task in self._client.tasks(job_id=job.job_id) if job.is_over or task.state == "RUNNING"
            }
        return view(attempt, Nodes(self._client.nodes()).names(ids))


def _expect(attempt: Attempt, state: SchedulerJobState) -> None:
    if attempt.state is not state:
        came = f"{attempt.name.lineage} is {attempt.state}"
        raise ActuatorError(f"a job that is {state}", came, "nothing was done")


def _made_by(job: RayJob, key: str) -> bool:
    return read_keys(job.noted.get(ACTS, ""))[-1:] == (key,)


def _intent(attempt: Attempt) -> str:
    return INTENT_PREFIX + attempt.job.id
