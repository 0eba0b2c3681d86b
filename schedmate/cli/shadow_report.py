"""`schedmate shadow-report`: what the bridge would have done, and what happened instead."""

from typing import TYPE_CHECKING, Annotated

import typer

from schedmate.cli.console import console, say, say_json
from schedmate.settings import Loaded

if TYPE_CHECKING:
    from schedmate.shadow import Row

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(
    context: typer.Context,
    *,
    days: Annotated[int, typer.Option(min=1, help="Decisions of so many days.")] = 7,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a decision.")] = False,
) -> None:
    """Show what decisions in shadow mode would have done, what happened to their jobs instead, and the GPU hours saved or wasted.

    It asks ClickHouse. Hourly limits and budgets of jobs are not applied: with them, fewer would have been carried out.

    Example: `schedmate shadow-report --days 7`
    """
    import msgspec

    from schedmate.shadow import as_json, gather, judge, summarise
    from schedmate.sinking import clickhouse_opener

    loaded: Loaded = context.obj
    client = clickhouse_opener(loaded.settings.clickhouse)()
    try:
        judged = judge(gather(client, days))
    finally:
        client.close()
    if json:
        for one in judged:
            say_json(msgspec.json.encode(as_json(one)))
        return
    if not judged:
        say(f"no decision of the last {days} days was left in shadow mode")
        return
    _table(summarise(judged))
    say("")
    say(
        "right: somebody did the same and it helped, or a slowdown went on. wrong: it would have been useless, or a person named another "
        "cause. GPU hours count only where the GPUs and both ends of a time are known; `+ n` stands for n decisions whose hours are not."
    )


def _table(rows: "list[Row]") -> None:
    from rich.table import Table

    from schedmate.cli.cells import cell

    columns = ("action", "cause", "decisions", "right", "wrong", "not known", "GPU hours saved", "wasted", "instead")
    table = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        instead = "; ".join(
            f"{count} {what}" for what, count in sorted(row.instead.items(), key=lambda item: (-item[1], item[0]))
        )
        corrected = f" ({row.corrected} corrected)" if row.corrected else ""
        unknown = f" + {row.hours_unknown}" if row.hours_unknown else ""
        table.add_row(
            *map(cell, (row.action, row.cause, row.decisions, row.right, f"{row.wrong}{corrected}", row.unknown)),
            *map(cell, (f"{row.hours_saved:.1f}{unknown}", f"{row.hours_wasted:.1f}", instead)),
        )
    console().print(table)
