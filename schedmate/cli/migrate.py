"""`schedmate migrate`: the tables of ClickHouse."""

from typing import Annotated

import typer

from ..settings.settings import Loaded
from .console import print_line

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(
    context: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing. The exit code is 2 if something is missing.")
    ] = False,
    wait: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="Maximum time to wait for a server that is unreachable.")
    ] = 0.0,
) -> None:
    """Create or update the tables of ClickHouse, and set how long rows are kept. Running it again changes nothing.

    A table that was dropped is created again, empty; `schedmate refill` fills it from Kafka.

    Example: `schedmate --set clickhouse.retention_days=30 migrate --wait 60`
    """
    import threading

    from sinks import SinkUnavailable
    from sinks.clickhouse.migrate import check_schema, lost, migrate
    from streams.resilience import Outage, retry

    from ..services.sink import clickhouse_opener

    loaded: Loaded = context.obj
    settings = loaded.settings.clickhouse
    given_up = threading.Event()
    timer = threading.Timer(wait, given_up.set)
    timer.start()
    opener = clickhouse_opener(settings)
    try:
        client = retry(opener, Outage("ClickHouse"), on=SinkUnavailable, stop=given_up) if wait else opener()
    finally:
        timer.cancel()
    try:
        if check:
            check_schema(client)
            print_line("the tables are as they should be")
            return
        missing = lost(client)
        days = {"default": settings.retention_days, "job_lines": settings.job_lines_days or settings.retention_days}
        ran = migrate(client, keep_days=days)
    finally:
        client.close()
    if missing:
        print_line(f"created again, without their rows: {', '.join(missing)}")
        for line in _how_to_refill(missing):
            print_line(line)
        return
    print_line(f"ran {', '.join(ran)}" if ran else "the tables are up to date")


def _how_to_refill(missing: list[str]) -> list[str]:
    from ..services.refill import TOPICS_OF

    tables = list(dict.fromkeys(name.partition(".")[0] for name in missing))
    filled = [table for table in tables if table in TOPICS_OF]
    if not filled:
        return []
    return [f"to read again what Kafka still keeps of them: schedmate refill {' '.join(filled)}"]
