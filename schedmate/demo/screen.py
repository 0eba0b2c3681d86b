"""What happens in the demo, a line each, and some progress in between."""

import time
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ..report.report import seconds
from .board import Board, JobLine
from .programs import PROGRAMS
from .story import NEUTRAL, Moment


class Screen:
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
