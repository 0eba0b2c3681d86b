"""`schedmate dead-letters`: what could not be used, and what can be done about it."""

import sys
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from ..settings.settings import Loaded, SettingsError
from ..times import local_and_ago, moment_at, parse_since
from .console import print_json, print_line
from .listing import Csv, Json, Since, print_rows

if TYPE_CHECKING:
    from schedmate_records import DeadLetter

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")

SHOWN = 64 << 10
"""Bytes of a value that `show` prints, a thousand lines or so; `--raw` writes all."""


@app.callback()
def dead_letters() -> None:
    """Show unreadable messages, send them again, or skip one. Example: `schedmate dead-letters list --since 1h`."""


@app.command("list")
def list_all(
    context: typer.Context,
    *,
    topic: Annotated[str, typer.Option(help="Show only dead letters of this topic.", show_default="all")] = "",
    stage: Annotated[
        str,
        typer.Option(help="Show only this reason: decode, process, write, limit or quarantine.", show_default="all"),
    ] = "",
    since: Since = "",
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """List dead letters, oldest first.

    Example: `schedmate dead-letters list --topic job-logs --since 2h`
    """
    found = [
        letter
        for letter in _letters(context, parse_since(since) if since else None)
        if topic in ("", letter.topic) and stage in ("", letter.stage)
    ]
    if as_json:
        from schedmate_records import encode

        for letter in found:
            print_json(encode(letter))
        return
    rows = []
    for letter in found:
        size = f"{letter.size or len(letter.value):,}{' (cut)' if letter.truncated else ''}"
        rows.append((letter.id, moment_at(letter.time), letter.stage, size, letter.reason[:200]))
    print_rows(("id", "time", "stage", "bytes", "reason"), rows, as_csv=as_csv, empty="no dead letters")


@app.command()
def show(
    context: typer.Context,
    letter_id: Annotated[str, typer.Argument(metavar="ID", help="An id that `list` shows, or TOPIC/PARTITION/OFFSET.")],
    *,
    raw: Annotated[bool, typer.Option("--raw", help="Write only the bytes of the value.")] = False,
) -> None:
    """Show the original position, reason, key and value of a dead letter.

    Example: `schedmate dead-letters show job-logs/2/3 --raw > value.bin`
    """
    from streams.dead_letters import find

    (letter,) = find(_letters(context), [letter_id])
    if raw:
        sys.stdout.buffer.write(letter.value)
        return
    size = f"{letter.size or len(letter.value):,} bytes"
    rows = {
        "id": letter.id,
        "place": f"{letter.topic}/{letter.partition}/{letter.offset}",
        "time": local_and_ago(when) if (when := moment_at(letter.time)) else str(letter.time),
        "stage": letter.stage,
        "reason": letter.reason,
        "key": "none" if letter.key is None else _text(letter.key),
        "value": f"{size}, of which the first {len(letter.value):,} were kept" if letter.truncated else size,
        "sha256": letter.sha256,
    }
    for name, value in rows.items():
        print_line(f"{name:<9} {value}")
    print_line("")
    print_line(_text(letter.value[:SHOWN]))
    if len(letter.value) > SHOWN:
        print_line(f"… and {len(letter.value) - SHOWN:,} bytes more: --raw writes all")


@app.command()
def replay(
    context: typer.Context,
    letter_ids: Annotated[
        list[str], typer.Argument(metavar="ID...", help="Ids that `list` shows, or TOPIC/PARTITION/OFFSET.")
    ],
) -> None:
    """Send messages again, unchanged, to their original topic and partition.

    Do this after the program that rejected them was fixed. A message that is still unusable becomes a dead letter again. If one
    of the messages cannot be sent, none is sent.

    Example: `schedmate dead-letters replay dead//job-logs/2/3/0`
    """
    from streams.dead_letters import find, original
    from streams.dead_letters import replay as send

    from ..assembly import producer_factory

    loaded: Loaded = context.obj
    letters = find(_letters(context), letter_ids)
    for letter in letters:
        original(letter)
    with closing(producer_factory(loaded.settings)()) as producer:
        for letter in letters:
            send(letter, producer)
            print_line(f"sent again to {letter.topic}/{letter.partition}: {letter.id}, {len(letter.value):,} bytes")


@app.command()
def skip(
    context: typer.Context,
    topic: Annotated[str, typer.Argument(help="Topic of the message.")],
    partition: Annotated[int, typer.Argument(min=0, help="Partition of the message.")],
    offset: Annotated[int, typer.Argument(min=0, help="Offset of the message.")],
    *,
    program: Annotated[
        str, typer.Option("--for", metavar="PROGRAM", help="Program that stopped at the message: worker, sink, bridge.")
    ] = "worker",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Skip the message at which a worker stopped. It becomes a dead letter, and the group continues after it.

    Stop all workers first. Example: `schedmate dead-letters skip job-logs 2 317`
    """
    from schedmate_records import Position
    from streams.dead_letters import skip as pass_over
    from streams.dead_letters import standing_at

    from ..assembly import producer_factory
    from ..connections import kafka_connection

    loaded: Loaded = context.obj
    if program not in ("worker", "sink", "bridge"):
        raise SettingsError(f"expected --for worker, sink or bridge, got {program!r}")
    connection = kafka_connection(loaded.settings.kafka)
    group = f"{loaded.settings.kafka.group}-{program}"
    message = standing_at(connection, group, Position(topic, partition, offset))
    print_line(f"{topic}/{partition}/{offset}: {len(message.value):,} bytes, key {_text(message.key or b'')[:100]}")
    print_line(_text(message.value[:200]))
    if not yes:
        typer.confirm(f"Let {group} read on behind it?", abort=True)
    letter = pass_over(connection, group, message, producer_factory(loaded.settings))
    print_line(
        f"{group} reads on at {topic}/{partition}/{offset + 1}; the message is kept as {letter.id}. Start the workers again"
    )


def _letters(context: typer.Context, since: float | None = None) -> "list[DeadLetter]":
    from streams.dead_letters import read

    from ..connections import kafka_connection

    loaded: Loaded = context.obj
    return sorted(
        read(kafka_connection(loaded.settings.kafka), since),
        key=lambda letter: (letter.time, letter.topic, letter.partition, letter.offset),
    )


def _text(value: bytes) -> str:
    """Return bytes as text; where they are none, as a dump of hexadecimal numbers."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        parts = [value[at : at + 16] for at in range(0, len(value), 16)]
        return "\n".join(
            f"{16 * number:08x}  {part.hex(' '):<47}  {''.join(chr(byte) if 32 <= byte < 127 else '.' for byte in part)}"
            for number, part in enumerate(parts)
        )
