"""`schedmate decisions`: what was decided, and what became of it."""

import shlex
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from schedmate_records import Command, Decision, DecisionResult, InvalidRecord, OperatorCommand, encode
from streams.transport import Message

from ..settings.settings import Loaded
from ..terminal import one_line
from ..times import ago, local, moment_at, parse_since
from .console import print_json, print_line, warn
from .listing import Csv, Json, Since, print_rows

if TYPE_CHECKING:
    from ..approvals import Approvals

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

TOPICS = ("decisions", "decision-results", "approvals")
Shown = Decision | DecisionResult | OperatorCommand
Reason = Annotated[str, typer.Option(help="Reason, for the record.")]
COLUMNS = ("time", "outcome", "action", "job", "why", "decision")


@app.callback(invoke_without_command=True)
def decisions(
    context: typer.Context,
    *,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Wait for new messages and show them.")] = False,
    job: Annotated[str | None, typer.Option(help="Show only decisions about this job.")] = None,
    since: Since = "",
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Show decisions, operators' commands and results in the order they were written; approve, reject or stop decisions.

    Example: `schedmate decisions --follow --job 4711`
    """
    if context.invoked_subcommand:
        if follow or job or since or as_json or as_csv:
            raise typer.BadParameter(f"options of `{context.invoked_subcommand}` go behind it")
        return
    loaded: Loaded = context.obj
    records = (
        each
        for each in _records(loaded, follow, parse_since(since) if since else None, warns=True)
        if job in (None, each.job)
    )
    if as_csv and follow:
        raise typer.BadParameter("--csv and --follow exclude each other: CSV is written at the end")
    if as_csv:
        print_rows(COLUMNS, [_row(record) for record in records], as_csv=True)
        return
    empty = True
    try:
        for record in records:
            empty = False
            if as_json:
                print_json(encode(record))
            else:
                print_line(line(record, local if follow else ago))
    except KeyboardInterrupt:
        raise typer.Exit from None
    if empty and not as_json:
        print_line("no decisions yet" if job is None else f"no decisions about job {one_line(job)}")


@app.command()
def waiting(context: typer.Context, *, since: Since = "", as_json: Json = False, as_csv: Csv = False) -> None:
    """List the decisions that wait for approval, with the ids for `approve` and `reject`.

    Example: `schedmate decisions waiting --since 1h`
    """
    begin = parse_since(since) if since else 0.0
    rows = [
        (one.id, one.action.value, one.job, moment_at(one.expires), one.reason)
        for one in _approvals(context).waiting(time.time())
        if one.time >= begin
    ]
    columns = ("decision", "action", "job", "expires", "reason")
    print_rows(columns, rows, as_json=as_json, as_csv=as_csv, empty="no decision waits for approval")


@app.command()
def approve(
    context: typer.Context,
    decision_id: Annotated[
        str, typer.Argument(metavar="ID", help="An id that `waiting` lists, or its first characters.")
    ],
    *,
    reason: Reason,
) -> None:
    """Approve a waiting decision. The bridge carries it out if the guardrails allow it.

    Example: `schedmate decisions approve restart/4711/0/xid_79 --reason "the node is drained"`
    """
    _decide(context, Command.APPROVE, decision_id, reason)


@app.command()
def reject(
    context: typer.Context,
    decision_id: Annotated[
        str, typer.Argument(metavar="ID", help="An id that `waiting` lists, or its first characters.")
    ],
    *,
    reason: Reason,
) -> None:
    """Reject a waiting decision.

    Example: `schedmate decisions reject restart/4711/0/xid_79 --reason "the user wants to look at it first"`
    """
    _decide(context, Command.REJECT, decision_id, reason)


@app.command()
def stop(context: typer.Context, *, reason: Reason) -> None:
    """Stop all actions of all bridges until `resume`. Actions that have begun are completed.

    Example: `schedmate decisions stop --reason "maintenance of the file system"`
    """
    _write(context, Command.STOP, str(uuid.uuid4()), reason)
    print_line("stopped: no bridge begins an action until `schedmate decisions resume`")


@app.command()
def resume(context: typer.Context, *, reason: Reason) -> None:
    """Allow actions again. Waiting decisions that have not expired are examined again.

    Example: `schedmate decisions resume --reason "maintenance is over"`
    """
    stops = _approvals(context).commands.stops
    for one in stops:
        _write(context, Command.RESUME, one.id, reason)
        print_line(f"lifted: stopped by {one_line(one.author)}: {one_line(one.reason)}")
    if not stops:
        print_line("nothing is stopped")


def _decide(context: typer.Context, command: Command, decision_id: str, reason: str) -> None:
    decision = _approvals(context).find(decision_id, time.time())
    _write(context, command, decision.id, reason, decision)
    done = "approved" if command is Command.APPROVE else "rejected"
    see = f"schedmate decisions --job {shlex.quote(one_line(decision.job))}"
    print_line(f"{done}: {decision.action} {one_line(decision.job)}; see `{see}`")


def _write(context: typer.Context, command: Command, about: str, reason: str, decision: Decision | None = None) -> None:
    from ..approvals import person, write

    loaded: Loaded = context.obj
    job, expires = (decision.job, decision.expires) if decision else ("", None)
    write(loaded.settings, command, about, reason, user=person(), job=job, expires=expires)


def _approvals(context: typer.Context) -> "Approvals":
    from ..approvals import Approvals

    loaded: Loaded = context.obj
    return Approvals(_records(loaded, follow=False, since=None))


def _row(record: Shown) -> tuple[object, ...]:
    if isinstance(record, OperatorCommand):
        return (
            moment_at(record.time),
            record.command,
            "",
            record.job,
            f"{record.author}: {record.reason}",
            record.about,
        )
    if isinstance(record, Decision):
        return (moment_at(record.time), record.mode, record.action, record.job, record.reason, record.id)
    return (moment_at(record.time), record.outcome, record.action, record.job, record.detail, record.decision_id)


def line(record: Shown, worded: Callable[[datetime], str] = ago) -> str:
    """Return a record as one line for a person; `worded` formats its time."""
    when = f"{worded(moment):<15}" if (moment := moment_at(record.time)) else f"{record.time}"
    if isinstance(record, OperatorCommand):
        reason = one_line(f"{record.author}: {record.reason}")
        return f"{when}  {record.command.upper():10}  {one_line(record.job)}  {reason}"
    if isinstance(record, Decision):
        return f"{when}  {record.mode.upper():10}  {record.action} {one_line(record.job)}  {one_line(record.reason)}"
    seen = ", ".join(f"{name} {value}" for name, value in record.seen.items() if value)
    about = one_line("; ".join(part for part in (record.detail, seen) if part))
    return f"{when}  {record.outcome:10}  {record.action} {one_line(record.job)}  {about}"


def _records(loaded: Loaded, follow: bool, since: float | None, *, warns: bool = False) -> Iterator[Shown]:
    """Yield what the topics hold. What is malformed is left out; with `warns`, a warning names its place."""
    from streams.accept import accept

    messages = _follow(loaded, since) if follow else _stored(loaded, since)
    for message in messages:
        try:
            record = accept(message)
        except InvalidRecord as error:
            if warns:
                place = message.position
                warn(f"left out {place.topic}, partition {place.partition}, offset {place.offset}: {error}")
            continue
        if isinstance(record, Decision | DecisionResult | OperatorCommand):
            yield record


def _stored(loaded: Loaded, since: float | None) -> Iterator[Message]:
    from streams.kafka import read_back

    from ..connections import kafka_connection

    stored = list(read_back(kafka_connection(loaded.settings.kafka), TOPICS, since))
    yield from sorted(stored, key=lambda message: message.time)


def _follow(loaded: Loaded, since: float | None) -> Iterator[Message]:
    """Yield what is stored, then what comes. The group never commits, so nothing is left of it."""
    from streams.kafka import KafkaConsumer

    from ..connections import kafka_connection

    shown: dict[tuple[str, int], int] = {}
    for message in _stored(loaded, since):
        place = message.position
        shown[place.topic, place.partition] = max(place.offset, shown.get((place.topic, place.partition), -1))
        yield message
    settings = loaded.settings.kafka
    group = f"{settings.group}-decisions-{uuid.uuid4().hex}"
    with KafkaConsumer(kafka_connection(settings), group, TOPICS) as consumer:
        while True:
            for message in consumer.poll(1.0):
                place = message.position
                if place.offset > shown.get((place.topic, place.partition), -1):
                    yield message
