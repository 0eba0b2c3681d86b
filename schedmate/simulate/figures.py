"""Figures of what policies made of a trace. Needs matplotlib, the extra `simulate`."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from schedmate_records import UserError, in_words

from .job import JobClass
from .outcomes import completion_times
from .replay import Replayed

HOUR = 3600.0
"""Seconds of an hour."""


def draw(file: Path, replayed: Mapping[str, Replayed], title: str) -> None:
    """Draw completion times (their distribution), GPUs in use, waiting jobs and evictions over time, a line each policy.

    Args:
        file: PNG, SVG or PDF, by its name.
        replayed: What became of the trace, by policy.
        title: What was replayed.

    Raises:
        UserError: The file cannot be written.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 -- an extra

    figure = Figure(figsize=(11, 8), layout="constrained")
    figure.suptitle(title)
    completion, gpus, waiting, evicted = figure.subplots(2, 2).ravel()
    start = min((row[0] for result in replayed.values() for row in result.timeline[:1]), default=0.0)
    for number, (policy, result) in enumerate(replayed.items()):
        colour = f"C{number % 10}"
        for job_class, style in ((JobClass.HP, "-"), (JobClass.SPOT, "--")):
            times = completion_times(run for run in result.runs if run.job.job_class is job_class)
            if len(times):
                label = policy if job_class is JobClass.HP else f"{policy}, spot"
                share = np.arange(1, len(times) + 1) / len(times)
                completion.plot(np.maximum(times, 1), share, style, color=colour, label=label)
        days = [(row[0] - start) / (24 * HOUR) for row in result.timeline]
        gpus.step(days, [row[1] for row in result.timeline], where="post", color=colour, linewidth=0.8, label=policy)
        waiting.step(days, [row[2] for row in result.timeline], where="post", color=colour, linewidth=0.8)
        evicted.step(days, np.cumsum([row[3] for row in result.timeline]), where="post", color=colour)
    completion.set(xscale="log", xlabel="completion time, s", ylabel="share of jobs", ylim=(0, 1))
    completion.legend(fontsize="small")
    gpus.set(xlabel="days", ylabel="GPUs in use", ylim=(0, None))
    waiting.set(xlabel="days", ylabel="jobs waiting", ylim=(0, None))
    evicted.set(xlabel="days", ylabel="evictions so far", ylim=(0, None))
    for axes in (completion, gpus, waiting, evicted):
        axes.grid(visible=True, alpha=0.3)
    try:
        figure.savefig(file, dpi=120)
    except (OSError, ValueError) as error:
        raise UserError(f"expected to write a figure to {file} (.png, .svg or .pdf): {in_words(error)}") from error
