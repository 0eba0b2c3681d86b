"""Jobs that need a person, grouped by cause: "3 jobs: xid fallen off bus on n1"."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Trouble:
    """Jobs that share a cause.

    Attributes:
        cause: The cause, alarm or state, in words.
        node: The node that all of them ran on, where the cause is in the infrastructure; empty for none.
        is_failure: Whether they failed; otherwise they run, or completed, with an alarm.
        jobs: The first of them, the newest first.
        count: How many there are.
        gpus: GPUs of all of them; null where no job's are known.
        newest: When the newest of them changed.
        message: The line that the newest verdict quotes.
        quoted: The job of that verdict, and the `place` of the line; None for none.
        search: What finds them in the list of jobs.
    """

    cause: str
    node: str
    is_failure: bool
    jobs: Sequence[Mapping[str, Any]]
    count: int
    gpus: float | None
    newest: datetime
    message: str
    quoted: Mapping[str, Any] | None
    search: str


def group_troubles(rows: Iterable[Mapping[str, Any]]) -> list[Trouble]:
    """Return the groups of `rows`, rows of the list of jobs with the newest first, the largest group first."""
    groups: dict[tuple[str, bool], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((_cause(row), row["condition"].is_failure), []).append(row)
    found = [_group(cause, of_it, is_failure=is_failure) for (cause, is_failure), of_it in groups.items()]
    return sorted(found, key=lambda group: (-group.count, -group.newest.timestamp()))


def _group(cause: str, rows: Sequence[Mapping[str, Any]], *, is_failure: bool) -> Trouble:
    known = [row["gpus"] for row in rows if row["gpus"] is not None]
    shared = set.intersection(*({*row["nodes"]} for row in rows))
    quoted = next((row for row in rows if row["message"]), None)
    in_infrastructure = is_failure and all(row["error_type"] == "infrastructure" for row in rows)
    return Trouble(
        cause=cause.replace("_", " "),
        node=min(shared) if in_infrastructure and len(shared) == 1 else "",
        is_failure=is_failure,
        jobs=rows[:4],
        count=len(rows),
        gpus=sum(known) if known else None,
        newest=max(row["changed"] for row in rows),
        message=quoted["message"] if quoted else "",
        quoted=quoted if quoted and quoted["place"] else None,
        search=rows[0]["cause"] if is_failure else "",
    )


def _cause(row: Mapping[str, Any]) -> str:
    if row["condition"].is_failure:
        return str(row["cause"] or row["error_type"] or row["reason"] or row["condition"])
    return str(row["alarms"][0] if row["alarms"] else row["condition"])
