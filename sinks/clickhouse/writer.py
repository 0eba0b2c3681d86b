"""Batches of records into tables: every record once, after any repeat or crash."""

import hashlib
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from operator import attrgetter

from clickhouse_connect.driver.client import Client

from schedmate_records import Failure, JobMetric, Record
from schedmate_records.metrics import MetricFactory

from ..errors import SinkRejected, SinkUnavailable
from .columns import derived, micros
from .faults import translated_errors
from .migrate import check_schema
from .present import present
from .rollup import reconcile
from .table import Table
from .tables import BY_RECORD, Row

_JOBS = 500
"""Jobs asked for at once: some 10 KB of parameters, well below the 128 KiB that a server takes in a form field."""


_INSERT_ROWS = 100_000
"""At most so many rows an insert: well below the million at which the server would cut a block in two."""

_SOURCE = tuple(
    derived(f"src_{name}", type_, attrgetter(name))
    for name, type_ in (("topic", "String"), ("partition", "Int32"), ("offset", "Int64"))
)
"""Columns of every table that are filled from the position of the message."""


class WriterMetrics:
    """Metrics of the writer."""

    def __init__(self) -> None:
        make = MetricFactory("schedmate_clickhouse")
        self.rows = make.counter("rows", "Rows inserted.")
        self.repeats = make.counter("repeats", "Records that were already in the batch or the table.")
        self.inserts = make.counter("inserts", "Inserts acknowledged.")
        self.swallowed = make.counter(
            "swallowed", "Inserts that the server acknowledged but did not store. They were sent again."
        )
        self.failures = make.counter("failures", "Batches that could not be written.")
        self.write_duration = make.histogram(
            "write_duration_seconds",
            "Time to write one batch to all its tables.",
            buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
            unit="seconds",
        )
        self.end_to_end = make.histogram(
            "end_to_end_seconds",
            "From the arrival of a job's newest line to the row that was made of it (job_metrics).",
            buckets=(0.25, 0.5, 1, 2, 3, 5, 10, 30, 60, 300, 1800),
            unit="seconds",
        )


