"""Topic `placements`: which attempts of jobs are on which nodes."""

from .base import Record


class Placement(Record, frozen=True, kw_only=True):
    """An attempt of a job is on a node. Key: the node. Told when it is first known, every hour while it lasts, and when it ends.

    Of two records of one stay the earlier `since`, the later `seen` and a given `until` hold, whichever comes first.

    Attributes:
        job: The scheduler's job id.
        attempt: Restart count.
        node: Host.
        since: When it is first known to be there, in seconds since 1970.
        seen: When it was last known to be there.
        until: When the attempt ended; null while it lasts.
        sluid: Slurm's id of this run of the job, by which the kernel's log may name it; empty where not known.
    """

    job: str
    attempt: int = 0
    node: str
    since: float
    seen: float
    until: float | None = None
    sluid: str = ""
