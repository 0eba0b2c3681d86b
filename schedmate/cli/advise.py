"""`schedmate advise`: what a job is, from its source and its command."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from records import UserError
from schedmate.cli.advise_train import train
from schedmate.cli.console import say, say_json
from schedmate.extras import require


class _JobUnlessNamed(TyperGroup):
    """`advise` speaks of a job unless the first word is another command of its own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `job` before what names no command."""
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["job", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=_JobUnlessNamed, no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")
app.command("train")(train)


@app.callback()
def group() -> None:
    """Say what a job will need before it starts, from its source and from the cluster's own past."""


_LONGEST_QUESTION = 1 << 20


@app.command("job")
def command(  # noqa: PLR0917  # all of them by name or place
    words: Annotated[
        list[str] | None,
        typer.Argument(help="The command that the job is started with; after `--`.", metavar="COMMAND..."),
    ] = None,
    metadata: Annotated[
        bool, typer.Option("--metadata", help="Say what the job trains, on what, and how long.")
    ] = False,
    tree: Annotated[Path, typer.Option(help="Directory of the source tree.")] = Path(),
    directory: Annotated[
        Path | None, typer.Option(help="Working directory of the job; the tree's own by default.")
    ] = None,
    gpus: Annotated[int, typer.Option(min=0, help="GPUs of a node.")] = 1,
    nodes: Annotated[int, typer.Option(min=1, help="Nodes.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what a training job is before it starts: model, task, data, length, batch, learning rate.

    The source is read and never run; a field that it does not say is unknown (null).

    Examples: `schedmate advise --metadata --tree ~/nanoGPT -- torchrun train.py config/train_gpt2.py`; without a command the question
    is read from standard input: `{"tree": DIR, "directory": DIR, "command": "…", "launch": {"ngpu": 8, "nnodes": 1}}`.
    """
    if not metadata:
        raise UserError("expected --metadata: what to say about the job")
    require("yaml")
    from processors.advise.metadata import Job, extract
    from processors.advise.metadata.launch import quoted

    job = Job(tree, directory or tree, quoted(words), gpus, nodes) if words else _asked()
    try:
        found = extract(job)
    except NotADirectoryError as error:
        raise UserError(str(error)) from error
    fields = {name: _plain(getattr(found, name)) for name in found.__struct_fields__ if name != "v"}
    if as_json:
        say_json(json.dumps(fields, ensure_ascii=False))
        return
    for name, value in fields.items():
        say(f"{name:<14} {'unknown' if value is None else value}")


def _asked() -> Any:
    """Return the job that standard input asks about."""
    from processors.advise.metadata import Job

    expected = (
        'expected {"tree": DIR, "directory": DIR, "command": "…", "launch": {"ngpu": N, "nnodes": N}} on standard input'
    )
    try:
        asked = json.loads(sys.stdin.read(_LONGEST_QUESTION))
        launch = asked.get("launch") or {}
        tree = Path(asked["tree"])
        return Job(
            tree,
            Path(asked.get("directory") or tree),
            str(asked["command"]),
            int(launch.get("ngpu", 1)),
            int(launch.get("nnodes", 1)),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(f"{expected}: {error!r}") from error


def _plain(value: Any) -> Any:
    """Return a number that is whole as one."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
