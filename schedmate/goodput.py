"""The report of a month: goodput, what took the rest of the GPU time, and the worst nodes."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clickhouse_connect.driver.client import Client

from sinks.clickhouse.queries import run

Row = Mapping[str, Any]
Table = tuple[str, Sequence[str], list[list[object]]]
"""Title, columns and rows."""

GROUPS = ("month", "user", "cause", "size", "job")
"""Groupings of the report: the whole month first."""
_COLUMNS = ("failed", "GPU h", "goodput", "failures", "start", "hang", "save", "queue h", "MTTF h")
"""Short names: the table fits into 80 columns."""
_NODES = ("node", "failures", "MTTF h", "job h", "last cause")


@dataclass(frozen=True)
class MonthReport:
    """Goodput of a month.

    Attributes:
        month: Such as `2026-11`, UTC.
        groups: Rows of the question `goodput`, by grouping.
        nodes: Rows of the question `nodes`.
    """

    month: str
    groups: Mapping[str, Sequence[Row]]
    nodes: Sequence[Row]

    @property
    def is_empty(self) -> bool:
        """Whether no attempt with GPUs started in the month."""
        return not self.groups["month"]

    @property
    def note(self) -> str:
        """A sentence on what the tables leave out; empty where they leave out nothing."""
        unknown = self.groups["month"][0]["unknown_gpu_hours"] if self.groups["month"] else 0
        return f"{_hours(unknown)} GPU hours of attempts without any report are not part of goodput." if unknown else ""

    def tables(self) -> list[Table]:
        """Return the title, the columns and the rows of each table."""
        titles = {
            "month": "The month",
            "user": "By user",
            "cause": "By cause of the failure",
            "size": "By number of GPUs",
            "job": "By job",
        }
        found = [(titles[by], (by, *_COLUMNS), [_cells(row) for row in self.groups[by]]) for by in GROUPS]
        return [*found, self.worst_nodes()]

    def short_tables(self) -> list[Table]:
        """Return goodput by cause and by user, and the worst nodes, in a few columns."""
        columns = ("goodput", "GPU h", "failed")
        places = [_COLUMNS.index(name) + 1 for name in columns]
        found: list[Table] = [
            (
                title,
                (by, *columns),
                [[cells[0], *(cells[place] for place in places)] for cells in map(_cells, self.groups[by])],
            )
            for by, title in (("cause", "By cause"), ("user", "By user"))
        ]
        return [*found, self.worst_nodes()]

    def summary(self) -> Mapping[str, object]:
        """Return the numbers of the whole month by the name of their column; None for what is not known."""
        return {} if self.is_empty else dict(zip(_COLUMNS, _cells(self.groups["month"][0])[1:], strict=True))

    def worst_nodes(self) -> Table:
        """Return the nodes with the least time between failures."""
        nodes: list[list[object]] = [
            [
                row["node"],
                row["failures"],
                row["hours_between_failures"],
                row["job_hours"],
                row["last_signature"].replace("_", " "),
            ]
            for row in self.nodes
        ]
        return "Worst nodes", _NODES, nodes


def this_month() -> str:
    """Return the present month (UTC), such as `2026-11`."""
    return time.strftime("%Y-%m", time.gmtime())


def is_month(text: str) -> bool:
    """Return whether `text` names a month, as `this_month` does."""
    return re.fullmatch(r"[12]\d{3}-(0[1-9]|1[0-2])", text) is not None


def months_around(month: str) -> tuple[str, str]:
    """Return the months before and after `month`."""
    year, number = map(int, month.split("-"))
    count = year * 12 + number - 1
    before, after = (f"{each // 12:04}-{each % 12 + 1:02}" for each in (count - 1, count + 1))
    return before, after


def read_month(client: Client, month: str, limit: int = 10) -> MonthReport:
    """Return the report of `month`, with `limit` rows of each grouping at most.

    Raises:
        SinkRejected: The database has no tables.
        SinkUnavailable: The server is away.
    """
    groups = {by: _rows(client, "goodput", by=by, month=month, limit=str(limit)) for by in GROUPS}
    return MonthReport(month, groups, _rows(client, "nodes", month=month, limit=str(limit)))


def _rows(client: Client, question: str, **given: str) -> list[Row]:
    answer = run(client, question, given)
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def _cells(row: Row) -> list[object]:
    known = row["gpu_hours"] - row["unknown_gpu_hours"]
    lost = [
        _share(row[name] / known if known else None)
        for name in ("failures_gpu_hours", "starting_gpu_hours", "hangs_gpu_hours", "checkpoints_gpu_hours")
    ]
    waits = [_hours(row["queued_hours"]), _hours(row["mttf_hours"])]
    return [
        row["group"].replace("_", " "),
        row["failures"],
        _hours(row["gpu_hours"]),
        _share(row["goodput"]),
        *lost,
        *waits,
    ]


def _share(part: float | None) -> str | None:
    return None if part is None else f"{part:.1%}"


def _hours(hours: float | None) -> str | None:
    return None if hours is None else f"{hours:,.0f}" if hours >= 100 else f"{hours:.3g}"
