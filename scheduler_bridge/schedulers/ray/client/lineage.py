"""Ids of jobs over several submissions.

A submission that has ended cannot start again: a restart submits it once more, under another id. All submissions of one lineage are
one job, which is called as the first one: `train`, `train.attempt1`, `train.attempt2`. Only the ids state that, because they name the
files of the drivers' logs, too; everything else about a lineage is in the metadata of its submissions.
"""

import re
from typing import NamedTuple

LINEAGE = "schedmate.io/lineage"
"""Metadata: the first submission id."""
ATTEMPT = "schedmate.io/attempt"
"""Metadata: how often the job was started before."""
ACTS = "schedmate.io/acts"
"""Metadata: the keys of what was done to the job."""
EXCLUDED = "schedmate.io/excluded-nodes"
"""Metadata: names of the nodes that it is kept away from, separated by commas."""
INTENT = "schedmate.io/intent"
"""Metadata of a submission that runs nothing: the key of an act that has begun. Ray has no other place to write it, for the metadata of
a submission cannot be changed."""
_ATTEMPT = re.compile(r"(?P<lineage>.+)\.attempt(?P<attempt>[1-9]\d{0,5})", re.ASCII | re.DOTALL)


class SubmissionName(NamedTuple):
    """The parts of a submission id."""

    lineage: str
    attempt: int

    @classmethod
    def parse(cls, submission_id: str) -> "SubmissionName":
        """Read an id such as `train.attempt2`."""
        found = _ATTEMPT.fullmatch(submission_id)
        return cls(found["lineage"], int(found["attempt"])) if found else cls(submission_id, 0)

    def __str__(self) -> str:
        return f"{self.lineage}.attempt{self.attempt}" if self.attempt else self.lineage

    def next(self) -> "SubmissionName":
        """Return the name of the attempt that follows. It follows from this one alone, so that there can be one only."""
        return self._replace(attempt=self.attempt + 1)
