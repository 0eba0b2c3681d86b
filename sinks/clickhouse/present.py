"""Which records are in a table already, without asking about every row.

Ids follow from input, and so do a record's key and time: a record made twice has the same ones. So a record that is later than all
that its key has in the table is new, and only the others are asked for, by key and time. In a steady stream that is next
to none; after a restart, a replay or a lost answer it is all. Nothing rests on offsets or on how the stream was
cut into batches, so repeats made upstream (a worker that did its last work again) are found as well.
"""

from collections.abc import Collection, Iterator, Sequence
from operator import attrgetter
from typing import Any

from clickhouse_connect.driver.client import Client

from records import Record

from .faults import speaking
from .tables import Table, fitting, micros

_KEYS_REMEMBERED = 200_000
"""Beyond so many keys all are forgotten, and asked for again."""

_PARAMETER_BYTES = 60_000
"""A server takes no form field beyond 128 KiB."""

_NEVER = -1

_ID = attrgetter("id")
_TIME = attrgetter("time")


class Present:
    """What one table has. `forget` after every failed insert: what is there is then unknown."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._newest: dict[tuple[Any, ...], int] = {}
        self._key = [attrgetter(name) for name in table.key]

    def forget(self) -> None:
        """Take nothing for known."""
        self._newest.clear()

    def among(self, client: Client, rows: Sequence[Record]) -> set[str]:
        """Return the ids of those of `rows` that are in the table, and take the others as there from now on.

        Raises:
            SinkUnavailable: The server is away.
            SinkRejected: The table is missing.
        """
        if not self._table.timed:
            return self._by_id(client, rows)
        keys = self._keys(rows)
        times = micros(map(_TIME, rows))
        if len(self._newest) > _KEYS_REMEMBERED:
            self._newest.clear()
        newest = self._newest
        unknown = set(keys).difference(newest)
        if unknown:
            self._learn(client, unknown)
        doubtful = [index for index, (key, time) in enumerate(zip(keys, times, strict=True)) if time <= newest[key]]
        for key, time in zip(keys, times, strict=True):
            if time > newest[key]:  # noqa: PLR1730 - twice as fast as max()
                newest[key] = time
        if not doubtful:
            return set()
        return self._by_time(client, [rows[index] for index in doubtful], [times[index] for index in doubtful])

    def _keys(self, rows: Sequence[Record]) -> list[tuple[Any, ...]]:
        parts = [list(map(get, rows)) for get in self._key]
        return list(zip(*(fitting(part) if isinstance(part[0], int) else part for part in parts), strict=True))

    def _learn(self, client: Client, unknown: set[tuple[Any, ...]]) -> None:
        """Find the newest time of each unknown key."""
        names = ", ".join(self._table.key)
        for firsts in _parts({key[0] for key in unknown}):
            with speaking(f"looking for what {self._table.name} has"):
                found = client.query(
                    f"SELECT {names}, toUnixTimestamp64Micro(max(time)) FROM {self._table.name} "  # noqa: S608 - our own names
                    f"WHERE {self._table.key[0]} IN {{firsts:Array(String)}} GROUP BY {names}",
                    parameters={"firsts": firsts},
                ).result_rows
            self._newest.update({tuple(row[:-1]): int(row[-1]) for row in found})
        for key in unknown:
            self._newest.setdefault(key, _NEVER)

    def _by_time(self, client: Client, doubtful: Sequence[Record], times: Sequence[int]) -> set[str]:
        first = self._key[0]
        wanted = set(map(_ID, doubtful))
        there: set[str] = set()
        for firsts in _parts({first(row) for row in doubtful}):
            with speaking(f"looking for repeats in {self._table.name}"):
                found = client.query(
                    f"SELECT id FROM {self._table.name} WHERE {self._table.key[0]} IN {{firsts:Array(String)}} "  # noqa: S608 - our own names
                    "AND time >= fromUnixTimestamp64Micro({since:Int64}, 'UTC') AND time <= fromUnixTimestamp64Micro({until:Int64}, 'UTC')",
                    parameters={"firsts": firsts, "since": min(times), "until": max(times)},
                ).result_columns
            if found:
                there.update(wanted.intersection(found[0]))
        return there

    def _by_id(self, client: Client, rows: Sequence[Record]) -> set[str]:
        first = self._key[0]
        of = dict(zip(map(_ID, rows), map(first, rows), strict=True))
        there: set[str] = set()
        for ids in _parts(of):
            with speaking(f"looking for repeats in {self._table.name}"):
                found = client.query(
                    f"SELECT id FROM {self._table.name} "  # noqa: S608 - our own names
                    f"WHERE {self._table.key[0]} IN {{firsts:Array(String)}} AND id IN {{ids:Array(String)}}",
                    parameters={"firsts": sorted({of[id_] for id_ in ids}), "ids": ids},
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
        if part and size + cost > _PARAMETER_BYTES:
            yield part
            part, size = [], 0
        part.append(text)
        size += cost
    if part:
        yield part
