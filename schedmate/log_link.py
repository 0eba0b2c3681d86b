"""Links to the lines of a job: in another system, or by `schedmate logs`."""

import shlex
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from clickhouse_connect.driver.client import Client

from sinks import TablesMissing
from sinks.clickhouse.incarnations import find_job
from sinks.clickhouse.lines import newest_attempt

_AROUND_MS = 600_000
"""Time before and after a verdict, in milliseconds."""


STORE_LINES = (
    "Set clickhouse.job_lines_days, for example to 7, run `schedmate migrate` and start `schedmate sink` again"
)
"""Advice if the lines of jobs are not stored."""


def log_link(template: str, job: str, verdict: Mapping[str, Any] | None = None) -> str:
    """Return the link to the lines around a verdict, a row of `failures`, or to the newest lines; each value is quoted for an address."""
    time: datetime = verdict["time"] if verdict else datetime.now(UTC)
    moment = int(time.timestamp() * 1000)
    verdict = verdict or {}
    known = {
        "job": job,
        "attempt": verdict.get("attempt"),
        "rank": verdict.get("rank"),
        "node": verdict.get("node"),
        "line": verdict.get("root_line"),
        "text": verdict.get("root_text"),
        "from": moment - _AROUND_MS,
        "to": moment + _AROUND_MS,
    }
    return template.format_map(
        {name: quote("" if value is None else str(value), safe="") for name, value in known.items()}
    )


def log_command(client: Client, job: str, verdict: Mapping[str, Any]) -> str:
    """Return the command that shows the lines around a verdict; empty where its job has no stored lines, or no line explains it."""
    if verdict["root_line"] is None or verdict["root_topic"] != "job-logs":
        return ""
    with suppress(TablesMissing):
        if newest_attempt(client, find_job(client, job)) is not None:
            rank = "" if verdict["rank"] is None else f" --rank {verdict['rank']}"
            return f"schedmate logs {shlex.quote(job)} --attempt {verdict['attempt']}{rank} --around {verdict['root_line']}"
    return ""
