"""`schedmate refill`: tables of ClickHouse, from Kafka."""

from contextlib import closing
from typing import Annotated

import typer

from ..settings.settings import Loaded, SettingsError
from .console import print_line

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(
    context: typer.Context,
    tables: Annotated[list[str], typer.Argument(metavar="TABLE...", help="Names of tables, as in docs/queries.md.")],
) -> None:
    """Fill tables of ClickHouse again from Kafka, which keeps most records for 14 days, lines for three days and GPU samples for one.

    Use it after `schedmate migrate` has created a lost table again. The sink may run at the same time. A record that is already in the
    table changes nothing, so the command can be repeated. It needs the sink's rights.

    Example: `schedmate migrate && schedmate refill failures`
    """
    from sinks.clickhouse.writer import ClickHouseWriter

    from ..connections import kafka_connection
    from ..services.refill import LINES, TOPICS_OF, refill, refill_lines
    from ..services.sink import clickhouse_opener

    loaded: Loaded = context.obj
    settings = loaded.settings
    if unknown := [table for table in tables if table not in TOPICS_OF]:
        raise SettingsError(f"expected tables of {', '.join(sorted(TOPICS_OF))}; got {', '.join(unknown)}")
    if LINES in tables and not settings.clickhouse.job_lines_days:
        raise SettingsError("expected clickhouse.job_lines_days to be set: lines of jobs are not stored")
    connection = kafka_connection(settings.kafka)
    with closing(ClickHouseWriter(clickhouse_opener(settings.clickhouse))) as writer:
        for topic in dict.fromkeys(TOPICS_OF[table] for table in tables):
            if topic == TOPICS_OF[LINES]:
                count = refill_lines(
                    connection, f"{settings.kafka.group}-lines", writer, settings.clickhouse.job_lines_mb
                )
            else:
                count = refill(
                    connection, f"{settings.kafka.group}-sink", writer, topic, settings.clickhouse.batch_rows
                )
            print_line(f"read {count:,} records of {topic} again")