class ClickHouseWriter:
    """Writes records, each once by its id, into the tables of `migrate`.

    What is exact, and why. A record that may be in its table is asked for, and dropped where it is (`present`). What is left for
    a table is one insert, one block, whole or not there. It carries a token made of its places and ids, so that
    a request that the driver replays, or that the server finishes after we gave up on it, changes nothing. An engine notes the
    token before the block: killed in between, it takes the next try for a repeat and drops it with a success. So the
    table is asked once more after the insert, and what is still missing goes in under a fresh token. Where rows were
    found to be there, the roll-up is counted again (`rollup`). So a `write` that failed may be repeated with other batch
    boundaries, in another process.

    One writer at a time may write the records of a key (a job, a node): two that race can both find a record missing. The
    tables then still come to hold one row (ReplacingMergeTree), but only after a merge, and the roll-up counts it twice until
    its minute is next counted again. Consumers of one group share out the partitions and do not race.

    Not thread-safe.

    Attributes:
        metrics: What it did so far.
    """

    def __init__(self, connect: Callable[[], Client], clock: Callable[[], float] = time.time) -> None:
        """Set up; nothing is opened yet.

        Args:
            connect: Opens the database; called at the first write, and at the next one where that failed.
            clock: Seconds since 1970.
        """
        self.metrics = WriterMetrics()
        self._clock = clock
        self._connect = connect
        self._client: Client | None = None

    def write(self, batch: Sequence[Row]) -> None:
        """Store `batch`; return once all of it is in the tables (written by the engine, so that its death loses nothing).

        Args:
            batch: Records, each with the place of the message that it came in.

        Raises:
            SinkUnavailable: The server is away or overloaded. Some of the batch may be stored; write it again.
            SinkRejected: It will never work: no tables, no access, a record without a table.
        """
        if not batch:
            return
        began = time.perf_counter()
        try:
            client = self.client()
            for table, rows in _by_table(batch).items():
                self._write_table(client, table, rows)
        except (SinkUnavailable, SinkRejected):
            self.metrics.failures.inc()
            raise
        self.metrics.write_duration.observe(time.perf_counter() - began)

    def close(self) -> None:
        """Let go of the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def client(self) -> Client:
        """Return the open client; opened and checked where it is not open yet. Raises as `write` does."""
        if self._client is None:
            client = self._connect()
            try:
                check_schema(client)
            except (SinkUnavailable, SinkRejected):
                client.close()
                raise
            self._client = client
        return self._client

    def _write_table(self, client: Client, table: Table, rows: list[Row]) -> None:
        records = [record for _, record in rows]
        there = present(client, table, records)
        new = _new(client, table, rows, there)
        if there and table.record is JobMetric:
            _reconcile(client, [record for record in records if record.id in there])  # type: ignore[attr-defined]
        self.metrics.repeats.inc(len(rows) - len(new))
        for start in range(0, len(new), _INSERT_ROWS):
            block = new[start : start + _INSERT_ROWS]
            _insert(client, table, block, _token(block))
            missing = _new(client, table, block, present(client, table, [record for _, record in block]))
            if missing:
                self.metrics.swallowed.inc()
                _insert(client, table, missing, uuid.uuid4().hex)
            self.metrics.inserts.inc()
            self.metrics.rows.inc(len(block))
            self._observe_end_to_end(block)

    def _observe_end_to_end(self, block: Sequence[Row]) -> None:
        now = self._clock()
        for _, record in block:
            if isinstance(record, JobMetric):
                self.metrics.end_to_end.observe(max(0.0, now - record.time))


def _new(client: Client, table: Table, rows: list[Row], there: set[str]) -> list[Row]:
    """Return the rows that are to be stored; `there` are the ids that the table has."""
    return _new_verdicts(client, rows, there) if table.record is Failure else _once(rows, there)


def _once(rows: list[Row], there: set[str]) -> list[Row]:
    """Return the rows whose id is not `there`, each id once."""
    ids = [record.id for _, record in rows]  # type: ignore[attr-defined]
    if not there and len(set(ids)) == len(ids):
        return rows
    new = {id_: row for id_, row in zip(reversed(ids), reversed(rows), strict=True) if id_ not in there}
    return list(reversed(new.values()))


def _by_table(batch: Sequence[Row]) -> dict[Table, list[Row]]:
    """Return the rows of each table."""
    kinds: dict[type[Record], list[Row]] = defaultdict(list)
    for row in batch:
        kinds[type(row[1])].append(row)
    unknown = sorted(kind.__name__ for kind in kinds if kind not in BY_RECORD)
    if unknown:
        raise SinkRejected(
            f"expected records that have a table, got {', '.join(unknown)}: do not subscribe the sink to their topic"
        )
    return {BY_RECORD[kind]: rows for kind, rows in kinds.items()}


def _insert(client: Client, table: Table, block: Sequence[Row], token: str) -> None:
    places = [position for position, _ in block]
    rows = [record for _, record in block]
    columns = (*table.columns, *_SOURCE)
    values = [column.values(rows) for column in table.columns] + [column.values(places) for column in _SOURCE]
    with translated_errors(f"writing {len(rows)} rows to {table.name}"):
        client.insert(
            table.name,
            values,
            column_names=[column.name for column in columns],
            column_type_names=[column.type for column in columns],
            column_oriented=True,
            settings={
                "insert_deduplication_token": token,
                "deduplicate_blocks_in_dependent_materialized_views": 1,
                # The server must not gather our batch with others, nor answer before it is written.
                "async_insert": 0,
            },
        )


def _token(block: Sequence[Row]) -> str:
    """Return the name of this block: its first and last place, and all its ids (offsets come again when a topic is made anew)."""
    ids = "\0".join(record.id for _, record in block)  # type: ignore[attr-defined]
    first, last = block[0][0], block[-1][0]
    return (
        f"{first.topic}/{first.partition}/{first.offset}-{last.topic}/{last.partition}/{last.offset}/"
        f"{hashlib.blake2b(ids.encode(), digest_size=16).hexdigest()}"
    )


def _reconcile(client: Client, rows: Sequence[Record]) -> None:
    times = micros(row.time for row in rows)  # type: ignore[attr-defined]
    reconcile(client, {row.job for row in rows}, min(times), max(times))  # type: ignore[attr-defined]


def _new_verdicts(client: Client, rows: Sequence[Row], there: Collection[str]) -> list[Row]:
    """Return those of `rows`, verdicts all, that are new; `there` are the ids among theirs that the table has.

    The id of a verdict follows from its content. So one whose id is there is a repeat, unless another verdict on the attempt was stored
    in between: then it is in force again, and its higher revision is stored too.
    """
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
