"""The command line. One module a command; a module is loaded when its command is called, so that `pipe` starts at once."""

import difflib
import errno
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import schedmate
from schedmate_records import UserError, in_words

from ..services import logging
from ..settings.secret_files import exposed_files
from ..settings.settings import SettingsError, load
from .console import print_line, warn
from .extras import missing_extra
from .parameters import name_values

COMMANDS = {
    "demo": "Run the whole pipeline on small live jobs in one process; no server needed.",
    "analyze": "Report the progress, speed and verdict of a stored log.",
    "classify": "Print the class of every line of a log.",
    "signatures": "List the known failure signatures, and find them in a log.",
    "watch": "Follow one log live.",
    "pipe": "Pass a job's output through, and ship a copy to the node's collector or to Kafka.",
    "collect": "Tail log files, and ship them to Kafka.",
    "gpu-agent": "Sample this host's GPUs, and ship the samples to Kafka.",
    "watch-scheduler": "Ship a scheduler's job events to Kafka.",
    "worker": "Run the processors on Kafka (Faust).",
    "model-worker": "Answer the workers' questions with a language model.",
    "sink": "Write results from Kafka to ClickHouse and Redis.",
    "bridge": "Turn verdicts into decisions, and decisions into a scheduler's actions.",
    "spot": "Set the number of GPUs that spot jobs may use.",
    "advisor": "Estimate the durations of submitted jobs.",
    "import": "Import ended jobs into the advisor's history.",
    "notify": "Send decisions and their results by webhook, Slack or e-mail.",
    "formats": "Show, teach and exchange log formats.",
    "models": "Serve a language model, and check the configured servers.",
    "topics": "Create, list and check the topics.",
    "acls": "Show and grant the rights that each program needs on Kafka.",
    "dead-letters": "Show unreadable messages, send them again, or skip one.",
    "migrate": "Create or update the tables of ClickHouse.",
    "refill": "Fill tables of ClickHouse again from Kafka.",
    "query": "Run a named query or your own SQL on ClickHouse.",
    "export": "Export a job's metrics to TensorBoard or MLflow.",
    "advise": "Describe what a job trains, and estimate its duration.",
    "web": "Serve a web page with jobs, verdicts and decisions.",
    "logs": "Show and search the lines of a job.",
    "explain": "Explain why a job failed, on a page for a colleague.",
    "report": "Show what a job requested and used, or a month's goodput.",
    "status": "Show the current state of one job or of all jobs.",
    "top": "Watch all jobs live in a terminal.",
    "decisions": "Show decisions and their results; approve, reject, stop.",
    "shadow-report": "Compare decisions in shadow mode with what happened.",
    "feedback": "Correct a verdict.",
    "simulate": "Replay a trace under scheduling policies.",
    "starts": "Estimate when each waiting job will start.",
    "workload": "Generate a synthetic trace for `simulate`.",
    "config": "Show the current settings and their sources.",
}

MODULES = {"import": "import_jobs"}
"""Modules of commands whose name cannot be a module's name."""
_UsageError: Any = typer.BadParameter.__mro__[1]
"""Click's, under whatever name typer brings it."""
_FULL = {errno.ENOSPC, errno.EDQUOT}
"""Errors of a disk that takes no more."""


class _Commands(TyperGroup):
    """Loads a command's module when it is called for."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module: Any = importlib.import_module(f"schedmate.cli.{MODULES.get(cmd_name, cmd_name.replace('-', '_'))}")
        command = typer.main.get_command(module.app)
        command.name, command.short_help = cmd_name, COMMANDS[cmd_name]
        name_values(command, ctx)
        return command

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for parameter in self.get_params(ctx):
            parameter.metavar = parameter.metavar or ""  # all others are flags
        super().format_help(ctx, formatter)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in COMMANDS:
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            fail(f"no command {args[0]!r}; {f'did you mean {near[0]}?' if near else 'see `schedmate --help`'}")
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **how: Any) -> Any:
        with _usage_in_one_line():
            return super().make_context(*args, **how)

    def invoke(self, ctx: Any) -> Any:
        with _usage_in_one_line():
            return super().invoke(ctx)


@contextmanager
def _usage_in_one_line() -> Iterator[None]:
    """Let an error of usage end the command in one line, as other errors that a person can fix."""
    try:
        yield
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the help is shown by now
            raise
        message = error.format_message().replace("Value error, ", "").rstrip(".")
        where = error.ctx.command_path if error.ctx else "schedmate"
        fail(message if message.endswith("?") else f"{message}; see `{where} --help`")


app = typer.Typer(cls=_Commands, no_args_is_help=True, rich_markup_mode="markdown", pretty_exceptions_enable=False)


def _version(wanted: bool) -> None:
    if wanted:
        print_line(f"schedmate {schedmate.__version__}")
        raise typer.Exit


@app.callback()
def schedmate_command(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Settings file (TOML).", show_default=False)
    ] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", metavar="SECTION.NAME=VALUE", help="Change one setting.")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Read the output of GPU training jobs as a stream, measure speed, explain failures, and send decisions to the scheduler.

    Try `schedmate demo`, or `schedmate analyze train.log`. Each command has a help text: `schedmate pipe --help`.

    Settings come from `/etc/schedmate/schedmate.toml`, or the file that `--config` or `SCHEDMATE_CONFIG` names; from variables such as
    `SCHEDMATE_KAFKA__BROKERS`; and from `--set`. `schedmate config` shows all settings and their sources.
    """
    context.obj = load(config, dict(map(_change, change or [])))
    # Services log as their settings state; other commands print results, and problems alone are logged, on standard error.
    logging.configure(context.obj.settings.service.model_copy(update={"log_level": "warning"}))
    for warning in exposed_files(context.obj.settings):
        warn(warning)


def _change(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise SettingsError(f"expected --set section.name=value, got --set {text}: without `=` it names no value")
    return name, value


def main() -> None:
    """Run the command line; errors that a person can fix are one line on standard error and exit code 2."""
    try:
        app()
    except UserError as error:
        fail(str(error))
    except ImportError as error:
        missing = missing_extra(error)
        if missing is None:
            raise
        fail(str(missing))
    except OSError as error:
        if error.errno not in _FULL:
            raise
        fail(f"expected to write all output: {in_words(error)}")


def fail(message: str) -> None:
    """Print `message` on standard error and end with exit code 2."""
    warn(message)
    sys.exit(2)
