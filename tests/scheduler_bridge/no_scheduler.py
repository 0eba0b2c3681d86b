"""A scheduler that can do nothing; tests add what they need."""

from schedmate_records import Action
from scheduler_bridge.schedulers import Actuator, JobView, NodeView, Queue


class NoScheduler(Actuator):
    name = "test"

    def supports(self, action: Action) -> bool:
        return True

    def can_signal(self) -> bool:
        return False

    def job(self, job: str) -> JobView | None:
        raise NotImplementedError

    def nodes(self, _beside: str = "", /) -> list[NodeView]:
        raise NotImplementedError

    def queue(self) -> Queue:
        return Queue()

    def restart(self, job: str, exclude_nodes: tuple[str, ...], key: str, checkpoint: str = "") -> JobView:
        raise NotImplementedError

    def cancel_packing(self, job: str, key: str) -> JobView:
        raise NotImplementedError

    def evict(self, job: str, key: str, checkpoint: str = "", delay: float = 0.0) -> JobView:
        raise NotImplementedError

    def signal(self, job: str, signal: str) -> None:
        raise NotImplementedError

    def cancel(self, job: str, key: str) -> JobView:
        raise NotImplementedError

    def hold(self, job: str, key: str) -> JobView:
        raise NotImplementedError

    def release(self, job: str, key: str) -> JobView:
        raise NotImplementedError

    def drain(self, node: str, reason: str, key: str) -> NodeView:
        raise NotImplementedError

    def undrain(self, node: str, key: str) -> NodeView:
        raise NotImplementedError
