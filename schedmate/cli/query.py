"""`schedmate query`: the usual questions to ClickHouse, and any other."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from schedmate.cli.console import console, say, say_json
from schedmate.settings import Loaded

if TYPE_CHECKING:
    from sinks.clickhouse import Answer

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="The question; leave it out to see all.")] = None,
    given: Annotated[
        list[str] | None, typer.Argument(metavar="[PARAMETER=VALUE]...", help="Values of its parameters.")
    ] = None,
    *,
    sql: Annotated[
        str | None, typer.Option(help="A question of your own; parameters stand in it as {name:Type}.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a row.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="CSV with a header.")] = False,
) -> None:
    """Ask ClickHouse one of the usual questions, or any other.

    Example: `schedmate query throughput job=4711 hours=2`, `schedmate query failures --csv`,
    `schedmate query --sql "SELECT count() FROM job_metrics WHERE job = {job:String}" job=4711`
    """
    from schedmate.sinking import clickhouse_opener
    from sinks.clickhouse import ask, run

    if json and csv:
        raise typer.BadParameter("--json and --csv exclude each other")
    arguments = [*([name] if name and sql else []), *(given or [])]
    if not name and not sql:
        _list()
        return
    values = dict(_value(argument) for argument in arguments)
    loaded: Loaded = context.obj
    client = clickhouse_opener(loaded.settings.clickhouse)()
    try:
        answer = ask(client, sql, values) if sql else run(client, name or "", values)
    finally:
        client.close()
    _csv(answer) if csv else _json(answer) if json else _table(answer)


def _value(argument: str) -> tuple[str, str]:
    name, equals, value = argument.partition("=")
    if not equals:
        raise typer.BadParameter(f"expected parameter=value, got {argument!r}")
    return name, value


def _list() -> None:
    from rich.table import Table

    from sinks.clickhouse import queries

    table = Table("question", "what it answers", "parameters", box=None, pad_edge=False)
    for query in queries().values():
        takes = [
            parameter.name if parameter.default is None else f"{parameter.name}={parameter.default}"
            for parameter in query.parameters
        ]
        table.add_row(query.name, query.title, " ".join(takes))
    console().print(table)


def _table(answer: "Answer") -> None:
    from rich.table import Table

    from schedmate.cli.cells import cell

    if not answer.rows:
        say("no rows")
        return
    table = Table(*answer.columns, box=None, pad_edge=False)
    for row in answer.rows:
        table.add_row(*(cell(value) for value in row))
    console().print(table)


def _json(answer: "Answer") -> None:
    import msgspec

    encoder = msgspec.json.Encoder(enc_hook=str)
    for row in answer.rows:
        say_json(encoder.encode(dict(zip(answer.columns, row, strict=True))))


def _csv(answer: "Answer") -> None:
    import csv
    from datetime import datetime

    if not answer.columns:  # The embedded engine names no columns where there are no rows.
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(answer.columns)
    for row in answer.rows:
        writer.writerow([value.isoformat() if isinstance(value, datetime) else value for value in row])
