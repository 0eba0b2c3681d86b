"""Commands of operators: approve, reject, stop and resume."""

import getpass
import os
import socket
import time
from collections.abc import Iterable
from contextlib import closing

from schedmate_records import Command, Decision, DecisionResult, OperatorCommand, Outcome, UserError
from scheduler_bridge.commands import Commands
from scheduler_bridge.ledger import Ledger
from streams.transport import write_records

from .assembly import producer_factory
from .settings.settings import Settings


class NotWaiting(UserError):
    """No decision of that name waits for a person; the message states its outcome, or which decisions wait."""


class Approvals:
    """The decisions that wait for a person, from the topics' history."""

    def __init__(self, history: Iterable[Decision | DecisionResult | OperatorCommand]) -> None:
        self.commands = Commands()
        self._ledger = Ledger()
        self._decisions: dict[str, Decision] = {}
        for record in history:
            if isinstance(record, OperatorCommand):
                self.commands.remember(record)
                continue
            self._ledger.remember(record)
            if isinstance(record, Decision):
                self._decisions.setdefault(record.id, record)

    def waiting(self, now: float) -> list[Decision]:
        """Return the decisions that wait for a person, the oldest first."""
        return [decision for decision in self._ledger.pending() if not self._settled(decision, now)]

    def find(self, decision_id: str, now: float) -> Decision:
        """Return the one decision that waits and whose id is, or begins with, `decision_id`.

        Raises:
            NotWaiting: There is none, or there are several.
        """
        if (exact := self._decisions.get(decision_id)) and (settled := self._settled(exact, now)):
            raise NotWaiting(f"expected a decision that waits for approval, got one that {settled}: {decision_id}")
        # An empty id, of a variable that is not set, would be the beginning of any.
        found = [one for one in self.waiting(now) if decision_id and one.id.startswith(decision_id)]
        if len(found) == 1:
            return found[0]
        if exact := next((one for one in found if one.id == decision_id), None):
            return exact
        many = f"{len(found)} begin so: give more of it" if found else "see `schedmate decisions waiting`"
        raise NotWaiting(f"expected the id of one decision that waits for approval, got {decision_id!r}; {many}")

    def _settled(self, decision: Decision, now: float) -> str:
        """Return why a decision does not wait for a person; empty where it does."""
        if not self._ledger.is_pending(decision.id):
            return "was dealt with"
        if now > decision.expires:
            return "has expired"
        if word := self.commands.rejection(decision) or self.commands.approval(decision, now):
            past = "approved" if word.command is Command.APPROVE else "rejected"
            return f"was {past} by {word.author}"
        return "" if self._ledger.result(decision.id, Outcome.AWAITING_APPROVAL) else "waits for no approval"


def person() -> str:
    """Return the user of the operating system who runs this; the number where it has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


def write(
    settings: Settings,
    command: Command,
    about: str,
    reason: str,
    *,
    user: str,
    job: str = "",
    expires: float | None = None,
) -> None:
    """Write one command of `user`, and return once Kafka has it. A stop is named `about`; `job` and `expires` are the decision's.

    Raises:
        TransportError: No broker, or no right to write.
    """
    record = OperatorCommand(
        id=f"{command}/{about}/{user}",
        command=command,
        about="" if command is Command.STOP else about,
        job=job,
        user=user,
        principal=f"User:{settings.kafka.username}" if settings.kafka.username else "",
        host=socket.gethostname(),
        time=time.time(),
        expires=expires,
        reason=reason,
    )
    with closing(producer_factory(settings)()) as producer:
        write_records(producer, [record])
