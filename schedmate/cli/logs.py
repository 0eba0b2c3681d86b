"""`schedmate logs`: the lines of a job, from ClickHouse."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from schedmate_records import UserError

from ..log_link import STORE_LINES
from ..settings.settings import Loaded
from ..terminal import one_line
from ..times import parse_since
from .console import print_line, warn
from .listing import Since

if TYPE_CHECKING:
    from clickhouse_connect.driver.client import Client

    from sinks.clickhouse.incarnations import FoundJob
    from sinks.clickhouse.lines import LineStream, Selection, StoredLine

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(
    context: typer.Context,
    job: Annotated[str, typer.Argument(help="The job's id.")],
    *,
    grep: Annotated[
        str,
        typer.Option(metavar="RE", help="Show only lines that match a regular expression (RE2).", show_default=False),
    ] = "",
    around: Annotated[
        int | None, typer.Option(metavar="LINE", min=1, help="Show 20 lines before and after this line.")
    ] = None,
    rank: Annotated[int | None, typer.Option(min=0, help="Show only this rank; all by default.")] = None,
    attempt: Annotated[int | None, typer.Option(min=0, help="Attempt; the newest by default.")] = None,
    since: Since = "",
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Wait for new lines and show them, until Ctrl-C.")
    ] = False,
) -> None:
    """Show the lines of a job with their numbers, ordered by rank and number.

    The sink stores lines if `clickhouse.job_lines_days` is set. The exit code is 1 if no line was found.

    Example: `schedmate logs 4711 --grep "(?i)error|warn" --rank 3`, `schedmate logs 4711 --around 1200`,
    `schedmate logs 4711 --since 10m --follow`
    """
    from sinks.clickhouse.incarnations import find_job
    from sinks.clickhouse.lines import Selection, any_lines, check_pattern, last_place, newest_attempt

    from ..services.sink import clickhouse_reader

    loaded: Loaded = context.obj
    settings = loaded.settings.clickhouse
    begin = parse_since(since) if since else None
    client = clickhouse_reader(settings)()
    try:
        if grep:
            check_pattern(client, grep)
        found = find_job(client, job)
        newest = newest_attempt(client, found)
        if newest is None and not (any_lines(client) and follow):
            raise UserError(_no_lines(job, stored=any_lines(client)))
        place = last_place(client, found)
        lines = _stored(client, found, Selection(newest if attempt is None else attempt, rank, grep, around, begin))
        if follow:
            lines = chain(lines, _arriving(client, found, Selection(attempt, rank, grep, None, begin), place))
        if not _print(lines):
            warn(f"no line of job {job!r} matches")
            raise typer.Exit(1)
    except KeyboardInterrupt:
        if not follow:
            raise
    finally:
        client.close()


def _no_lines(job: str, *, stored: bool) -> str:
    if stored:
        return f"no lines of job {job!r} are stored: they have expired, or it has not printed any since the sink began to store lines"
    return (
        f"no lines of jobs are stored. {STORE_LINES}: it stores the lines that Kafka still keeps, and those that come"
    )


def _stored(client: "Client", job: "FoundJob", selection: "Selection") -> "Iterator[tuple[LineStream, StoredLine]]":
    from sinks.clickhouse.lines import line_streams, read_lines

    for stream in line_streams(client, job, selection):
        for line in read_lines(client, job.job, stream, selection):
            yield stream, line


def _arriving(
    client: "Client", job: "FoundJob", selection: "Selection", after: dict[int, tuple[int, int]]
) -> "Iterator[tuple[LineStream, StoredLine]]":
    """Yield lines as the sink stores them, without end."""
    import time

    from sinks.clickhouse.lines import new_lines

    while True:
        for stream, line in new_lines(client, job, selection, after):
            after[line.src_partition] = (line.src_offset, line.piece)
            yield stream, line
        # Seconds between two questions of `--follow`: the sink stores lines once a second.
        time.sleep(0.5)


def _print(lines: "Iterable[tuple[LineStream, StoredLine]]") -> int:
    """Print lines, with a heading where the stream changes; return their number."""
    count, heading = 0, ""
    for stream, line in lines:
        on = f" on {stream.node}" if stream.node else ""
        title = f"==> {stream.stream} of rank {stream.rank}{on}, attempt {stream.attempt} <=="
        if title != heading:
            print_line(one_line(title))
            heading = title
        left_out = f"[{line.omitted:,} lines were not stored: the job had reached its quota of the day (clickhouse.job_lines_mb)]"
        print_line(f"{line.line:>8} | {left_out if line.omitted else one_line(line.text)}")
        count += 1
    return count
