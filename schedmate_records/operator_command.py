"""Topic `approvals`: operators' commands to all bridges."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from .base import Record
from .decision import DecisionId, Name, Sentence


class Command(StrEnum):
    """A command of an operator to the bridges."""

    APPROVE = "approve"
    """Approve a waiting decision."""
    REJECT = "reject"
    """Reject it. A rejection overrides an approval that has not been carried out."""
    STOP = "stop"
    """Begin no action until the stop is lifted."""
    RESUME = "resume"
    """Lift one stop."""


class OperatorCommand(Record, frozen=True, kw_only=True):
    """A command of an operator. Key: the job; empty for `stop` and `resume`, which concern all.

    A command names its target, so order and repetition do not matter. The record does not authenticate its author: every writer of the
    topic can use any name.

    Attributes:
        id: Follows from the command, what it is about and the user.
        command: What to do.
        about: Id of the decision (`approve`, `reject`) or the id of the stop to lift (`resume`); empty for `stop`.
        job: The job of the decision. An approval that names another job has no effect.
        user: Author: the user of the operating system, or the signed-in user of the page.
        principal: The Kafka user or certificate that it was written with; empty where there is none.
        host: Host on which it was written.
        time: Time of the command, in seconds since 1970.
        expires: It has no effect after this time; null: never.
        reason: Reason, in one sentence.
    """

    id: Annotated[str, Meta(max_length=2048)]
    command: Command
    about: DecisionId = ""
    job: Name = ""
    user: Name
    principal: Name = ""
    host: Name = ""
    time: float
    expires: float | None = None
    reason: Sentence

    @property
    def author(self) -> str:
        """Return who wrote it, as far as known: `alice on login1 (User:ops)`."""
        return (
            self.user + (f" on {self.host}" if self.host else "") + (f" ({self.principal})" if self.principal else "")
        )
