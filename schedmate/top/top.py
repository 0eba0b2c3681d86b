"""The view of `schedmate top`: jobs with a curve of their step times, sorted and filtered by keys."""

import math
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from schedmate_records import counted

from ..advisor.remaining import left_s
from ..job_state import StateWord, state_of_status
from ..report.report import seconds
from ..terminal import one_line
from ..times import short_span
from .sparkline import WIDTH, sparkline

if TYPE_CHECKING:
    from sinks.redis.status import JobStatus

POINTS: Final = 60
"""Step times kept of a job."""
CURVE: Final = 8
"""Columns of the curve."""
HELP: Final = "q quit  s sort  f filter  / search  j k move  Enter details  Esc back"
_COLOURS: Final[Mapping[StateWord, str]] = {
    StateWord.RUNNING: "green", StateWord.QUEUED: "yellow", StateWord.SILENT: "yellow",
}  # fmt: skip

SORTS: Final[Mapping[str, Callable[["JobStatus"], object]]] = {
    "newest": lambda one: -(one.metric_time or one.state_time or 0.0),
    "job": lambda one: one.job,
    "slowest": lambda one: -(one.step_time_s or 0.0),
    "GPUs": lambda one: -(one.gpus or 0.0),
}
FILTERS: Final[Mapping[str, Callable[["JobStatus"], bool]]] = {
    "all": lambda _: True,
    "running": lambda one: one.state == "running",
    "trouble": lambda one: bool(one.alarms or one.slowed_by) or state_of_status(one, time.time()).word.is_failure,
}


@dataclass(frozen=True)
class View:
    """Choices of the user. `typing`: letters go to the search."""

    sort: str = "newest"
    filter: str = "all"
    search: str = ""
    typing: bool = False
    row: int = 0
    details: bool = False
    over: bool = False

    def press(self, key: str) -> "View":
        """Return the view after a key: a letter, `enter`, `escape`, `backspace`, `up` or `down`."""
        if self.typing:
            return self._type(key)
        change = _KEYS.get(key)
        return change(self) if change else self

    def with_row_in(self, jobs: int) -> "View":
        """Return the view with its row among `jobs`."""
        return replace(self, row=max(0, min(self.row, jobs - 1)))

    def _type(self, key: str) -> "View":
        if key in {"enter", "escape"}:
            return replace(self, typing=False, search=self.search if key == "enter" else "")
        if key == "backspace":
            return replace(self, search=self.search[:-1])
        return replace(self, search=(self.search + key)[:60]) if len(key) == 1 else self

    def chosen(self, jobs: Sequence["JobStatus"]) -> list["JobStatus"]:
        """Return the jobs to show, in order."""
        text = self.search.casefold()
        kept = [
            one for one in jobs if FILTERS[self.filter](one) and any(text in each.casefold() for each in _searched(one))
        ]
        return sorted(kept, key=SORTS[self.sort])  # type: ignore[arg-type]  # one order's keys are of one type


_KEYS: Final[Mapping[str, Callable[[View], View]]] = {
    "q": lambda view: replace(view, over=True),
    "s": lambda view: replace(view, sort=_next(SORTS, view.sort), row=0),
    "f": lambda view: replace(view, filter=_next(FILTERS, view.filter), row=0),
    "/": lambda view: replace(view, typing=True, search="", row=0, details=False),
    "j": lambda view: replace(view, row=view.row + 1),
    "down": lambda view: replace(view, row=view.row + 1),
    "k": lambda view: replace(view, row=max(0, view.row - 1)),
    "up": lambda view: replace(view, row=max(0, view.row - 1)),
    "enter": lambda view: replace(view, details=True),
    "escape": lambda view: replace(view, details=False) if view.details else replace(view, search=""),
}


