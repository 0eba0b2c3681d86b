"""`schedmate query`: the usual questions to ClickHouse, and any other."""

import math
import time
from contextlib import closing
from typing import Annotated

import typer

from ..settings.settings import Loaded, SettingsError
from ..times import parse_since
from .listing import Csv, Json, Since, print_rows

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

SPANS = {"hours": 3600, "days": 86_400, "weeks": 604_800}
"""Parameters that set how far back a question looks, and their units in seconds."""


def _names() -> list[str]:
    from sinks.clickhouse.queries import queries

    return list(queries())


@app.command()
def command(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(help="Name of the query; without it, all are listed.", autocompletion=_names)
    ] = None,
    given: Annotated[
        list[str] | None, typer.Argument(metavar="[PARAMETER=VALUE]...", help="Parameters of the query.")
    ] = None,
    *,
    sql: Annotated[str | None, typer.Option(help="Your own SQL; write parameters as {name:Type}.")] = None,
    since: Since = "",
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Run a named query, or your own SQL, on ClickHouse. Queries are read-only.

    Example: `schedmate query throughput job=4711 hours=2`, `schedmate query failures --since 30d --csv`,
    `schedmate query --sql "SELECT count() FROM job_metrics WHERE job = {job:String}" job=4711`
    """
    from sinks.clickhouse.queries import ask, checked, run
    from sinks.clickhouse.statement import checked_statement

    from ..services.sink import clickhouse_reader

    arguments = [*([name] if name and sql else []), *(given or [])]
    if not name and not sql:
        _list(as_json=as_json, as_csv=as_csv)
        return
    values = dict(_value(argument) for argument in arguments) | (
        _span("" if sql else name or "", since) if since else {}
    )
    loaded: Loaded = context.obj
    settings = loaded.settings.clickhouse
    if not sql:
        checked(name or "", values)  # before a server is asked
    with closing(clickhouse_reader(settings)()) as client:
        if sql:
            question = checked_statement(client, sql, values, embedded=settings.url.startswith("chdb:"))
            answer = ask(client, question, values, typed=True)
        else:
            answer = run(client, name or "", values)
    print_rows(answer.columns, answer.rows, as_json=as_json, as_csv=as_csv, relative=False)


def _value(argument: str) -> tuple[str, str]:
    name, equals, value = argument.partition("=")
    if not equals:
        raise typer.BadParameter(f"expected parameter=value, got {argument!r}")
    return name, value


def _list(*, as_json: bool, as_csv: bool) -> None:
    from sinks.clickhouse.queries import queries

    rows = []
    for query in queries().values():
        takes = [
            parameter.name if parameter.default is None else f"{parameter.name}={parameter.default}"
            for parameter in query.parameters
        ]
        rows.append((query.name, query.title, " ".join(takes)))
    print_rows(("question", "what it answers", "parameters"), rows, as_json=as_json, as_csv=as_csv)


def _span(name: str, since: str) -> dict[str, str]:
    """Return `since` as the parameter that the question takes for it, rounded up to its unit."""
    from sinks.clickhouse.queries import queries

    # `throughput` looks back from a job's newest minute, not from now.
    known = (
        {parameter.name for parameter in queries()[name].parameters}
        if name in queries().keys() - {"throughput"}
        else set()
    )
    unit = next((unit for unit in SPANS if unit in known), None)
    if unit is None:
        raise SettingsError(
            f"query {name or '--sql'} takes no --since: none of {', '.join(SPANS)} in it counts from now"
        )
    return {unit: str(max(1, math.ceil((time.time() - parse_since(since)) / SPANS[unit])))}
