"""`schedmate advise`: what a job is, from its source and its command."""

import getpass
import json
import shlex
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from typer.core import TyperGroup

from schedmate_records import UserError, Workload, counted

from ..settings.settings import Loaded
from .advise_serve import serve
from .advise_train import train
from .console import print_json, print_line, warn
from .extras import require

if TYPE_CHECKING:
    from processors.advise.past import SubmittedJob


class _JobUnlessNamed(TyperGroup):
    """`advise` is about a job unless the first word is another command of its own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `job` before what names no command."""
        if args and args[0] not in self.commands:
            args = ["job", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=_JobUnlessNamed, no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")
app.command("train")(train)
app.command("serve")(serve)


@app.callback()
def group() -> None:
    """Estimate what a job needs before it starts, from its source code and from earlier jobs of the cluster."""


@app.command("job")
def command(  # noqa: PLR0917  # all of them by name or place
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(help="Script or command that starts the job; after `--`.", metavar="COMMAND..."),
    ] = None,
    metadata: Annotated[bool, typer.Option("--metadata", help="Show what the job trains.")] = False,
    tree: Annotated[Path, typer.Option(help="Directory of the source tree.")] = Path(),
    directory: Annotated[
        Path | None, typer.Option(help="Working directory of the job; by default the source tree.")
    ] = None,
    gpus: Annotated[int, typer.Option(min=0, help="GPUs per node.")] = 1,
    nodes: Annotated[int, typer.Option(min=1, help="Number of nodes.")] = 1,
    partition: Annotated[str, typer.Option(help="Partition or queue.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    ask_model: Annotated[
        bool,
        typer.Option(
            "--ask-model",
            help="With --metadata: let a language model (`language_model.servers`) read the tree first. Source text goes to that server.",
        ),
    ] = False,
) -> None:
    """Estimate how long a job will run, from ended jobs (`advisor.history`) and the trained model. No server is needed.

    With --metadata, show the job's model, task, data, length, batch size and learning rate. The source is read and never run. A field that
    the source does not show is unknown (null).

    `schedmate advise train` trains the model. `schedmate advise serve` gives the same estimates over HTTP.

    Example: `schedmate advise train.sh`. Fill the history first, with `schedmate import sacct FILE` or by running `schedmate advisor`.

    Examples: `schedmate advise --metadata --tree ~/nanoGPT -- torchrun train.py config/train_gpt2.py`. Without a command, the question
    is read from standard input and answered in JSON: `{"tree": DIR, "directory": DIR, "command": "…", "launch": {"ngpu": 8, "nnodes": 1}}`.

    With --ask-model, a language model reads the source first. A value is used only if the line that the model cites contains it.
    """
    absent = _absent(words or [], directory or tree)
    if absent:
        warn(
            f"no script or command {absent} in {(directory or tree).resolve()}: the answer rests on the words of the command alone; "
            "--tree and --directory name another place"
        )
    if not metadata:
        _estimate(context.obj, _submitted(words or [], directory or tree, gpus, nodes, partition), as_json=as_json)
        return
    require("yaml")
    from processors.advise.metadata import Job
    from scheduler_bridge.sources.workload import ask

    job = Job(tree, directory or tree, shlex.join(words), gpus, nodes) if words else _read_request()
    try:
        answer = ask(job)
    except NotADirectoryError as error:
        raise UserError(str(error)) from error
    if answer.failed:
        warn(
            f"not all of the source could be read: {'; '.join(f'{part}: {why}' for part, why in answer.failed.items())}"
        )
    found = answer.workload
    cited: list[dict[str, Any]] = []
    if ask_model:
        found, cited = _asked_model(context.obj, job, found)
    fields = {name: _plain(getattr(found, name)) for name in found.__struct_fields__ if name != "v"}
    if ask_model:
        fields["cited"] = cited
    if as_json or not words:  # who asks in JSON is answered in JSON
        print_json(json.dumps(fields, ensure_ascii=False))
        return
    fields.pop("cited", None)
    cites = {each["field"]: f"   (model; {each['path']}:{each['line']})" for each in cited}
    for name, value in fields.items():
        print_line(f"{name:<14} {'unknown' if value is None else value}{cites.get(name, '')}")


def _absent(words: list[str], directory: Path) -> str:
    """Return the script or program that a command names and `directory` lacks; empty where there is none.

    That is no error: jobs ran it elsewhere, and are found by its name.
    """
    scripts = [word for word in words if word.endswith((".py", ".sh")) and not set(word) & set(" $=")]
    named = next(iter(scripts or words), "")
    return "" if not named or (directory / named).is_file() or shutil.which(named) else named


def _asked_model(loaded: Loaded, job: Any, found: Any) -> tuple[Any, list[dict[str, Any]]]:
    """Return the workload of a job: the claims of a model that their lines prove, completed by the reader, and those claims."""
    from processors.advise.agent import Tools, combined, fill
    from scheduler_bridge.sources.tree import DirectoryTree

    from ..models.language_models import ask_or_none, language_model

    model = language_model(loaded.settings.language_model)
    if model is None:
        raise UserError("expected language_model.servers for --ask-model: the address of an OpenAI-compatible server")
    filled = fill(Workload(gpus=found.gpus), Tools(DirectoryTree(job.tree)), job.command, ask_or_none(model))
    result = combined(filled.workload, found, job.command)
    cited = [claim for claim in filled.claims if getattr(result, claim.field) == claim.value]
    return result, [msgspec.to_builtins(claim) for claim in cited]


def _submitted(words: list[str], directory: Path, gpus: int, nodes: int, partition: str) -> "SubmittedJob":
    """Return the job that `words` would start in `directory`, as it would be submitted."""
    from processors.advise.past import SubmittedJob
    from scheduler_bridge.sources.branch import branch_of

    if not words:
        raise UserError("expected a script or a command, as in `schedmate advise train.sh`; or --metadata")
    directory = directory.resolve()
    script = directory / words[0]
    command = shlex.join([str(script) if script.is_file() else words[0], *words[1:]])
    return SubmittedJob(
        job="",
        user=getpass.getuser(),
        command=command,
        directory=str(directory),
        branch=branch_of(directory),
        name=Path(words[0]).name,
        partition=partition,
        gpus=float(gpus * nodes),
        nodes=nodes,
        workload=_workload(directory, command, gpus, nodes),
    )


def _estimate(loaded: Loaded, job: "SubmittedJob", *, as_json: bool) -> None:
    """Print the estimate of a job."""
    from ..advisor.answers import Answers
    from ..advisor.history_file import history_file
    from ..advisor.remaining import modes_in_words, remains
    from ..advisor.settings import CURRENT
    from ..advisor.similar_search import load_history

    with history_file(loaded.settings.advisor.history) as history:
        answers = Answers(history, loaded.settings.advisor.models / CURRENT, load_history(history, loaded.settings))
        found = answers.estimate(job)
    if as_json:
        print_json(msgspec.json.encode(found).decode())
    elif found.duration_s is None or found.low_s is None:
        held = (
            f"none of {counted(len(answers), 'job')} in {loaded.settings.advisor.history} is an earlier run of it or like it"
            if len(answers)
            else f"no past job is in {loaded.settings.advisor.history}; `schedmate import --help` shows how to add them"
        )
        print_line(f"unknown: {held}, and there is no trained model")
    else:
        print_line(f"{'duration':<14} {remains(found.duration_s, found.low_s, found.high_s)}")
        if found.modes:
            print_line(f"{'modes':<14} {modes_in_words(found.modes)}")
        print_line(f"{'rests on':<14} {found.method}{': ' if found.jobs else ''}{', '.join(found.jobs)}")
        if found.gpu_utilisation is not None:
            print_line(f"{'utilisation':<14} {found.gpu_utilisation:.0f} % of its GPUs")


def _workload(directory: Path, command: str, gpus: int, nodes: int) -> Any:
    """Return what the job trains; None where what reads source trees is not installed."""
    if find_spec("yaml") is None:
        return None
    from processors.advise.metadata import Job
    from scheduler_bridge.sources.workload import extract

    return extract(Job(directory, directory, command, gpus, nodes))


def _read_request() -> Any:
    """Return the job that standard input asks about."""
    from processors.advise.metadata import Job

    expected = (
        'expected {"tree": DIR, "directory": DIR, "command": "…", "launch": {"ngpu": N, "nnodes": N}} on standard input'
    )
    try:
        asked = json.loads(sys.stdin.read(1 << 20))
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
