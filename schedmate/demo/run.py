"""Runs the demo from beginning to end."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from shutil import rmtree

import structlog
from prometheus_client import Counter
from rich.console import Console
from rich.text import Text

from schedmate_records import UserError

from ..report.report import seconds
from . import checks, facts, summary
from .board import Board, JobLine, Watcher
from .cluster import cores
from .pipeline import Pipeline
from .programs import PROGRAMS
from .scenario import Scenario
from .story import NEUTRAL, Moment

WIDTH = 100
"""Columns of the story at most: its sentences are written for so many, and longer lines are hard to read."""
LIMIT_S = 240.0
"""After so many seconds the jobs are ended, whatever is missing."""


class CannotRun(UserError):
    """The demo cannot run with these arguments; the message states what was expected and what came."""


def run(keep: Path | None, console: Console) -> bool:
    """Run it.

    Args:
        keep: Directory in which the database stays; None: it goes.
        console: Where to show it.

    Returns:
        True if all checks passed.

    Raises:
        CannotRun: `keep` is not a new or empty directory, or there is only one core.
    """
    if len(set(cores())) < 2:
        raise CannotRun("expected two processor cores, got one: jobs on different slots would slow each other")
    if keep is not None and keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
        raise CannotRun(f"expected a new or empty directory for --keep, got {keep}: name another one")
    directory = Path(tempfile.mkdtemp(prefix="schedmate-demo-"))
    database = (keep or directory / "clickhouse").absolute()
    failed = False
    try:
        with _logging_to(directory / "schedmate.log"):
            failed = not _run(directory, database, console)
    finally:
        if not failed:
            rmtree(directory, ignore_errors=True)
    _farewell(console, not failed, directory)
    return not failed


def _run(directory: Path, database: Path, console: Console) -> bool:
    _greet(console)
    with closing(Pipeline(directory, database)) as pipeline:
        watcher = Watcher(pipeline.broker)
        if not _watch_jobs(pipeline, watcher, console):
            console.print(f"After {LIMIT_S:.0f} s the running jobs were stopped: is this machine busy?", style="yellow")
        pipeline.drain()
        watcher.step()
        known = facts.DemoFacts(
            board=watcher.board,
            gpus=pipeline.gpus.label,
            pieces_shipped=pipeline.shipping.pieces,
            pieces_read=_total(pipeline.processor.reader.metrics.lines),
            written=facts.written(pipeline.broker),
            stored=facts.stored(pipeline.client),
        )
        found = checks.check(known)
        summary.show(console, known, found)
        return all(each.kept for each in found)


def _total(counter: Counter) -> int:
    return sum(
        int(sample.value) for family in counter.collect() for sample in family.samples if sample.name.endswith("_total")
    )


def _watch_jobs(pipeline: Pipeline, watcher: Watcher, console: Console) -> bool:
    """Run the jobs and show them until all is over, or time is. Returns True where all was over in time."""
    screen = _Screen(console, watcher.board, pipeline.gpus.label)
    scenario = Scenario(pipeline.cluster, pipeline.publish)
    deadline = time.monotonic() + LIMIT_S
    quiet = None
    while time.monotonic() < deadline:
        pipeline.step()
        screen.show(watcher.step())
        scenario.step(watcher.board)
        if not (scenario.is_over(watcher.board) and pipeline.idle()):
            quiet = None
        elif quiet is None:
            quiet = time.monotonic()
        # The demo is over once all jobs ended and nothing waits for 0.6 s.
        elif time.monotonic() - quiet >= 0.6:
            return True
        # Verdicts come as fast as in the field, and the processor rests.
        time.sleep(0.05)
    return False


def _greet(console: Console) -> None:
    console.print(Text("SchedMate demo", style="bold"))
    console.print(
        "Eight small synthetic training jobs run as processes on five slots of a local scheduler. Their output takes the same path as in "
        "production: chunks, processors, ClickHouse, decisions, scheduler, all in this process. The actions restart, cancel_packing and "
        "evict are turned on for the demo; drain waits for approval.",
        style="dim",
    )
    width = max(len(program.prints) for program in PROGRAMS)
    for program in PROGRAMS:
        about = f" prints {program.prints:<{width}} {program.story}"
        console.print(Text.assemble("  ", (f"{program.name:<8}", "bold"), about))
    console.print()


def _farewell(console: Console, kept: bool, directory: Path) -> None:
    console.print()
    if kept:
        console.print("All checks passed.", style="green")
    else:
        console.print(
            Text.assemble(("Some checks failed.", "bold red"), f" Its log: {directory}"),
            soft_wrap=True,
        )


@contextmanager
def _logging_to(file: Path) -> Iterator[None]:
    """Send structured logs to a file: the screen belongs to the demo."""
    before = structlog.get_config()
    with file.open("w") as stream:
        structlog.configure(logger_factory=structlog.PrintLoggerFactory(stream), cache_logger_on_first_use=False)
        try:
            yield
        finally:
            structlog.configure(**before)


class _Screen:
    """Prints lines that begin with the time of day."""

    def __init__(self, console: Console, board: Board, gpus: str) -> None:
        self._console, self._board = console, board
        self._print(Moment("gpus", f"samples from {gpus}", time=time.time()))
        self._progress = time.monotonic()

    def show(self, moments: Sequence[Moment]) -> None:
        """Print what happened, and every 5 seconds how the jobs get on."""
        for moment in moments:
            self._print(moment)
        if time.monotonic() >= self._progress + 5.0:
            self._progress = time.monotonic()
            for program in PROGRAMS:
                line = self._board.jobs.get(program.name)
                if line and line.state == "running":
                    self._report(line, program.ranks)

    def _report(self, line: JobLine, ranks: int) -> None:
        for rank in range(ranks):
            metric = line.newest(rank)
            if metric is None or metric.attempt != line.attempt or metric.step_time_s is None:
                continue
            label = f"{line.job}/{rank}" if ranks > 1 else line.job
            loss = "" if metric.loss is None else f", loss {metric.loss:.4f}"
            text = f"  step {metric.step}, {seconds(metric.step_time_s)} a step{loss}"
            self._print(Moment(label, text, time=time.time()))

    def _print(self, moment: Moment) -> None:
        stamp = time.strftime("%H:%M:%S", time.localtime(moment.time))
        style = "" if moment.style == NEUTRAL else moment.style
        self._console.print(Text.assemble(f"{stamp}  {moment.job:<8} ", (moment.text, style)), soft_wrap=True)
