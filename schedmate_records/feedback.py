"""Topic `feedback`: people's corrections and comments on verdicts."""

from typing import Annotated

from msgspec import Meta

from .base import Record
from .decision import DecisionId, Name, Sentence
from .failure import Component, ErrorType


class Feedback(Record, frozen=True, kw_only=True):
    """A person's account of why an attempt failed. It is shown with the verdict and changes no decision. Key: the job.

    Attributes:
        id: Follows from the attempt, the user and the time. The newest feedback on an attempt is valid.
        job: The job.
        attempt: The attempt.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        time: When it was written, in seconds since 1970.
        user: Author: the user of the operating system.
        cause: Name of a signature, or a new name.
        error_type: Error type; `unknown` if none was given.
        component: Faulty component; `none` if none was given.
        line: The line that explains the failure, as it was printed.
        verdict_id: The verdict that it corrects; empty where there was none.
        verdict: The cause that the verdict named.
        comment: Free text.
    """

    id: DecisionId
    job: Name
    attempt: int = 0
    incarnation: str = ""
    time: float
    user: Name
    cause: Name
    error_type: ErrorType = ErrorType.UNKNOWN
    component: Component = Component.NONE
    line: Annotated[str, Meta(max_length=65536)] = ""
    verdict_id: DecisionId = ""
    verdict: Name = ""
    comment: Sentence = ""
