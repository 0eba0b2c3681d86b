"""Commands of operators on the page: records on the topic `approvals`, as from the command line."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from schedmate_records import Command
from streams.transport import TransportError

from .access import Visitor, is_same_secret
from .database import Database
from .decisions import standing_stops, waiting_decision

LARGEST_FORM: Final = 16_384
"""Bytes of a form: an id, a reason, a token."""
LONGEST_REASON: Final = 500  # characters of a reason


@dataclass(frozen=True)
class Act:
    """An operator's command: `command` about a decision or a stop (`about`), for a `reason`; of `job`, valid until `expires`."""

    command: Command
    about: str
    reason: str
    user: str
    job: str = ""
    expires: float | None = None


Write = Callable[[Act], None]
"""Writes one to the topic, and returns once Kafka has it. Raises `TransportError`."""


class Acts:
    """The form's other end.

    Args:
        database: Where it looks whether a decision waits.
        write: Where acts go.
    """

    def __init__(self, database: Database, write: Write) -> None:
        self._database = database
        self._write = write

    async def act(self, request: Request) -> Response:
        """Write a form's command to the topic. Raises `HTTPException` with the reason where it is refused."""
        form = await operators_form(request, 8)
        visitor: Visitor = request.state.visitor
        command = await run_in_threadpool(self._carry, form, visitor.name)
        return RedirectResponse(f"/decisions?done={command}", 303)

    def _carry(self, form: Mapping[str, str], user: str) -> Command:
        reason = " ".join(form.get("reason", "").split())
        if not reason or len(reason) > LONGEST_REASON:
            raise HTTPException(400, f"Expected a reason of at most {LONGEST_REASON} characters.")
        try:
            command = Command(form.get("command", ""))
        except ValueError as error:
            raise HTTPException(400, "Expected to approve, reject, stop or resume.") from error
        try:
            for act in self._acts(command, form.get("about", ""), reason, user):
                self._write(act)
        except TransportError as error:
            raise HTTPException(503, f"Kafka did not accept it, so nothing changed: {error}") from error
        return command

    def _acts(self, command: Command, about: str, reason: str, user: str) -> list[Act]:
        if command is Command.STOP:
            return [Act(command, str(uuid.uuid4()), reason, user)]
        if command is Command.RESUME:
            stops = standing_stops(self._database)
            return [Act(command, stop["id"], reason, user) for stop in stops]
        row: Mapping[str, Any] | None = waiting_decision(self._database, about)
        if row is None:
            raise HTTPException(409, "This decision no longer waits for approval.")
        return [Act(command, row["id"], reason, user, row["job"], row["expires"].timestamp())]


async def operators_form(request: Request, fields: int) -> dict[str, str]:
    """Return a form of at most so many fields that an operator sent from the page. Raises `HTTPException` for any other."""
    visitor: Visitor = request.state.visitor
    if not _from_us(request):
        raise HTTPException(403, "This form was sent from another site.")
    form = _fields(await _body(request), fields)
    if not visitor.operator:
        raise HTTPException(403, "This page is read-only for you.")
    if not is_same_secret(form.get("token", ""), visitor.token):
        raise HTTPException(403, "This form belongs to an earlier start of the page. Load the page again.")
    return form


def _from_us(request: Request) -> bool:
    """Return whether the browser sent the form from a page of ours. Programs name no origin, and need the token all the same."""
    origins = request.headers.getlist("origin")
    try:
        return all(urlsplit(origin).netloc == request.headers.get("host") for origin in origins)
    except ValueError:  # not an address
        return False


def _fields(body: bytes, fields: int) -> dict[str, str]:
    try:
        return dict(parse_qsl(body.decode(errors="replace"), max_num_fields=fields))
    except ValueError as error:
        raise HTTPException(400, f"Expected a form of at most {fields} fields.") from error


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_FORM:
            raise HTTPException(413, f"Expected a form of at most {LARGEST_FORM} bytes.")
    return bytes(body)
