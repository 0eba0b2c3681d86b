"""The lines around one that was quoted, from ClickHouse, where Kafka does not keep them any more."""

from clickhouse_connect.driver.client import Client
from starlette.exceptions import HTTPException
from starlette.requests import Request

from schedmate_records import Position
from sinks.clickhouse.incarnations import find_job
from sinks.clickhouse.lines import lines_at

from .lines import AFTER, GONE, LONGEST, Excerpt, Line, asked_place


def stored_lines(client: Client, request: Request) -> Excerpt:
    """Return the lines around the one that a link names, which names its job, too.

    Raises:
        HTTPException: The line is not stored.
        SinkRejected: The table is missing.
        SinkUnavailable: The server is away.
    """
    place, line, _ = asked_place(request)
    job = request.query_params.get("job", "")
    found = lines_at(client, find_job(client, job), place, line, AFTER) if job and place.topic == "job-logs" else None
    if found is None:
        raise HTTPException(404, GONE)
    stream, lines, cited = found
    on = f" on {stream.node}" if stream.node else ""
    shown = [
        Line(
            Position("job-logs", each.src_partition, each.src_offset),
            None,
            each.line,
            f"[{each.omitted:,} lines were not stored]"
            if each.omitted
            else each.text[:LONGEST] + "…" * (len(each.text) > LONGEST),
            index == cited,
        )
        for index, each in enumerate(lines)
    ]
    return Excerpt(f"{stream.stream} of rank {stream.rank}{on}, attempt {stream.attempt}", job, shown)
