"""Ray as a `Scheduler`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from ..base import Actuator
from ..scheduler import Scheduler, SchedulerSettings

if TYPE_CHECKING:
    from streams.transport import Producer

    from .events.watcher import RayWatcher


class RayWatchOptions(BaseModel, frozen=True):
    """Options of `schedmate watch-scheduler ray`."""

    address: str = Field(
        "",
        description="Address of Ray's dashboard; by default RAY_API_SERVER_ADDRESS, else http://127.0.0.1:8265.",
    )


class RayScheduler(Scheduler):
    """Ray, through the job API of its dashboard."""

    name = "ray"
    title = "Ray"
    options = RayWatchOptions

    def actuator(self, settings: SchedulerSettings) -> Actuator:
        """Return the actuator of the cluster that Ray's variables name."""
        from .actuator import RayActuator
        from .client.client import RayClient
        from .client.connection import RayConnection

        return RayActuator(RayClient(RayConnection.find()))

    def watcher(
        self,
        settings: SchedulerSettings,
        connect: "Callable[[], Producer]",
        checkpoint: Path | None,
        options: RayWatchOptions,
    ) -> "RayWatcher":
        """Watch the jobs submitted to Ray, and ship what changes: submitted, started, requeued, ended.

        It needs no package of Ray's, and the cluster's token where there is one (`RAY_AUTH_TOKEN`, docs/ray.md). Run one for each cluster.

        Example: `schedmate watch-scheduler ray --address http://ray-head:8265`
        """
        from .client.client import RayClient
        from .client.connection import RayConnection
        from .events.watcher import RayWatcher

        file = checkpoint or settings.producer.directory / "ray-events.json"
        return RayWatcher(connect, file, client=RayClient(RayConnection.find(options.address)))
