"""`schedmate shadow-report`: what the bridge would have done, and what happened instead."""

from contextlib import closing
from typing import Annotated

import typer

from ..settings.settings import Loaded
from ..times import parse_since
from .console import print_line
from .listing import Csv, Json, print_rows, since_option

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(
    context: typer.Context,
    *,
    since: Annotated[str, since_option("a week")] = "7d",
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Compare decisions in shadow mode with what happened to their jobs, and estimate the GPU hours they would have saved or wasted.

    It reads ClickHouse. Hourly limits and budgets of jobs are not applied; with them, fewer decisions would have been carried out.

    Example: `schedmate shadow-report --since 30d`
    """
    from ..services.sink import clickhouse_reader
    from ..shadow.facts import gather
    from ..shadow.report import DECISION, EXPLANATION, SUMMARY, as_row, judge, summarise, summary

    loaded: Loaded = context.obj
    begin = parse_since(since)
    with closing(clickhouse_reader(loaded.settings.clickhouse)()) as client:
        judged = judge(gather(client, begin))
    if as_json or as_csv:
        rows = [as_row(one) for one in judged]
        print_rows(DECISION, [[row[name] for name in DECISION] for row in rows], as_json=as_json, as_csv=as_csv)
        return
    empty = f"no decision was left in shadow mode (--since {since})"
    print_rows(SUMMARY, [summary(row) for row in summarise(judged)], empty=empty)
    if judged:
        print_line("")
        print_line(EXPLANATION)
