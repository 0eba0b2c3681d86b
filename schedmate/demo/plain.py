"""The demo where there is no terminal: a line for everything that happens, and some progress in between."""

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console

from ..report.report import seconds
from .board import Board, JobLine
from .programs import PROGRAMS
from .story import Moment

EVERY_S = 5.0
"""Seconds between two reports of progress."""


class PlainScreen:
    """Prints lines that begin with the time of day."""

    def __init__(self, console: Console, board: Board, gpus: str) -> None:
        self._console, self._board = console, board
        self._print(time.time(), "gpus", f"samples from {gpus}")
        self._progress = time.monotonic() + EVERY_S

    def show(self, moments: Sequence[Moment]) -> None:
        """Print what happened, and every few seconds how the jobs get on."""
        for moment in moments:
            self._print(moment.time, moment.job, moment.text)
        if time.monotonic() >= self._progress:
            self._progress = time.monotonic() + EVERY_S
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
            self._print(time.time(), label, f"  step {metric.step}, {seconds(metric.step_time_s)} a step{loss}")

    def _print(self, at: float, job: str, text: str) -> None:
        stamp = time.strftime("%H:%M:%S", time.localtime(at))
        self._console.print(f"{stamp}  {job:<8} {text}", soft_wrap=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to end."""
