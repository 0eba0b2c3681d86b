"""Speed of each rank over time as a heat map, which shows slow and silent ranks."""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .database import Database
from .reports import Reports

ROWS, COLUMNS = 48, 80
"""Cells of the map at most: neighbouring ranks share a row, of which the slowest is shown, and neighbouring minutes a column."""
FEWEST: Final = 3
"""Minutes below which a map shows nothing that a number does not."""
LEVELS: Final = ((1.05, "as-usual"), (1.15, "slower"), (1.4, "slow"), (math.inf, "very-slow"))
"""Step time as a multiple of the median of its column, and what that is called."""

_CELLS: Final = """
SELECT row, column, max(seconds) AS seconds, count() AS reporting FROM
(
    SELECT
        intDiv(t.rank, {ranks:Int64}) AS row,
        intDiv(toUnixTimestamp(t.minute) - {since:Int64}, {width:Int64}) AS column,
        sum(t.step_time_sum) / sum(t.step_time_reports) AS seconds
    FROM job_throughput_1m AS t
    WHERE t.job = {job:String} AND t.attempt = {attempt:Int64}
        AND t.minute >= fromUnixTimestamp({since:Int64}) AND t.minute <= fromUnixTimestamp({until:Int64})
    GROUP BY t.rank, row, column
    HAVING sum(t.step_time_reports) > 0
)
GROUP BY row, column
"""


@dataclass(frozen=True)
class Cell:
    """A cell at (`column`, `row`); `text` describes it."""

    column: int
    row: int
    level: str
    text: str


@dataclass(frozen=True)
class RankMap:
    """The map of `attempt`: `rows` by `columns` cells, of `per_row` ranks and `minutes` each. Cells without a report are missing."""

    attempt: int
    rows: int
    columns: int
    per_row: int
    minutes: int
    cells: Sequence[Cell]


def rank_map(database: Database, job: str, reports: Sequence[Reports]) -> RankMap | None:
    """Return the map of the newest attempt of `job` that reports; ranks of another ran elsewhere.

    None where fewer than two ranks report, or for less than `FEWEST` minutes.

    Raises as `Database.rows` does.
    """
    if not reports or reports[-1].ranks < 2:
        return None
    newest = reports[-1]
    since = int(newest.since.timestamp())
    minutes = (int(newest.until.timestamp()) - since) // 60 + 1
    if minutes < FEWEST:
        return None
    width, per_row = -(-minutes // COLUMNS), newest.last // ROWS + 1
    rows = database.rows(
        _CELLS,
        job=job,
        attempt=newest.attempt,
        since=since,
        until=since + minutes * 60,
        width=width * 60,
        ranks=per_row,
    )
    return RankMap(
        attempt=newest.attempt,
        rows=newest.last // per_row + 1,
        columns=(minutes - 1) // width + 1,
        per_row=per_row,
        minutes=width,
        cells=list(_cells(rows, per_row)),
    )


def _cells(rows: Sequence[Mapping[str, Any]], per_row: int) -> Iterator[Cell]:
    columns: dict[int, list[float]] = {}
    for row in rows:
        columns.setdefault(row["column"], []).append(row["seconds"])
    most: dict[int, int] = {}
    for row in rows:
        most[row["row"]] = max(most.get(row["row"], 0), row["reporting"])
    usual = {column: statistics.median(seconds) for column, seconds in columns.items()}
    for row in rows:
        times = row["seconds"] / usual[row["column"]] if usual[row["column"]] else 1.0
        level = next(name for most, name in LEVELS if times <= most)
        silent = most[row["row"]] - row["reporting"]
        first = row["row"] * per_row
        ranks = f"rank {first}" if per_row == 1 else f"ranks {first} to {first + per_row - 1}, the slowest"
        text = f"{ranks}: {row['seconds']:.3g} s a step, {times:.2f} of the median"
        # Some ranks of the row report at other times and not here.
        yield Cell(
            row["column"], row["row"], "silent" if silent else level, f"{text}; {silent} silent" if silent else text
        )
