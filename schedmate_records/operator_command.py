"""Topic `approvals`: people's commands to every bridge."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from .base import Record
from .decision import DecisionId, Name, Sentence


class Command(StrEnum):
    """A command of a person to the bridges."""

    APPROVE = "approve"
    """Carry a waiting decision out."""
    REJECT = "reject"
    """Do not carry it out. It wins over an approval that has not been acted on."""
    STOP = "stop"
    """Begin no action until the stop is lifted."""
    RESUME = "resume"
    """Lift one stop."""


class OperatorCommand(Record, frozen=True, kw_only=True):
    """One command of a person. Key: the job; empty for `stop` and `resume`, which concern all.

    A command names what it is about, so it means the same in whatever order it is read and however often. Nothing here proves who
    wrote it: every writer of the topic can act under any name.

    Attributes:
        id: Follows from the command, what it is about and the user.
        command: What to do.
        about: The decision (`approve`, `reject`) or the id of the stop to lift (`resume`); empty for `stop`.
        job: The job of the decision. An approval that names another job has no effect.
        user: Who wrote it: the user of the operating system, as the command line saw it, or the signed-in user of the page.
        principal: The Kafka user or certificate that it was written with; empty where there is none.
        host: Where it was written.
        time: When, in seconds since 1970.
        expires: It has no effect after this time; null: never.
        reason: Why, in one sentence.
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
