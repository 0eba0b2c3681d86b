"""Topic `placements`: which attempts of jobs are on which nodes."""

from .base import Record
from .incarnation import JobReference


class Placement(Record, frozen=True, kw_only=True):
    """An attempt of a job is on a node. Key: the node. Written when it is first known, every hour while it lasts, and when it ends.

    Of several records of one stay, the earliest `since` and the latest `seen` are valid. `until` is valid unless a later record shows the
    attempt on the node at or after that time, as when a scheduler contradicts a pipe.

    Attributes:
        job: The scheduler's job id.
        attempt: Restart count.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        node: Host.
        since: When it is first known to be there, in seconds since 1970.
        seen: When it was last known to be there.
        until: When the attempt ended; null while it lasts.
        reported: A scheduler reported it; false where only the job's own lines, or its pipes, name the node.
        sluid: Slurm's id of this run of the job, by which the kernel's log may name it; empty where not known.
    """

    job: str
    attempt: int = 0
    incarnation: str = ""
    node: str
    since: float
    seen: float
    until: float | None = None
    reported: bool = False
    sluid: str = ""

    @property
    def run(self) -> str:
        """Name of the attempt, different for every incarnation of the job."""
        return f"{JobReference(self.job, self.incarnation)}/{self.attempt}"
