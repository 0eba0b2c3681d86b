"""`schedmate models`: serve a language model, and check those that are configured."""

import sys
from typing import Annotated

import typer

from ..settings.settings import Loaded
from .console import print_line

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")


@app.callback()
def models() -> None:
    """Serve a language model with vLLM, and check the configured servers. Example: `schedmate models check`."""


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def serve(  # noqa: PLR0917  # its options
    context: typer.Context,
    model: Annotated[str, typer.Argument(help="Directory or name of the model.")],
    host: Annotated[
        str, typer.Option(help="Address to listen on. vLLM does not authenticate its users: keep it private.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8000,
    name: Annotated[str, typer.Option(help="Name of the model in requests.", show_default="as MODEL")] = "",
    longest: Annotated[
        int, typer.Option("--max-model-len", min=512, help="Maximum number of tokens of a question and its answer.")
    ] = 16384,
    python: Annotated[
        str,
        typer.Option(help="Python interpreter of the environment that contains vLLM.", show_default="the current one"),
    ] = "",
    patience: Annotated[
        float, typer.Option(min=1, help="Maximum time for the server to become ready, in seconds.")
    ] = 900.0,
) -> None:
    """Start a vLLM server with the flags that SchedMate needs, report when it is ready, and run until it is stopped.

    Arguments after `--` are passed to vLLM. Example: `schedmate models serve Qwen/Qwen2.5-7B-Instruct -- --gpu-memory-utilization=0.8`
    """
    from ..models import serving

    asked = serving.Serving(model, name, host, port, longest, python or sys.executable, context.args)

    def ready() -> None:
        print_line(f"ready: {asked.url}")
        print_line(f"to use it: SCHEDMATE_LANGUAGE_MODEL__SERVERS={asked.url}")

    raise typer.Exit(serving.serve(asked, patience, ready))


@app.command()
def check(context: typer.Context) -> None:
    """Ask every configured server one question with a closed schema. The exit code is 1 if an answer does not match the schema.

    Example: `schedmate --set language_model.servers=http://127.0.0.1:8000/v1 models check`
    """
    from ..models.language_models import model_servers
    from ..models.model_check import check as ask

    loaded: Loaded = context.obj
    settings = loaded.settings.language_model
    servers = model_servers(settings)
    if not servers:
        print_line(
            "no server is configured: name some in language_model.servers, or start one with `schedmate models serve`"
        )
        raise typer.Exit(1)
    results = [ask(server, settings.timeout_seconds) for server in servers]
    for result in results:
        print_line(str(result))
    if not all(result.well for result in results):
        raise typer.Exit(1)


@app.command()
def table(context: typer.Context) -> None:
    """Print the table that decides when rules and model disagree on a failure: the shipped table, corrected by feedback.

    Example: `schedmate models table > table.toml`, then `schedmate --set processors.failure_table=table.toml worker`
    """
    from processors.diagnose.failure_question.table import as_toml, corrected, shipped

    from ..feedback import judged_opinions

    for line in as_toml(corrected(shipped(), judged_opinions(context.obj.settings))):
        print_line(line)
