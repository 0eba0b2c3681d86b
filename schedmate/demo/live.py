"""The demo in a terminal: jobs in a table that changes, and below it what happened."""

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from schedmate_records import JobMetric

from ..report.report import seconds
from .board import Board, JobLine
from .programs import PROGRAMS
from .story import Moment, kind

EVERY_S = 0.15
"""Seconds between two drawings."""
WIDE = 96
"""Minimum columns for the description of each job."""
ROWS_AROUND = 17
"""Rows of the terminal that are not for the story."""
STATES = {"running": "green", "completed": "dim green", "failed": "red", "cancelled": "red", "queued": "yellow"}


class LiveScreen:
    """Draws the board."""

    def __init__(self, console: Console, board: Board, gpus: str) -> None:
        self._console, self._board, self._gpus = console, board, gpus
        self._live = Live(console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)
        self._began = time.monotonic()
        self._drawn = 0.0

    def show(self, moments: Sequence[Moment]) -> None:  # noqa: ARG002 - the board holds them
        """Draw, unless that was done a moment ago."""
        now = time.monotonic()
        if now - self._drawn >= EVERY_S:
            self._drawn = now
            self._live.update(self._render(), refresh=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.update(self._render(), refresh=True)
        self._live.stop()

    def _render(self) -> RenderableType:
        elapsed = time.monotonic() - self._began
        left = max(4, self._console.height - ROWS_AROUND)
        happened = [_described(moment) for moment in self._board.story[-left:]]
        happened += [Text()] * (min(left, 8) - len(happened))
        gpus = Text(f" GPUs   {_gpus(self._board)}", style="dim", no_wrap=True, overflow="ellipsis")
        source = Text(f"        from {self._gpus}", style="dim", no_wrap=True, overflow="ellipsis")
        title = Rule(
            Text.assemble(("SchedMate", "bold"), f" · live jobs · {elapsed:4.1f} s"), style="blue", align="left"
        )
        return Group(
            title,
            _jobs(self._board, self._console.width),
            gpus,
            source,
            Rule("what happened", style="blue", align="left"),
            *happened,
        )


def _jobs(board: Board, width: int) -> Table:
    table = Table(box=None, expand=True, header_style="bold", pad_edge=True)
    wide = width >= WIDE
    table.add_column("job", width=9)
    if wide:
        table.add_column("prints", width=20, style="dim")
    table.add_column("slot", width=6)
    table.add_column("state", width=9)
    table.add_column("step", width=5, justify="right")
    table.add_column("a step", width=8, justify="right")
    table.add_column("loss", width=6, justify="right")
    table.add_column("verdict", ratio=1, no_wrap=True, overflow="ellipsis")
    for program in PROGRAMS:
        for rank in range(program.ranks):
            label = f"{program.name}/{rank}" if program.ranks > 1 else program.name
            prints = [program.prints] if wide else []
            table.add_row(label, *prints, *_row(board.jobs.get(program.name), rank))
    return table


def _row(line: JobLine | None, rank: int) -> list[RenderableType]:
    if line is None:
        return ["", Text("not yet", style="dim"), "", "", "", ""]
    slot = "" if line.state == "queued" else line.slot
    state = Text(line.state, style=STATES.get(line.state, ""))
    return [slot, state, *_numbers(line.newest(rank)), _verdict(line)]


def _numbers(metric: JobMetric | None) -> list[str]:
    if metric is None:
        return ["", "", ""]
    return [
        str(metric.step) if metric.step is not None else "",
        seconds(metric.step_time_s) if metric.step_time_s is not None else "?",
        f"{metric.loss:.4f}" if metric.loss is not None else "",
    ]


def _verdict(line: JobLine) -> Text:
    verdicts = line.verdicts()
    if not verdicts:
        return Text("")
    last = verdicts[-1]
    style = "red" if line.state == "failed" else "yellow"
    return Text(last.signature or kind(last), style=style)


def _described(moment: Moment) -> Text:
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(f" {time.strftime('%H:%M:%S', time.localtime(moment.time))}  ", style="dim")
    text.append(f"{moment.job:<8} ", style="bold")
    text.append(moment.text, style=moment.style)
    return text


def _gpus(board: Board) -> str:
    if not board.gpu:
        return "no sample yet"
    shown = []
    for (_, gpu), sample in sorted(board.gpu.items())[:4]:
        known = f"{sample.utilisation}% {sample.temperature_c}°C {sample.power_watts or 0:.0f} W"
        shown.append(f"{gpu}: {sample.error or known}")
    return "   ".join(shown)
