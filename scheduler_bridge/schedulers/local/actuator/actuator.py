"""Actions on the local scheduler."""

import signal as signals
from collections.abc import Callable

from schedmate_records import Action

from ....checkpoint_note import CHECKPOINT_VARIABLE, is_tellable
from ...base import Actuator
from ...errors import ActuatorError
from ...queue import Queue
from ...views import JobView, NodeView, SchedulerJobState
from .scheduler import LocalScheduler


class LocalActuator(Actuator):
    """The local scheduler as an `Actuator`. `patience` limits the wait for a job's processes to end, in seconds."""

    name = "local"

    def __init__(self, scheduler: LocalScheduler, patience: float = 10.0) -> None:
        self._scheduler = scheduler
        self._patience = patience

    def supports(self, action: Action) -> bool:
        """It can do all that decisions ask for."""
        return action in Action

    def can_signal(self) -> bool:
        """It can."""
        return True

    def job(self, job: str) -> JobView | None:
        """Return the state of a job in the scheduler."""
        return self._scheduler.job(job)

    def nodes(self, _beside: str = "", /) -> list[NodeView]:
        """Return all slots as nodes."""
        return self._scheduler.nodes()

    def queue(self) -> Queue:
        """Return what waits and what runs."""
        return self._scheduler.queue()

    def restart(self, job: str, exclude_nodes: tuple[str, ...], key: str, checkpoint: str = "") -> JobView:
        """Put a failed job back in the queue, away from some slots. It finds the checkpoint in `SCHEDMATE_CHECKPOINT`."""
        before = self._attempt(job)
        self._tell(job, checkpoint)
        self._scheduler.restart(job, exclude_nodes)

        def restarted(seen: JobView) -> bool:
            return seen.attempt > before and set(exclude_nodes) <= set(seen.excluded)

        return self._verify(job, key, "queued again", restarted)

    def cancel_packing(self, job: str, key: str) -> JobView:
        """Stop a job and put it back in the queue, never to be packed again."""
        before = self._attempt(job)
        self._scheduler.requeue(job, alone=True)
        return self._verify(job, key, "queued again, alone", lambda seen: seen.attempt > before and seen.alone)

    def evict(self, job: str, key: str, checkpoint: str = "", delay: float = 0.0) -> JobView:
        """Stop a job and put it back in the queue."""
        before = self._attempt(job)
        self._tell(job, checkpoint)
        self._scheduler.requeue(job, delay=delay)
        return self._verify(job, key, "queued again", lambda seen: seen.attempt > before)

    def signal(self, job: str, signal: str) -> None:
        """Send a signal to all processes of a job."""
        self._scheduler.signal(job, signals.Signals[f"SIG{signal}"])

    def cancel(self, job: str, key: str) -> JobView:
        """End a job for good."""
        self._scheduler.cancel(job)
        return self._verify(job, key, "cancelled", lambda seen: seen.state is SchedulerJobState.CANCELLED)

    def hold(self, job: str, key: str) -> JobView:
        """Keep a job that waits from starting."""
        self._scheduler.hold(job)
        return self._verify(job, key, "held", lambda seen: seen.state is SchedulerJobState.HELD)

    def release(self, job: str, key: str) -> JobView:
        """Let a held job start."""
        self._scheduler.release(job)
        return self._verify(job, key, "released", lambda seen: seen.state is not SchedulerJobState.HELD)

    def drain(self, node: str, reason: str, key: str) -> NodeView:
        """Start no more jobs on a slot."""
        self._scheduler.drain(node, reason, key)
        return self._node(node)

    def undrain(self, node: str, key: str) -> NodeView:
        """Return a slot to service that `drain` drained."""
        self._scheduler.undrain(node, key)
        return self._node(node)

    def _node(self, name: str) -> NodeView:
        return next(node for node in self._scheduler.nodes() if node.node == name)

    def _tell(self, job: str, checkpoint: str) -> None:
        if is_tellable(checkpoint):
            self._scheduler.set_environment(job, CHECKPOINT_VARIABLE, checkpoint)

    def _attempt(self, job: str) -> int:
        seen = self._scheduler.job(job)
        return seen.attempt if seen else 0

    def _verify(self, job: str, key: str, what: str, reached: Callable[[JobView], bool]) -> JobView:
        """Note the key of the act, wait until the scheduler shows the effect, and return what it shows."""
        self._scheduler.add_act(job, key)

        def is_reached(jobs: list[JobView]) -> bool:
            return any(
                seen.job == job and seen.state is not SchedulerJobState.STOPPING and reached(seen) for seen in jobs
            )

        done = self._scheduler.wait(is_reached, self._patience)
        seen = self._scheduler.job(job)
        if not done or seen is None:
            came = seen.word if seen else "an unknown job"
            raise ActuatorError(f"job {job} {what} within {self._patience:g} s", came, "look at its processes")
        return seen
