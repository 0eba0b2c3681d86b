"""The operations of a scheduler that the bridge uses."""

from abc import ABC, abstractmethod
from typing import NoReturn

from schedmate_records import Action

from ..node_check import NodeCheck
from .errors import ActuatorError
from .queue import Queue
from .views import JobView, NodeView


class Actuator(ABC):
    """One scheduler.

    An action checks its preconditions, acts, and asks the scheduler again to verify the effect. It returns the view after the action.
    It raises `ActuatorError` where the scheduler refuses or does not show the effect, and `SchedulerAway` where the scheduler does not
    answer. Every call has a time limit. The scheduler keeps `key` (see `act_keys`) with the job or node. A call that is repeated with
    the same key, after one that was interrupted, continues where that one stopped.

    A subclass must implement `supports` and `job`. The other methods have defaults: actions are refused, and lists are empty.

    Attributes:
        name: Name of the scheduler, as in `bridge.scheduler`.
    """

    name: str

    @abstractmethod
    def supports(self, action: Action) -> bool:
        """Return whether the scheduler can carry out `action`. The bridge never requests an action that is not supported."""

    def can_signal(self) -> bool:
        """Return whether a running job can receive a signal. Without it, an evicted job has only the scheduler's own grace period."""
        return False

    @abstractmethod
    def job(self, job: str) -> JobView | None:
        """Return the scheduler's view of a job; None where the scheduler does not know it (any more)."""

    def nodes(self, node: str = "", /) -> list[NodeView]:
        """Return the scheduler's view of all nodes; with several clusters, of those in the cluster of `node`."""
        return []

    def queue(self) -> Queue:
        """Return all waiting and running jobs, and all nodes. Called only where the operator lets jobs be evicted for others."""
        return Queue()

    def restart(self, job: str, exclude_nodes: tuple[str, ...], key: str, checkpoint: str = "") -> JobView:
        """Put a failed job back in the queue, away from some nodes, and let it know the checkpoint from which it may go on.

        A job that runs, ended with exit code 0 or was cancelled is refused: it is looked at right before.
        `checkpoint` is a path in the job's own words: the job may receive it, and no command contains it.
        """
        _refuse(self, Action.RESTART, job)

    def cancel_packing(self, job: str, key: str) -> JobView:
        """Stop a running job that was packed with another, and put it back in the queue; it is not packed again."""
        _refuse(self, Action.CANCEL_PACKING, job)

    def evict(self, job: str, key: str, checkpoint: str = "", delay: float = 0.0) -> JobView:
        """Stop a running job and put it back in the queue, for at least `delay` seconds, so that another job can take its place."""
        _refuse(self, Action.EVICT, job)

    def signal(self, job: str, signal: str) -> None:
        """Send a signal (`USR1`) to the processes of a running job, so that it saves a checkpoint."""
        _refuse(self, Action.EVICT, job)

    def cancel(self, job: str, key: str) -> JobView:
        """End a running job for good."""
        _refuse(self, Action.CANCEL, job)

    def hold(self, job: str, key: str) -> JobView:
        """Keep a job that waits in the queue from starting."""
        _refuse(self, Action.HOLD, job)

    def release(self, job: str, key: str) -> JobView:
        """Let a job that `hold` held start."""
        _refuse(self, Action.RELEASE, job)

    def drain(self, node: str, reason: str, key: str) -> NodeView:
        """Start no more jobs on a node. What runs there goes on, so the node may be draining still when this returns."""
        _refuse(self, Action.DRAIN, node)

    def undrain(self, node: str, key: str) -> NodeView:
        """Return a node to service that `drain` drained. Where a check is configured, the node must pass it first."""
        _refuse(self, Action.UNDRAIN, node)

    def check(self, node: str) -> NodeCheck | None:
        """Run the operator's check on a node; None where none is configured. Raises nothing: what cannot be checked is not known."""
        return None

    def stacks(self, job: str) -> str:
        """Return what the operator's command prints of a running job's processes; empty where none is configured. Raises nothing."""
        return ""

    def describe(self, node: str) -> str:
        """Return what the scheduler shows of a node and its jobs, for people."""
        return ""


def _refuse(actuator: Actuator, action: Action, target: str) -> NoReturn:
    raise ActuatorError(f"a scheduler that can {action}", f"{actuator.name}, for {target}", "nothing was done")
