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
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="Where it listens, on 127.0.0.1; 0: any free port.")
    ] = PORT,
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name", metavar="HOST", help="A name by which a proxy on this host passes requests on; repeatable."
        ),
    ] = None,
) -> None:
    """Serve a page on 127.0.0.1: which jobs are slow, stuck or failing, why, with the quoted lines, and what was decided.

    It reads ClickHouse; operators act where `web.act` is set. Every user with a shell on this host can read it. From elsewhere, come
    through `ssh -L 8787:127.0.0.1:8787 HOST`, or put a proxy that asks who comes before it, and give its `--name`.

    Examples: `schedmate web`, `schedmate --set clickhouse.url=chdb:///var/lib/schedmate/history web --port 9000`
    """
    from .extras import require

    for module in ("jinja2", "starlette", "uvicorn", "clickhouse_connect"):
        require(module)
    from ..web.serve import serve

    loaded: Loaded = context.obj
    serve(loaded.settings, port, name or [])
