"""LASched on a trace: `python -m benchmarks.lasched --help`."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.progress import Progress

from processors.advise.predictors.job import Completion
from processors.advise.predictors.sacct import read_sacct
from schedmate.advisor import pai

from . import estimates, metadata_gain, plots, report
from .methods import SIX
from .prediction import ADVISOR, NAMES, predict
from .scheduling import OBJECTIVES
from .september import run as run_september
from .traces import made_up, philly, venus

TRACES = Path("../shared/traces")


def _sacct(file: Path) -> list[Completion]:
    with file.open(encoding="utf-8", errors="replace") as lines:
        return read_sacct(lines).jobs


READERS: dict[str, tuple[Callable[[Path], list[Completion]], float, str]] = {
    "venus": (lambda folder: venus.read(folder / venus.SEPTEMBER), venus.UTC_OFFSET_S, "helios-venus: September"),
    "philly": (philly.read, philly.UTC_OFFSET_S, "philly"),
    "pai": (pai.read, pai.UTC_OFFSET_S, "a folder with pai_*_table.csv and .header"),
    "slurm": (_sacct, 0.0, "a file that sacct --parsable2 printed"),
}


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.lasched", description="Predicts and schedules the jobs of a trace."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    tables = commands.add_parser(
        "tables", help="Tables 3, 4 and 6 of ATLAS for one trace, split 70/15/15 by submission"
    )
    tables.add_argument(
        "kind", choices=READERS, help="; ".join(f"{name}: {what}" for name, (_, _, what) in READERS.items())
    )
    tables.add_argument("path", type=Path, help="where it lies")
    tables.add_argument(
        "--methods",
        nargs="+",
        choices=NAMES,
        default=NAMES,
        metavar="NAME",
        help=f"of {', '.join(NAMES)}; default: all",
    )
    tables.add_argument("--last", type=int, metavar="N", help="only the last N jobs submitted; default: all")
    tables.add_argument("--plots", type=Path, help="folder for reliability.png and errors.png")
    against = commands.add_parser("estimates", help="The advisor and simple baselines, split by time")
    against.add_argument("kind", choices=READERS)
    against.add_argument(
        "path", type=Path, help="where it lies; of Venus, April to July is learned and September predicted"
    )
    against.add_argument("--last", type=int, metavar="N", help="only the last N jobs submitted; default: all")
    metadata = commands.add_parser(
        "metadata", help="Whether a job's model, data and batch improve a prediction (Venus)"
    )
    metadata.add_argument("path", type=Path, help="helios-venus")
    september = commands.add_parser("september", help="Venus: learn from April to 6 July, predict September")
    september.add_argument("--trace", type=Path, default=TRACES / "helios-venus", help="default: %(default)s")
    september.add_argument(
        "--retrain", action="store_true", help="also fit the advisor anew every Monday (three times as long)"
    )
    september.add_argument("--methods", nargs="+", default=(), metavar="NAME", help="of ATLAS's methods; default: all")
    september.add_argument("--plots", type=Path, help="folder for reliability.png and errors.png")
    make = commands.add_parser("make-pai", help="make up tables with PAI's schema, for tests")
    make.add_argument("folder", type=Path)
    make.add_argument("--jobs", type=int, default=2000)
    make.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    match options.command:
        case "tables":
            _tables(options)
        case "estimates":
            _estimates(options)
        case "metadata":
            held, found = metadata_gain.predict(options.path)
            report.show(report.prediction_table(f"{len(held)} jobs of Venus, September", found, held, {}))
        case "september":
            _september(options)
        case _:
            made_up.write(options.folder, jobs=options.jobs, seed=options.seed)


def _tables(options: argparse.Namespace) -> None:
    read, offset, _ = READERS[options.kind]
    jobs = read(options.path)
    if options.last is not None:
        jobs = sorted(jobs, key=lambda done: done.job.submitted)[-options.last :]
    with Progress(transient=True) as progress:
        task = progress.add_task("read", total=len(options.methods) + 1 + len(OBJECTIVES))

        def step(what: str) -> None:
            progress.update(task, advance=1, description=what)

        found = predict(jobs, offset, options.methods, step)
        release = np.array([done.job.submitted for done in found.test.jobs])
        release -= release.min()
        guesses = {name: np.maximum(1.0, seconds) for name, seconds in found.seconds.items() if name in (*SIX, ADVISOR)}
        scheduled = {}
        for name, objective in OBJECTIVES.items():
            step(name)
            scheduled[name] = objective(release, found.true, guesses)
    title = (
        f"Prediction of {len(found.test)} test jobs, {100 * found.recurring.mean():.1f} % recurring (Tables 3 and 6)"
    )
    parts = {"recurring": found.recurring, "new": ~found.recurring}
    report.show(report.prediction_table(title, found.seconds, found.test.jobs, parts))
    if found.bounds:
        report.show(report.interval_table("90 % intervals", {"adaptive": found.bounds}, found.test.jobs))
    report.show(report.scheduling_table(scheduled))
    if options.plots:
        _plots(options.plots, found.seconds, found.test.jobs, found.bounds, options.kind)


def _estimates(options: argparse.Namespace) -> None:
    read, offset, _ = READERS[options.kind]
    jobs = sorted(read(options.path), key=lambda done: done.job.submitted)
    if options.kind == "venus":
        spring = venus.read(options.path / venus.SPRING)
        jobs, border = [*spring, *jobs], len(spring)
    else:
        jobs = jobs[-options.last :] if options.last else jobs
        border = int(estimates.TRAINED * len(jobs))
    print(f"learning from {border:,} jobs, estimating {len(jobs) - border:,}", file=sys.stderr, flush=True)
    scored = estimates.score(jobs, border, offset)
    report.show(report.prediction_table(f"{len(scored.jobs)} jobs", scored.seconds, scored.jobs, {}))
    report.show(report.interval_table("90 % intervals", scored.bounds, scored.jobs), estimates.modes_table(scored))


def _september(options: argparse.Namespace) -> None:
    outcome = run_september(options.trace, retrain=options.retrain, only=options.methods)
    parts = {"known users": outcome.known_user, "new users": ~outcome.known_user}
    for setting in outcome.settings:
        report.show(report.prediction_table(f"September, {setting.name}", setting.predictions, setting.jobs, parts))
        report.show(report.interval_table(f"90 % intervals, {setting.name}", setting.bounds, setting.jobs))
    if options.plots:
        last = next(one for one in outcome.settings if one.name == "growing")
        _plots(options.plots, last.predictions, last.jobs, last.bounds["adaptive"], "Venus, September")


def _plots(
    folder: Path,
    predicted: dict[str, np.typing.NDArray[np.float64]],
    jobs: list[Completion],
    bounds: object,
    title: str,
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    true = np.array([done.duration_s for done in jobs])
    plots.error_cdf(folder / "errors.png", predicted, true, f"Relative error, {title}")
    if isinstance(bounds, tuple):
        groups = report.groupings(jobs)
        plots.reliability(
            folder / "reliability.png", bounds, true, groups["VC"] | groups["GPU"], f"Reliability, {title}"
        )


if __name__ == "__main__":
    main()
