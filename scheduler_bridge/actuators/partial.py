"""An actuator that can do nothing yet: a base for those of schedulers that can do some things."""

from typing import NoReturn

from records import Action

from .base import ActuatorError, JobView, NodeView
from .queue import Queue


class PartialActuator:
    """Refuses every action. Subclasses name what they support, and implement that much of the protocol `Actuator`."""

    name = ""

    def supports(self, action: Action) -> bool:
        """Return False: the bridge then never asks for the action."""
        return False

    def job(self, job: str) -> JobView | None:
        """Return None: no job is known."""
        return None

    def nodes(self) -> list[NodeView]:
        """Return an empty list: no node is known."""
        return []

    def queue(self) -> Queue:
        """Return an empty queue: nobody is evicted for anybody."""
        return Queue()

    def restart(self, job: str, exclude_nodes: tuple[str, ...], key: str, checkpoint: str = "") -> JobView:
        """Refuse."""
        self._refuse(Action.RESTART, job)

    def cancel_packing(self, job: str, key: str) -> JobView:
        """Refuse."""
        self._refuse(Action.CANCEL_PACKING, job)

    def evict(self, job: str, key: str, checkpoint: str = "", delay: float = 0.0) -> JobView:
        """Refuse."""
        self._refuse(Action.EVICT, job)

    def signal(self, job: str, signal: str) -> None:
        """Refuse."""
        self._refuse(Action.EVICT, job)

    def cancel(self, job: str, key: str) -> JobView:
        """Refuse."""
        self._refuse(Action.CANCEL, job)

    def hold(self, job: str, key: str) -> JobView:
        """Refuse."""
        self._refuse(Action.HOLD, job)

    def release(self, job: str, key: str) -> JobView:
        """Refuse."""
        self._refuse(Action.RELEASE, job)

    def drain(self, node: str, reason: str, key: str) -> NodeView:
        """Refuse."""
        self._refuse(Action.DRAIN, node)

    def undrain(self, node: str, key: str) -> NodeView:
        """Refuse."""
        self._refuse(Action.UNDRAIN, node)

    def _refuse(self, action: Action, target: str) -> NoReturn:
        raise ActuatorError(f"a scheduler that can {action}", f"{self.name}, for {target}", "nothing was done")
