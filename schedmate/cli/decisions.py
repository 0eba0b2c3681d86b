"""`schedmate decisions`: what was decided, and what became of it."""

import uuid
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Annotated

import typer

from records import Decision, DecisionResult, InvalidRecord, encode
from schedmate.cli.console import say, say_json, warn
from schedmate.cli.listing import Csv, Json, Since, print_rows
from schedmate.settings import Loaded
from schedmate.terminal import one_line
from schedmate.times import ago, at, local
from schedmate.times import since as moment
from streams.transport import Message

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

TOPICS = ("decisions", "decision-results")
COLUMNS = ("time", "outcome", "action", "job", "why", "decision")


@app.command()
def command(
    context: typer.Context,
    *,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes.")] = False,
    job: Annotated[str | None, typer.Option(help="Only those about this job.")] = None,
    since: Since = "",
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Show decisions and what became of them, in the order in which they were written. It takes part in nothing.

    Example: `schedmate decisions --follow --job 4711`
    """
    loaded: Loaded = context.obj
    records = (each for each in _records(loaded, follow, moment(since) if since else None) if job in (None, each.job))
    if as_csv and follow:
        raise typer.BadParameter("--csv and --follow exclude each other: CSV is written at the end")
    if as_csv:
        print_rows(COLUMNS, [_row(record) for record in records], as_csv=True)
        return
    try:
        for record in records:
            if as_json:
                say_json(encode(record))
            else:
                say(line(record, local if follow else ago))
    except KeyboardInterrupt:
        raise typer.Exit from None


def _row(record: Decision | DecisionResult) -> tuple[object, ...]:
    if isinstance(record, Decision):
        return (at(record.time), record.mode, record.action, record.job, record.reason, record.id)
    return (at(record.time), record.outcome, record.action, record.job, record.detail, record.decision_id)


def line(record: Decision | DecisionResult, worded: Callable[[datetime], str] = ago) -> str:
    """Return a record as one line for a person; `worded` says its time."""
    when = f"{worded(time):<15}" if (time := at(record.time)) else f"{record.time}"
    if isinstance(record, Decision):
        return f"{when}  {record.mode.upper():10}  {record.action} {one_line(record.job)}  {one_line(record.reason)}"
    seen = ", ".join(f"{name} {value}" for name, value in record.seen.items() if value)
    about = one_line("; ".join(part for part in (record.detail, seen) if part))
    return f"{when}  {record.outcome:10}  {record.action} {one_line(record.job)}  {about}"


def _records(loaded: Loaded, follow: bool, since: float | None) -> Iterator[Decision | DecisionResult]:
    from streams.accept import accept

    messages = _follow(loaded, since) if follow else _stored(loaded, since)
    for message in messages:
        try:
            record = accept(message)
        except InvalidRecord as error:
            warn(str(error))
            continue
        if isinstance(record, Decision | DecisionResult):
            yield record


def _stored(loaded: Loaded, since: float | None) -> Iterator[Message]:
    from schedmate.connections import kafka_connection
    from streams.kafka import read_back

    stored = list(read_back(kafka_connection(loaded.settings.kafka), TOPICS, since))
    yield from sorted(stored, key=lambda message: message.time)


def _follow(loaded: Loaded, since: float | None) -> Iterator[Message]:
    """Yield what is stored, then what comes. The group never commits, so nothing is left of it."""
    from schedmate.connections import kafka_connection
    from streams.kafka import KafkaConsumer

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
