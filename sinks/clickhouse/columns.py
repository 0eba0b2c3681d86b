"""Columns: how each is filled from records, and what ClickHouse gets where a value does not fit. The type of a field decides."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np
from msgspec import inspect

from schedmate_records import Record

Get = Callable[[Any], Any]


@dataclass(frozen=True)
class Column:
    """A column's name, its ClickHouse type on insert, and what takes its values from records."""

    name: str
    type: str
    values: Callable[[Sequence[Any]], Sequence[Any]]


def columns_of(record: type[Record], parts: Mapping[str, Sequence[Column]]) -> tuple[Column, ...]:
    """Return a column for each field of a record but its version; in the place of some fields the columns of `parts`."""
    found: list[Column] = []
    for name, kind in _fields(record).items():
        if name in parts:
            found += parts[name]
        elif name != "v":
            found.append(_column(name, kind, attrgetter(name)))
    return (*found, *parts.get("", ()))


def parts_of(record: type[Record], field: str, names: Mapping[str, str]) -> list[Column]:
    """Return a column for some fields of the structure that a field holds. Where the field is null, a text is empty, and the rest null.

    Args:
        record: The record.
        field: Its field.
        names: Fields of the structure, by the name of the column.
    """
    kind, _ = _without_null(_fields(record)[field])
    assert isinstance(kind, inspect.StructType)
    return list(_parts(field, _fields(kind.cls), names))


def derived(name: str, type_: str, get: Get) -> Column:
    """Return a column that `get` takes from a record."""
    return Column(name, type_, lambda rows: list(map(get, rows)))


def micros(seconds: Iterable[float]) -> list[int]:
    """Return times in seconds since 1970 as microseconds, moved into ClickHouse's calendar where they are outside (or not numbers)."""
    times = np.nan_to_num(np.fromiter(seconds, np.float64), nan=0.0)
    # The beginning of 2299, the last year of ClickHouse's calendar; a number that a float64 holds exactly.
    found: list[int] = np.clip(np.rint(times * 1e6), 0, 10_382_256_000_000_000).astype(np.int64).tolist()
    return found


def _fields(structure: type) -> dict[str, inspect.Type]:
    info = inspect.type_info(structure)
    assert isinstance(info, inspect.StructType)
    return {field.name: field.type for field in info.fields}


def _without_null(kind: inspect.Type) -> tuple[inspect.Type, bool]:
    """Return a type without null, and whether it allows null."""
    if not isinstance(kind, inspect.UnionType):
        return kind, False
    (other,) = (each for each in kind.types if not isinstance(each, inspect.NoneType))
    return other, True


def _parts(field: str, kinds: Mapping[str, inspect.Type], names: Mapping[str, str]) -> Iterator[Column]:
    outer = attrgetter(field)
    for name, part in names.items():
        kind, _ = _without_null(kinds[part])
        missing = "" if isinstance(kind, inspect.StrType) else None

        def get(record: Any, inner: Get = attrgetter(part), missing: Any = missing) -> Any:
            return missing if outer(record) is None else inner(outer(record))

        # Only a text is not null where the structure is.
        yield _column(name, kind if missing == "" else inspect.UnionType((kind, inspect.NoneType())), get)


def _column(name: str, kind: inspect.Type, get: Get) -> Column:
    kind, maybe = _without_null(kind)
    # Where a table has Float32 or LowCardinality, the engine converts: packing here would be slower, and refuse a loss of 1e39.
    scalars = {
        inspect.BoolType: "Bool",
        inspect.BytesType: "String",
        inspect.FloatType: "Float64",
        inspect.IntType: "Int64",
        inspect.StrType: "String",
    }
    scalar = scalars.get(type(kind), "")
    if scalar == "Float64" and name in {"time", "since", "until", "expires"}:
        scalar = "DateTime64(6, 'UTC')"
    if scalar:
        type_ = f"Nullable({scalar})" if maybe else scalar
        convert = {"Int64": _fitting, "DateTime64(6, 'UTC')": _maybe_micros if maybe else micros}.get(scalar, list)
        return Column(name, type_, lambda rows: convert(list(map(get, rows))))
    match kind:
        case inspect.EnumType():
            return derived(name, "String", (lambda row: get(row) or "") if maybe else get)
        case inspect.ListType(item_type=inspect.StrType() | inspect.EnumType()):
            return derived(name, "Array(String)", (lambda row: get(row) or []) if maybe else get)
        case inspect.ListType(item_type=inspect.IntType()):
            return derived(name, "Array(Int64)", lambda row: _fitting(get(row)))
        case inspect.DictType():
            return derived(name, "Map(String, String)", get)
    encode = msgspec.json.Encoder().encode

    def maybe_encoded(row: Any) -> str:
        # The driver takes a column of bytes or one of texts, and an empty one decides for texts.
        return "" if (value := get(row)) is None else encode(value).decode()

    return derived(name, "String", maybe_encoded if maybe else lambda row: encode(get(row)))


def _maybe_micros(seconds: Iterable[float | None]) -> list[int | None]:
    found = list(seconds)
    stamps = micros(0.0 if value is None else value for value in found)
    return [None if value is None else stamp for value, stamp in zip(found, stamps, strict=True)]


def _fitting(values: list[Any]) -> list[Any]:
    """Return whole numbers or nulls, those beyond 64 bits as the nearest that Int64 holds: JSON knows no limit."""
    try:
        array("q", filter(None, values))
    except OverflowError:
        return [value if value is None else min(max(value, -(2**63)), 2**63 - 1) for value in values]
    return values
