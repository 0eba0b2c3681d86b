"""`schedmate web`: the page."""

from typing import Annotated

import typer

from ..settings.settings import Loaded

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

PORT = 8787  # default port of the page


@app.command()
def command(
    context: typer.Context,
    *,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port on 127.0.0.1; 0 for any free port.")] = PORT,
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name", metavar="HOST", help="Host name that a proxy on this host uses in its requests; repeatable."
        ),
    ] = None,
) -> None:
    """Serve a web page on 127.0.0.1 that shows jobs, verdicts with their quoted lines, alarms, nodes and decisions.

    It reads ClickHouse. Operators can act on the page if `web.act` is set. Every user with a shell on this host can read the page. For
    access from another host use `ssh -L 8787:127.0.0.1:8787 HOST`, or an authenticating proxy, whose name is given with `--name`.

    Examples: `schedmate web`, `schedmate --set clickhouse.url=chdb:///var/lib/schedmate/history web --port 9000`
    """
    from .extras import require

    for module in ("jinja2", "starlette", "uvicorn", "clickhouse_connect"):
        require(module)
    from ..web.serve import serve

    loaded: Loaded = context.obj
    serve(loaded.settings, port, name or [])