class Paces:
    """The newest step times of each job, as they were seen from one look to the next."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[tuple[int, float | None, int | None], deque[float]]] = {}

    def update(self, jobs: Sequence["JobStatus"]) -> None:
        """Take in what was seen now; jobs that are no longer among `jobs` are forgotten."""
        for one in jobs:
            self.see(one)
        self._kept = {one.job: self._kept[one.job] for one in jobs}

    def see(self, one: "JobStatus") -> None:
        """Take in what was seen of one job now."""
        seen = (one.attempt, one.metric_time, one.step)
        before, values = self._kept.get(one.job, ((one.attempt, None, None), deque(maxlen=POINTS)))
        if before[0] != one.attempt:
            values = deque(maxlen=POINTS)
        if before != seen and one.step_time_s is not None and math.isfinite(one.step_time_s):
            values.append(one.step_time_s)
        self._kept[one.job] = (seen, values)

    def curve(self, job: str, width: int = CURVE) -> str:
        """Return the step times of `job` as a line of blocks; empty where there are too few."""
        return sparkline(list(self._kept[job][1]), width) if job in self._kept else ""

    def wide(self, job: str) -> str:
        """Return a longer curve of `job` and its range; empty where there are too few step times."""
        curve = self.curve(job, WIDTH)
        return f"{curve}  {seconds(min(self._kept[job][1]))} to {seconds(max(self._kept[job][1]))}" if curve else ""


def draw(
    view: View,
    jobs: Sequence["JobStatus"],
    paces: Paces,
    *,
    size: tuple[int, int],
    now: float,
    note: Callable[["JobStatus"], str],
    details: Callable[["JobStatus", str], Mapping[str, str]],
    problem: str = "",
) -> RenderableType:
    """Return the screen.

    Args:
        view: What the person chose.
        jobs: All that are known.
        paces: Their step times.
        size: Columns and rows of the terminal.
        now: Seconds since 1970.
        note: What happened to a job, in few words.
        details: All that is known of a job, in words, given the curve of its step times.
        problem: What is wrong with the source; empty where nothing is.
    """
    chosen = view.chosen(jobs)
    row = view.with_row_in(len(chosen)).row
    search = f"  search: {view.search}{'_' if view.typing else ''}" if view.search or view.typing else ""
    head = Text(
        one_line(f"{len(chosen)} of {counted(len(jobs), 'job')}  sort: {view.sort}  show: {view.filter}{search}"),
        "bold",
    )
    shows = view.details and bool(chosen)
    body = (
        _details(details(chosen[row], paces.wide(chosen[row].job)))
        if shows
        else _table(chosen, row, paces, size=size, now=now, note=note)
    )
    foot = Text(one_line(problem), "red") if problem else Text(HELP, "dim")
    for line in (head, foot):
        line.truncate(size[0], overflow="ellipsis")
    return Group(head, body, foot)


def _table(
    chosen: Sequence["JobStatus"],
    row: int,
    paces: Paces,
    *,
    size: tuple[int, int],
    now: float,
    note: Callable[["JobStatus"], str],
) -> Table:
    states = [state_of_status(one, now).word for one in chosen]
    widest = min(max([7, *map(len, states)]), 13)
    # Four rows of the terminal are no job's.
    rows = max(1, size[1] - 4)
    first = max(0, row - rows + 1)
    table = Table(
        Column("job", no_wrap=True, min_width=8, max_width=13 if size[0] < 120 else 30), Column("state", no_wrap=True, width=widest),
        Column("step", justify="right", no_wrap=True, width=7), Column("left", justify="right", no_wrap=True, width=6),
        Column("a step", justify="right", no_wrap=True, width=8), Column("pace", no_wrap=True, width=CURVE),
        Column("GPU", justify="right", no_wrap=True, width=3), Column("what happened", no_wrap=True, ratio=1),
        box=None, pad_edge=False, padding=(0, 1, 0, 0), expand=True, width=size[0],
    )  # fmt: skip
    for place, one in enumerate(chosen[first : first + rows], first):
        state = states[place]
        colour = "red" if state.is_failure else _COLOURS.get(state, "dim")
        cells = (
            Text.assemble(one_line(one.job), (f" {one_line(one.name)}" if one.name else "", "dim")),
            Text(state, colour),
            "" if one.step is None else str(one.step),
            _remaining(one, now),
            "" if one.step_time_s is None else seconds(one.step_time_s),
            paces.curve(one.job),
            "-" if one.gpus is None else f"{one.gpus:g}",
            Text(one_line(note(one)), "red" if one.verdict else "yellow" if one.alarms else ""),
        )
        table.add_row(*cells, style="reverse" if place == row else "")
    return table


def _searched(one: "JobStatus") -> list[str]:
    """Return what the search looks in: job, name, user, nodes and causes, as on the page."""
    causes = (*(each.signature for each in one.failures), one.verdict_signature, one.verdict)
    return [
        one.job,
        one.name,
        one.user,
        *one.nodes,
        *(each for cause in causes for each in (cause, cause.replace("_", " "))),
    ]


def _details(known: Mapping[str, str]) -> Table:
    grid = Table.grid(Column(no_wrap=True, style="bold"), Column(overflow="fold"), padding=(0, 2, 0, 0))
    for name, value in known.items():
        grid.add_row(name, Text(value))
    return grid


def _remaining(one: "JobStatus", now: float) -> str:
    left = left_s(one, now)
    if left is None:
        return ""
    if left <= 0:
        return "over"
    return short_span(left)


def _next(names: Mapping[str, object], name: str) -> str:
    known = list(names)
    return known[(known.index(name) + 1) % len(known)]
