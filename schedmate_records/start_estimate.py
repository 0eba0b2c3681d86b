"""Topic `start-estimates`: when jobs that wait will probably start."""

from .base import Record


class StartEstimate(Record, frozen=True, kw_only=True):
    """When a job that waits will probably start, as estimated at one moment. Key: the job. Unknown is null, never a guess.

    Attributes:
        id: `start/<job>/<attempt>/<second>`: one for each look at the queue.
        job: The scheduler's job id.
        attempt: The restart count that it will start with.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        time: When it was estimated, in seconds since 1970.
        expected_s: Seconds from `time` to the start, the middle of what may happen; null where it starts in fewer than half of the futures.
        low_s: Lower end of the 90 % interval.
        high_s: Upper end; null where there is none.
        chance: Share of the futures in which it starts at all, 0 to 1.
        method: `queue`: the queue, played forward.
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
