"""The local scheduler as a `Scheduler`."""

from schedmate_records import UserError

from ..base import Actuator
from ..scheduler import Scheduler, SchedulerSettings


class LocalMachine(Scheduler):
    """The local scheduler. Its jobs belong to the process that submits them, so another process has no access to them."""

    name = "local"
    title = "the local scheduler"

    def actuator(self, settings: SchedulerSettings) -> Actuator:
        """Raise `UserError`: a program that runs the local scheduler makes a `LocalActuator` itself, as `schedmate demo` does."""
        raise UserError(
            "expected a scheduler of its own process in bridge.scheduler, got local, which runs within `schedmate demo`"
        )
