"""Time limits of the Ray actuator."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RayLimits:
    """Time limits of the actuator.

    Attributes:
        stop_timeout: Seconds in which a job that was asked to end is over, or its end is looked for again later.
        settle: Seconds to wait for a restarted job's workers to get nodes before those that are known are taken as the answer.
        poll: Seconds between two looks.
    """

    stop_timeout: float = 30.0
    settle: float = 8.0
    poll: float = 0.2
