"""Which verdicts of a batch are new.

The id of a verdict follows from its content. So one whose id is there is a repeat, unless another verdict on the attempt was stored
in between: then it is in force again, and its higher revision is stored too.
"""

from collections.abc import Collection, Sequence

from clickhouse_connect.driver.client import Client

from schedmate_records import Failure

from .faults import translated_errors
from .tables import Row

_JOBS = 500
"""Jobs asked for at once: some 10 KB of parameters, well below the 128 KiB that a server takes in a form field."""


def new_verdicts(client: Client, rows: Sequence[Row], there: Collection[str]) -> list[Row]:
    """Return those of `rows`, verdicts all, that are new; `there` are the ids among theirs that the table has."""
    verdicts = [(row, record) for row in rows if isinstance(record := row[1], Failure)]
    if not there and len({record.id for _, record in verdicts}) == len(rows):
        return list(rows)
    force = _in_force(client, sorted({record.job for _, record in verdicts if record.id in there}))
    known, new = set(there), []
    for row, record in sorted(verdicts, key=lambda each: each[1].revision):
        attempt = record.job, record.attempt, record.incarnation
        revision, id_ = force.get(attempt, (0, ""))
        if record.id in known and (record.id == id_ or record.revision <= revision):
            continue
        known.add(record.id)
        new.append(row)
        if record.revision > revision:
            force[attempt] = record.revision, record.id
    return new


def _in_force(client: Client, jobs: Sequence[str]) -> dict[tuple[str, int, str], tuple[int, str]]:
    found = {}
    for start in range(0, len(jobs), _JOBS):
        with translated_errors("looking for verdicts in force"):
            rows = client.query(
                "SELECT job, attempt, incarnation, revision, id FROM failures WHERE job IN {jobs:Array(String)} "
                "ORDER BY job, attempt, incarnation, revision DESC, confidence DESC, id LIMIT 1 BY job, attempt, incarnation",
                parameters={"jobs": list(jobs[start : start + _JOBS])},
            ).result_rows
        found.update({tuple(attempt): (revision, id_) for *attempt, revision, id_ in rows})
    return found
