"""Search of the stored lines of a job."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from clickhouse_connect.driver.client import Client
from starlette.exceptions import HTTPException

from sinks import SinkRejected, TablesMissing
from sinks.clickhouse.incarnations import FoundJob
from sinks.clickhouse.lines import Selection, any_lines, check_pattern, new_lines, newest_attempt

from .lines import LONGEST

SHOWN: Final = 200
"""Lines on a page."""
EXPORTED: Final = 5_000
"""Lines in a JSON or CSV twin at most."""
COLUMNS: Final = ("attempt", "rank", "stream", "node", "partition", "offset", "line", "time", "text")
"""Columns of lines in JSON and CSV."""
_AFTER: Final = re.compile(r"(\d{1,9})\.(\d{1,18})\.(\d{1,18})", re.ASCII)


@dataclass(frozen=True)
class LineSearch:
    """The lines of a job that match.

    Attributes:
        wanted: Which lines they are.
        stored: Whether the job has stored lines.
        any_stored: Whether any job has stored lines.
        rows: Lines in order of arrival, with the names of `COLUMNS`.
        after: Value of the parameter `after` of the next page; empty on the last one.
        problem: What is wrong with the pattern; empty where nothing is.
    """

    wanted: Selection
    stored: bool
    any_stored: bool
    rows: Sequence[Mapping[str, Any]] = ()
    after: str = ""
    problem: str = ""


def has_lines(client: Client, job: FoundJob | None = None) -> bool:
    """Return whether lines of `job`, or of any job, are stored. Raises as `Database.rows` does."""
    with suppress(TablesMissing):
        return any_lines(client) if job is None else newest_attempt(client, job) is not None
    return False


def search_lines(client: Client, job: FoundJob, wanted: Selection, after: str = "", size: int = SHOWN) -> LineSearch:
    """Return the selected lines of `job`, of its newest attempt where `wanted` names none.

    Args:
        client: Client of the database.
        job: The job.
        wanted: Which lines.
        after: Where the last page ended, as its `LineSearch.after`; empty for the first page.
        size: Lines at most.

    Raises:
        HTTPException: `after` has another form.
        SinkRejected: The question was refused.
        SinkUnavailable: The server is away, or the search took too long.
    """
    wanted = replace(wanted, pattern=wanted.pattern[:500])
    place = _AFTER.fullmatch(after)
    if after and place is None:
        raise HTTPException(400, f"Expected `after` as a link to further lines has it, got {after[:40]!r}.")
    if not has_lines(client, job):
        return LineSearch(wanted, stored=False, any_stored=has_lines(client))
    if wanted.attempt is None:
        wanted = replace(wanted, attempt=newest_attempt(client, job))
    try:
        check_pattern(client, wanted.pattern)
    except SinkRejected as error:
        return LineSearch(wanted, stored=True, any_stored=True, problem=str(error))
    partition, offset, piece = map(int, place.groups()) if place else (0, -1, -1)
    found = new_lines(client, job, wanted, {partition: (offset, piece)}, size + 1)
    rows = [
        {
            "attempt": stream.attempt,
            "rank": stream.rank,
            "stream": stream.stream,
            "node": stream.node,
            "topic": "job-logs",
            "partition": line.src_partition,
            "offset": line.src_offset,
            "line": line.line,
            "time": line.time,
            "text": f"[{line.omitted:,} lines were not stored]"
            if line.omitted
            else line.text[:LONGEST] + "…" * (len(line.text) > LONGEST),
        }
        for stream, line in found[:size]
    ]
    last = found[size - 1][1] if len(found) > size else None
    further = f"{last.src_partition}.{last.src_offset}.{last.piece}" if last else ""
    return LineSearch(wanted, stored=True, any_stored=True, rows=rows, after=further)
