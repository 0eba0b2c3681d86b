"""`schedmate shadow-report`: what the bridge would have done, and what happened instead."""

from typing import TYPE_CHECKING, Annotated

import typer

from schedmate.cli.console import say
from schedmate.cli.listing import Csv, Json, print_rows
from schedmate.settings import Loaded

if TYPE_CHECKING:
    from schedmate.shadow import Row

SUMMARY = ("action", "cause", "decisions", "right", "wrong", "not known", "GPU hours saved", "wasted", "instead")
DECISION = (
    *("id", "action", "job", "attempt", "cause", "cause_id", "time", "beneficiary", "exclude_nodes"),
    *("instead", "hours_saved", "hours_wasted", "corrected"),
)
EXPLANATION = (
    "right: somebody did the same and it helped, or a slowdown went on. wrong: it would have been useless, or a person named another "
    "cause. GPU hours count only where the GPUs and both ends of a time are known; `+ n` stands for n decisions whose hours are not."
)

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(
    context: typer.Context,
    *,
    days: Annotated[int, typer.Option(min=1, help="Decisions of so many days.")] = 7,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Show what decisions in shadow mode would have done, what happened to their jobs instead, and the GPU hours saved or wasted.

    It asks ClickHouse. Hourly limits and budgets of jobs are not applied: with them, fewer would have been carried out.

    Example: `schedmate shadow-report --days 7`
    """
    from schedmate.services.sink import clickhouse_opener
    from schedmate.shadow import as_row, gather, judge, summarise

    loaded: Loaded = context.obj
    client = clickhouse_opener(loaded.settings.clickhouse)()
    try:
        judged = judge(gather(client, days))
    finally:
        client.close()
    if as_json or as_csv:
        rows = [as_row(one) for one in judged]
        print_rows(DECISION, [[row[name] for name in DECISION] for row in rows], as_json=as_json, as_csv=as_csv)
        return
    empty = f"no decision of the last {days} days was left in shadow mode"
    print_rows(SUMMARY, [_summary(row) for row in summarise(judged)], empty=empty)
    if judged:
        say("")
        say(EXPLANATION)


def _summary(row: "Row") -> tuple[object, ...]:
    order = sorted(row.instead.items(), key=lambda item: (-item[1], item[0]))
    instead = "; ".join(f"{count} {what}" for what, count in order)
    corrected = f" ({row.corrected} corrected)" if row.corrected else ""
    unknown = f" + {row.hours_unknown}" if row.hours_unknown else ""
    verdicts = (row.decisions, row.right, f"{row.wrong}{corrected}", row.unknown)
    return (row.action, row.cause, *verdicts, f"{row.hours_saved:.1f}{unknown}", f"{row.hours_wasted:.1f}", instead)
