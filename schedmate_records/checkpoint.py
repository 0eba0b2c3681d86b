"""Topic `checkpoints`: the checkpoints that a job saves, as its log shows them."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from .base import Evidence, Record

PATH = 1024
"""Characters of a path at most; a longer one is left out, as half a path names another place."""


class CheckpointState(StrEnum):
    """State of a save."""

    STARTED = "started"
    """The save began. The data is not known to be safe."""
    DURABLE = "durable"
    """The data is safe: `durable_by` names the evidence."""
    FAILED = "failed"
    """The log shows that the save failed."""


class DurableBy(StrEnum):
    """Evidence that a checkpoint is complete."""

    COMPLETION = "completion"
    """A line reports that it is saved."""
    TRACKER = "tracker"
    """The file that names the newest checkpoint was written, or a temporary directory was renamed."""
    PROGRESS = "progress"
    """Training paused during the save and continued."""
    NEXT_SAVE = "next_save"
    """The next save began."""
    ENDED = "ended"
    """The job ended well."""


class Checkpoint(Record, frozen=True, kw_only=True):
    """A save of a checkpoint began, became durable or failed. Key: the job.

    The newest record of a save (same job, attempt and `number`) is valid. `path` is text of the job. It is shown, and never part of a
    command.

    Attributes:
        id: Follows from the input position.
        job: The scheduler's job id.
        attempt: Restart count.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        node: Host of the rank that reported it; empty where not known.
        rank: The rank that reported it.
        number: Number of the save within the attempt, from 1.
        state: State of the save.
        durable_by: Evidence that it is complete; null unless durable.
        time: Arrival of the line that shows the state, or the end of the job, in seconds since 1970.
        since: Arrival of the first line of the save. Work done after it is not in the checkpoint.
        step: Training step, where the lines or the path name one.
        path: Where it is saved, as printed; empty where no line names it.
        asynchronous: The lines show that it is saved while training goes on.
        duration_s: Seconds from its first line to the evidence that it is complete; null where not known.
        usual_duration_s: Median duration of the newest saves of the attempt; null before the first.
        interval_s: Median of the seconds between the beginnings of the newest saves; null before the second.
        evidence: The lines that report it: the first, and the one that shows the state.
    """

    id: str
    job: str
    attempt: int = 0
    incarnation: str = ""
    node: str = ""
    rank: int = 0
    number: int
    state: CheckpointState
    durable_by: DurableBy | None = None
    time: float
    since: float
    step: int | None = None
    path: Annotated[str, Meta(max_length=PATH)] = ""
    asynchronous: bool = False
    duration_s: float | None = None
    usual_duration_s: float | None = None
    interval_s: float | None = None
    evidence: list[Evidence] = []
