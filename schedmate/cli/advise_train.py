"""`schedmate advise train`: models that estimate how long jobs will run."""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schedmate_records import UserError, counted

from ..settings.settings import Loaded
from .console import console, print_line

if TYPE_CHECKING:
    from ..advisor.models import TrainingResult


def train(
    context: typer.Context,
    accounting: Annotated[
        Path | None,
        typer.Argument(help="Output of sacct; the first line names the columns. By default, the advisor's history."),
    ] = None,
    models: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Directory of models; the link `current` in it names the model in use. By default `advisor.models`.",
        ),
    ] = None,
    utc_offset: Annotated[
        float,
        typer.Option(
            metavar="HOURS",
            min=-14,
            max=14,
            help="Offset of the users' time zone from UTC. Durations depend on the time of day.",
        ),
    ] = 0.0,
    when_drifted: Annotated[
        bool,
        typer.Option(
            "--when-drifted",
            help="Train only if no model is in use or its estimates have drifted; uses the advisor's history, at the lowest priority.",
        ),
    ] = False,
) -> None:
    """Learn how long jobs run, and keep the model in use unless the new one is better on the newest week.

    A running `schedmate advisor` takes a new model into use by itself, and once a day runs this with --when-drifted. Without a file, the
    jobs that it saw end are what is learned from.

    A model has drifted where its newest 200 estimates are off by half as much again as before it came into use, or less than 84 % or more
    than 96 % of their jobs were inside the 90 % interval. Whether or not, the exit status is 0, and the figures are printed.

    Example, with the file that `schedmate import sacct` takes, too (`schedmate import sacct --help` shows the command that prints it):

        schedmate advise train jobs.txt --models /var/lib/schedmate/advisor-models --utc-offset 2
    """
    from ..advisor.models import train_from, train_from_history, train_when_drifted

    loaded: Loaded = context.obj
    models = models or loaded.settings.advisor.models
    if when_drifted:
        if accounting:
            raise UserError("expected no file with --when-drifted: what drifts is measured on the advisor's history")
        _give_way()
        checked = train_when_drifted(loaded.settings.advisor.history, models)
        print_line(checked.found)
        if checked.result:
            _tell(checked.result, models)
        return
    with console().status("learning from past jobs"):
        if accounting:
            result = train_from(accounting, models, utc_offset * 3600)
        else:
            result = train_from_history(loaded.settings.advisor.history, models, utc_offset * 3600)
    if result.skipped:
        print_line(f"passed over {counted(result.skipped, 'row')} of {accounting} that could not be read")
    _tell(result, models)


def _give_way() -> None:
    """Let everything else on this host go first: to the processor, and where memory is short."""
    os.nice(19)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def _tell(result: "TrainingResult", models: Path) -> None:
    from ..advisor.settings import CURRENT

    new, old = result.trained.new.scores, result.trained.old_scores
    print_line(
        f"newest week, {new['jobs']:.0f} jobs: median factor off {_factor(new)}, within a factor of 2 {_share(new)}"
    )
    if old:
        print_line(f"the model in use on the same jobs: {_factor(old)}, {_share(old)}")
    verb = "is in use now" if result.published else "is kept and not used; the one in use is no worse"
    print_line(f"{result.folder} {verb} ({models / CURRENT})")


def _factor(scores: dict[str, float]) -> str:
    from math import exp

    return f"{exp(scores['median_log_error']):.2f}"


def _share(scores: dict[str, float]) -> str:
    return f"{100 * scores['within_factor_2']:.1f} %"
