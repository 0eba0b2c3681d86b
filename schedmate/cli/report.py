"""`schedmate report`: a job's report card, and a month's goodput."""

from contextlib import closing
from typing import Annotated

import typer

from ..settings.settings import Loaded, SettingsError
from .console import print_line, warn
from .listing import Csv, Json, print_rows

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(
    context: typer.Context,
    job: Annotated[str | None, typer.Argument(help="The job's id.", show_default=False)] = None,
    *,
    attempt: Annotated[int | None, typer.Option(min=0, help="Attempt; the newest by default.")] = None,
    month: Annotated[
        str,
        typer.Option(metavar="YYYY-MM", help="Goodput of all jobs that started in a month (UTC).", show_default=False),
    ] = "",
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Show what a job requested and used, with one sentence of advice; or show the goodput of a month.

    Goodput is the GPU time spent on training, divided by the allocated GPU time. The rest was lost to failures (work since the last
    durable checkpoint), start-up, hangs and checkpoints. A dash is an unknown number. The exit code is 1 if nothing is on record.

    Example: `schedmate report 4711`, `schedmate report --month 2026-11`
    """
    from ..goodput import is_month, this_month
    from ..services.sink import clickhouse_reader

    loaded: Loaded = context.obj
    if (job is None) == (month == ""):
        raise SettingsError(
            "expected a job or --month, such as `schedmate report 4711` or `schedmate report --month 2026-11`"
        )
    if month and not is_month(month):
        raise SettingsError(f"expected --month as {this_month()}, got {month!r}")
    with closing(clickhouse_reader(loaded.settings.clickhouse)()) as client:
        if job is None:
            from ..goodput import read_month

            found = read_month(client, month)
            tables, note = found.tables(), found.note
            missing = f"no job with GPUs started in {month}"
        else:
            from ..report_card import read_card

            card = read_card(client, job, attempt)
            tables, note = ([], "") if card is None else ([card.table()], card.advice)
            missing = f"nothing is on record of job {job!r}"
    if not any(rows for _, _, rows in tables):
        warn(missing)
        raise typer.Exit(1)
    if not tables[0][2]:
        warn(f"{missing}: there is no goodput to show")
    _print(tables, as_json=as_json, as_csv=as_csv)
    if note and not (as_json or as_csv):
        print_line(f"\n{note}")


def _print(tables: list, *, as_json: bool, as_csv: bool) -> None:  # type: ignore[type-arg]
    for place, (title, columns, rows) in enumerate(each for each in tables if each[2]):
        if as_json or as_csv:
            print_rows(("table", *columns), [(title, *row) for row in rows], as_json=as_json, as_csv=as_csv)
            continue
        if place:
            print_line("")
        print_line(f"{title}\n")
        print_rows(columns, [["—" if value is None else value for value in row] for row in rows])
