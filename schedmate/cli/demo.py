"""`schedmate demo`: live jobs, verdicts and decisions in one process."""

import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(
    keep: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the database there, in a new or empty directory.")
    ] = None,
    web: Annotated[
        int | None,
        typer.Option("--web", metavar="PORT", min=0, max=65_535, help="With --keep: serve the page there afterwards."),
    ] = None,
) -> None:
    """Run small training jobs on this machine, watch them, and act on them: no server, no root, under a minute.

    Exit code 0 only if all that was promised happened; what did not is said at the end.

    Examples: `schedmate demo`, `schedmate demo --keep ./history`, `schedmate demo --keep ./history --web 8787`
    """
    import signal

    from schedmate.cli import fail
    from schedmate.extras import require

    require("chdb")
    if web is not None:
        if keep is None:
            raise typer.BadParameter("expected --keep DIR beside --web: the page reads the database that stays there")
        require("starlette")
    from schedmate.demo.run import WIDTH, CannotRun, run
    from schedmate.safe_console import SafeConsole

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))  # through all that ends the jobs
    console = SafeConsole()
    console.width = min(console.width, WIDTH) if console.is_terminal else WIDTH
    try:
        kept = run(keep, console)
    except CannotRun as error:
        fail(str(error))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    if web is not None and keep is not None:
        from schedmate.settings import load
        from schedmate.web.serve import serve

        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)  # the jobs are over; the server ends in its own way
        # No broker holds the demo's lines: the page does not offer to show them.
        serve(load(None, {"clickhouse.url": f"chdb://{keep.absolute()}", "kafka.brokers": ""}).settings, web)
    raise typer.Exit(0 if kept else 1)
