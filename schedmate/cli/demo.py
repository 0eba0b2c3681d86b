"""`schedmate demo`: live jobs, verdicts and decisions in one process."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from .web import PORT

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(
    keep: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the database in this new or empty directory.")
    ] = None,
    *,
    web: Annotated[
        bool, typer.Option("--web", help="Serve the web page of the demo afterwards, on 127.0.0.1.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port of --web; 0 for any free port.")] = PORT,
) -> None:
    """Run small training jobs on this machine, watch them, and act on them. It needs no server and no root, and takes under a minute.

    The exit code is 0 only if all checks pass. The end of the output lists those that failed.

    Examples: `schedmate demo`, `schedmate demo --web`, `schedmate demo --keep ./history`
    """
    import signal

    from . import fail
    from .extras import require

    require("chdb")
    if web:
        require("starlette")
        from ..web.serve import listen

        listen(port).close()  # a port in use is reported now, not after the demo
    from ..demo.run import WIDTH, CannotRun, run
    from .safe_console import SafeConsole

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(
            number, lambda number, _: sys.exit(128 + number)
        )  # through all that ends the jobs and takes away what is not kept
    console = SafeConsole()
    console.width = min(console.width, WIDTH) if console.is_terminal else WIDTH
    with TemporaryDirectory(prefix="schedmate-demo-") as passing:
        database = Path(passing) / "history" if web and keep is None else keep
        try:
            held = run(database, console)
        except CannotRun as error:
            fail(str(error))
        except KeyboardInterrupt:
            raise typer.Exit(130) from None
        if keep is not None:
            ask = f"schedmate --set clickhouse.url=chdb://{keep.absolute()} query slowdowns"
            console.print(f"The database stays. Ask it: {ask}", soft_wrap=True)
        if web and database is not None:
            _serve(database.absolute(), port)
    raise typer.Exit(0 if held else 1)


def _serve(database: Path, port: int) -> None:
    from ..settings.settings import load
    from ..web.serve import serve

    # No broker holds the demo's lines: the page does not offer to show them.
    serve(load(None, {"clickhouse.url": f"chdb://{database}", "kafka.brokers": ""}).settings, port)
