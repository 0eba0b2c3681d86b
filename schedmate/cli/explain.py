"""`schedmate explain`: one job's failure as a page for a colleague."""

import shlex
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from schedmate_records import UserError

from ..settings.settings import Loaded
from .console import console, print_line, warn, width_is_told

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(
    context: typer.Context,
    job: Annotated[str, typer.Argument(help="The job's id.")],
    *,
    attempt: Annotated[int | None, typer.Option(min=0, help="Attempt; the newest by default.")] = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown, for a ticket.")] = False,
) -> None:
    """Explain why a job failed: verdict, quoted lines, evidence for and against it, actions, and what to do.

    The exit code is 1 if the job is unknown. Example: `schedmate explain 4711 --markdown > ticket.md`
    """
    from ..assembly import signatures
    from ..explain.facts import gather
    from ..explain.page import markdown, plain
    from ..log_link import log_command, log_link
    from ..services.sink import clickhouse_reader

    loaded: Loaded = context.obj
    # Characters of a file's name.
    remedy = f"for a log: schedmate analyze {shlex.quote(job)}" if Path(job[:255]).is_file() else ""
    try:
        with closing(clickhouse_reader(loaded.settings.clickhouse)()) as client:
            facts = gather(client, job, attempt)
            lines = log_command(client, job, facts.verdict) if facts and facts.verdict else ""
    except UserError as error:
        if not remedy:
            raise
        raise UserError(f"{remedy}; for a job: {error}") from error
    if facts is None:
        warn(f"nothing is on record of job {job!r}{remedy and '; '}{remedy}")
        raise typer.Exit(1)
    known = {one.name: one for one in signatures(loaded.settings.processors)}
    screen = console()
    width = screen.width if width_is_told() else None
    print_line(markdown(facts, known) if as_markdown else plain(facts, known, width))
    if lines:
        print_line(f"Lines around it: {f'`{lines}`' if as_markdown else lines}")
    if loaded.settings.web.log_link and facts.verdict:
        print_line(f"Its log: {log_link(loaded.settings.web.log_link, job, facts.verdict)}")
