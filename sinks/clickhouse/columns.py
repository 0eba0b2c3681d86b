"""Columns: how the values of one are taken from records, and what ClickHouse gets where a value does not fit."""

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np

from schedmate_records import Record

Values = Callable[[Sequence[Record]], Sequence[Any]]

_LOW, _HIGH = -(2**63), 2**63 - 1
"""What Int64 holds."""

_json = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class Column:
    """A column's name, its ClickHouse type on insert, and how to fill it from schedmate_records."""

    name: str
    type: str
    values: Values


def micros(seconds: Iterable[float]) -> list[int]:
    """Return times in seconds since 1970 as microseconds, moved into ClickHouse's calendar where they are outside (or not numbers)."""
    times = np.nan_to_num(np.fromiter(seconds, np.float64), nan=0.0)
    # The beginning of 2299, the last year of ClickHouse's calendar; a number that a float64 holds exactly.
    found: list[int] = np.clip(np.rint(times * 1e6), 0, 10_382_256_000_000_000).astype(np.int64).tolist()
    return found


def plain(name: str, type_: str) -> Column:
    """Return a column of the field `name`, as it is."""
    get = attrgetter(name)
    return Column(name, type_, lambda rows: list(map(get, rows)))


def text(name: str) -> Column:
    """Return a column of texts. Many of them are LowCardinality: the engine builds the dictionaries, faster than the driver in Python."""
    return plain(name, "String")


def texts(name: str) -> Column:
    """Return a column of lists of texts."""
    return plain(name, "Array(String)")


def real(name: str) -> Column:
    """Return a column of numbers. Some are Float32: the engine converts, where packing here would refuse a loss of 1e39."""
    return plain(name, "Float64")


def maybe_real(name: str) -> Column:
    """Return a column of numbers or nulls."""
    return plain(name, "Nullable(Float64)")


def clamped(value: int) -> int:
    """Return `value`, or the nearest number of 64 bits. JSON knows no limit."""
    return min(max(value, _LOW), _HIGH)


def fitting(values: list[int]) -> list[int]:
    """Return `values`, each as `clamped` makes it."""
    try:
        array("q", values)
    except OverflowError:
        return list(map(clamped, values))
    return values


def integer(name: str) -> Column:
    """Return a column of whole numbers, those beyond 64 bits as the nearest that fits."""
    get = attrgetter(name)
    return Column(name, "Int64", lambda rows: fitting(list(map(get, rows))))


def maybe_integer(name: str, get: Callable[[Any], int | None] | None = None) -> Column:
    """Return a column of whole numbers or nulls, taken by `get` where the record has no field of that name."""
    get = get or attrgetter(name)

    def values(rows: Sequence[Record]) -> Sequence[Any]:
        found = list(map(get, rows))
        try:
            array("q", [value or 0 for value in found])
        except OverflowError:
            return [value if value is None else clamped(value) for value in found]
        return found

    return Column(name, "Nullable(Int64)", values)


def time(name: str) -> Column:
    """Return a column of times, to the microsecond."""
    get = attrgetter(name)
    return Column(name, "DateTime64(6, 'UTC')", lambda rows: micros(map(get, rows)))


def maybe_time(name: str) -> Column:
    """Return a column of times or nulls."""
    get = attrgetter(name)

    def values(rows: Sequence[Record]) -> Sequence[Any]:
        found = list(map(get, rows))
        stamps = micros(0.0 if value is None else value for value in found)
        return [None if value is None else stamp for value, stamp in zip(found, stamps, strict=True)]

    return Column(name, "Nullable(DateTime64(6, 'UTC'))", values)


def encoded(name: str) -> Column:
    """Return a column of JSON."""
    get = attrgetter(name)
    return Column(name, "String", lambda rows: [_json(get(row)) for row in rows])


def part(of: str, name: str, missing: Any) -> Callable[[Any], Any]:
    """Return what takes `name` from a record's field `of`; `missing` where that is null."""
    outer, inner = attrgetter(of), attrgetter(name)
    return lambda record: missing if outer(record) is None else inner(outer(record))


def derived(name: str, type_: str, get: Callable[[Any], Any]) -> Column:
    """Return a column that `get` takes from a record."""
    return Column(name, type_, lambda rows: list(map(get, rows)))
