"""`schedmate advise`: what a job is, from its source and its command."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from typer.core import TyperGroup

from records import UserError
from schedmate.cli.advise_train import train
from schedmate.cli.console import say, say_json
from schedmate.extras import require
from schedmate.settings import Loaded


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
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="The script, or the command that the job is started with; after `--`.", metavar="COMMAND..."
        ),
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
    ask_model: Annotated[
        bool,
        typer.Option(
            "--ask-model",
            help="With --metadata: let a language model (`language_model.servers`) read the tree for what is left unknown. Source text "
            "goes to that server.",
        ),
    ] = False,
) -> None:
    """Say how long a job will probably run, from jobs that ended (`advisor.history`); no server is needed.

    With --metadata, say what a training job is: model, task, data, length, batch, learning rate. The source is read and never run; a field
    that it does not say is unknown (null).

    Example: `schedmate advise train.sh`; nothing is known before `schedmate import sacct FILE`, or jobs that the advisor saw end.

    Examples: `schedmate advise --metadata --tree ~/nanoGPT -- torchrun train.py config/train_gpt2.py`; without a command the question
    is read from standard input: `{"tree": DIR, "directory": DIR, "command": "…", "launch": {"ngpu": 8, "nnodes": 1}}`.

    With --ask-model a language model looks for what is left unknown. Each value that it finds must stand in the line that it cites.
    """
    if not metadata:
        _estimate(context.obj, words or [], directory or tree, as_json=as_json)
        return
    require("yaml")
    from processors.advise.metadata import Job, extract
    from processors.advise.metadata.launch import quoted

    job = Job(tree, directory or tree, quoted(words), gpus, nodes) if words else _asked()
    try:
        found = extract(job)
    except NotADirectoryError as error:
        raise UserError(str(error)) from error
    cited: list[dict[str, Any]] = []
    if ask_model:
        found, cited = _asked_model(context.obj, job, found)
    fields = {name: _plain(getattr(found, name)) for name in found.__struct_fields__ if name != "v"}
    if ask_model:
        fields["cited"] = cited
    if as_json:
        say_json(json.dumps(fields, ensure_ascii=False))
        return
    fields.pop("cited", None)
    cites = {each["field"]: f"   (model; {each['path']}:{each['line']})" for each in cited}
    for name, value in fields.items():
        say(f"{name:<14} {'unknown' if value is None else value}{cites.get(name, '')}")


def _asked_model(loaded: Loaded, job: Any, found: Any) -> tuple[Any, list[dict[str, Any]]]:
    """Return what the job is, with what a model found and a line of the tree bears out, and those lines."""
    from processors.advise.agent import fill
    from processors.advise.metadata.tree import SourceTree
    from schedmate.language_models import ask_or_none, language_model
    from schedmate.logging import configure

    configure(loaded.settings.service)
    model = language_model(loaded.settings.language_model)
    if model is None:
        raise UserError("expected language_model.servers for --ask-model: the address of an OpenAI-compatible server")
    filled = fill(found, SourceTree(job.tree), job.command, ask_or_none(model))
    return filled.workload, [msgspec.to_builtins(claim) for claim in filled.claims]


def _estimate(loaded: Loaded, words: list[str], directory: Path, *, as_json: bool) -> None:
    """Print the estimate of the job that `words` start in `directory`."""
    import shlex

    from processors.advise.past import PastEstimator, SubmittedJob
    from schedmate.advisor.history_file import history_file
    from schedmate.remaining import remains

    if not words:
        raise UserError("expected a script or a command, as in `schedmate advise train.sh`; or --metadata")
    directory = directory.resolve()
    script = directory / words[0]
    command = shlex.join([str(script) if script.is_file() else words[0], *words[1:]])
    with history_file(loaded.settings.advisor.history) as history:
        past = history.load()
    found = PastEstimator(past).estimate(SubmittedJob(job="", command=command, directory=str(directory)))
    if as_json:
        say_json(msgspec.json.encode(found).decode())
    elif found.duration_s is None or found.low_s is None:
        say(
            f"unknown: none of the {len(past)} jobs in {loaded.settings.advisor.history} is an earlier run of it or like it"
        )
    else:
        say(f"{'duration':<14} {remains(found.duration_s, found.low_s, found.high_s)}")
        say(f"{'rests on':<14} {found.method}: {', '.join(found.jobs)}")
        if found.gpu_utilisation is not None:
            say(f"{'utilisation':<14} {found.gpu_utilisation:.0f} % of its GPUs")


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
