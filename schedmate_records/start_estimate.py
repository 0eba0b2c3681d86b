"""Topic `start-estimates`: estimated starts of waiting jobs."""

from .base import Record


class StartEstimate(Record, frozen=True, kw_only=True):
    """Estimated start of a waiting job. Key: the job. Unknown is null, never a guess.

    Attributes:
        id: `start/<job>/<attempt>/<second>`: one for each query of the queue.
        job: The scheduler's job id.
        attempt: The restart count that it will start with.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        time: When it was estimated, in seconds since 1970.
        expected_s: Median seconds from `time` to the start; null if it starts in fewer than half of the simulations.
        low_s: Lower end of the 90 % interval.
        high_s: Upper end; null where there is none.
        chance: Share of the simulations in which it starts, 0 to 1.
        method: `queue`: simulation of the queue.
    """

    id: str
    job: str
    attempt: int = 0
    incarnation: str = ""
    time: float
    expected_s: float | None = None
    low_s: float | None = None
    high_s: float | None = None
    chance: float
    method: str
