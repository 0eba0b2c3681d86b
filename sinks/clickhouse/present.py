"""Which records are in a table already.

Ids follow from input, and so do a record's key and time: a record made twice has the same ones. So the table is asked for what
it has of the batch's keys in the batch's span of time, which its sorting key answers in milliseconds: in a steady
stream next to nothing, after a restart or a replay all of it. Nothing rests on memory, on offsets or on how the stream was cut
into batches: repeats made upstream (a worker that did its last work again) are found, and so are those of a partition that
another sink has had in between.
"""

from collections.abc import Collection, Iterator, Sequence
from operator import attrgetter

import numpy as np
from clickhouse_connect.driver.client import Client

from schedmate_records import Record

from .columns import micros
from .faults import translated_errors
from .table import Table

_ID = attrgetter("id")
_TIME = attrgetter("time")


def present(client: Client, table: Table, rows: Sequence[Record]) -> set[str]:
    """Return the ids of those of `rows` that are in `table`.

    Raises:
        SinkUnavailable: The server is away.
        SinkRejected: The table is missing.
    """
    if not rows:
        return set()
    return _by_time(client, table, rows) if table.timed else _by_id(client, table, rows)


def _by_time(client: Client, table: Table, rows: Sequence[Record]) -> set[str]:
    times = np.array(micros(map(_TIME, rows)))
    order = np.argsort(times)
    # Gaps of more than ten minutes split the query, so that one wrong clock does not fetch a job's whole past.
    spans = np.split(order, np.flatnonzero(np.diff(times[order]) > 600 * 10**6) + 1)
    # With more spans than this, ids are asked for one by one: slower than a few spans, faster than many.
    if len(spans) > 20:
        return _by_id(client, table, rows)
    there: set[str] = set()
    for span in spans:
        of_span = [rows[index] for index in span]
        wanted = set(map(_ID, of_span))
        for keys in _parts(set(map(attrgetter(table.key), of_span))):
            with translated_errors(f"looking for repeats in {table.name}"):
                found = client.query(
                    f"SELECT id FROM {table.name} WHERE {table.key} IN {{keys:Array(String)}} "  # noqa: S608 - our own names
                    "AND time >= fromUnixTimestamp64Micro({since:Int64}, 'UTC') "
                    "AND time <= fromUnixTimestamp64Micro({until:Int64}, 'UTC')",
                    parameters={"keys": keys, "since": int(times[span[0]]), "until": int(times[span[-1]])},
                ).result_columns
            if found:
                there.update(wanted.intersection(found[0]))
    return there


def _by_id(client: Client, table: Table, rows: Sequence[Record]) -> set[str]:
    keys = dict(zip(map(_ID, rows), map(attrgetter(table.key), rows), strict=True))
    there: set[str] = set()
    for ids in _parts(keys):
        with translated_errors(f"looking for repeats in {table.name}"):
            found = client.query(
                f"SELECT id FROM {table.name} "  # noqa: S608 - our own names
                f"WHERE {table.key} IN {{keys:Array(String)}} AND id IN {{ids:Array(String)}}",
                parameters={"keys": sorted({keys[id_] for id_ in ids}), "ids": ids},
            ).result_columns
        if found:
            there.update(found[0])
    return there


def _parts(texts: Collection[str]) -> Iterator[list[str]]:
    """Cut `texts` into lists that fit into one parameter."""
    part: list[str] = []
    size = 0
    for text in sorted(texts):
        # Escaping at worst triples the bytes on the wire.
        cost = 3 * len(text.encode()) + 4
        # ClickHouse takes no form field beyond 128 KiB.
        if part and size + cost > 60_000:
            yield part
            part, size = [], 0
        part.append(text)
        size += cost
    if part:
        yield part
