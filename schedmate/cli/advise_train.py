"""`schedmate advise train`: models that estimate how long jobs will run."""

from pathlib import Path
from typing import Annotated

import typer

from schedmate.cli.console import console, say


def train(
    accounting: Annotated[Path, typer.Argument(help="What sacct printed; the first line names the columns.")],
    models: Annotated[
        Path, typer.Option(metavar="DIR", help="Where models are kept; `current` in it is the one in use.")
    ] = Path("advisor-models"),
    utc_offset: Annotated[
        float, typer.Option(metavar="HOURS", min=-14, max=14, help="The users' clock less UTC: people work by the day.")
    ] = 0.0,
) -> None:
    """Learn from Slurm's accounting, and keep the model in use unless the new one is better on the newest week.

    Example, with 90 days of jobs; times in UTC:

        TZ=UTC sacct -a -P -S now-90days -o JobID,User,Partition,JobName,State,Submit,Start,End,ReqTRES,TimelimitRaw > jobs.txt

        schedmate advise train jobs.txt --models /var/lib/schedmate/advisor --utc-offset 2
    """
    from schedmate.advisor_models import CURRENT, train_from

    with console().status("learning from past jobs"):
        result = train_from(accounting, models, utc_offset * 3600)
    if result.skipped:
        say(f"{result.skipped} rows of {accounting} could not be read and were passed over")
    new, old = result.trained.new.scores, result.trained.old_scores
    say(f"newest week, {new['jobs']:.0f} jobs: median factor off {_factor(new)}, within a factor of 2 {_share(new)}")
    if old:
        say(f"the model in use on the same jobs: {_factor(old)}, {_share(old)}")
    verb = "is in use now" if result.published else "is kept beside; the one in use is no worse"
    say(f"{result.folder} {verb} ({models / CURRENT})")


def _factor(scores: dict[str, float]) -> str:
    from math import exp

    return f"{exp(scores['median_log_error']):.2f}"


def _share(scores: dict[str, float]) -> str:
    return f"{100 * scores['within_factor_2']:.1f} %"
