"""Limits of the fields of all records: names, counts, times. Anyone who may write to a topic can send any value.

Readers check what they read (`streams.accept`), and workers check what they write, so that no reader refuses a worker's record.
"""

from collections.abc import Callable, Iterator
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from .base import Record
from .codec import InvalidRecord
from .log_chunk import Lines

NAME = 256
"""Characters of a name at most: of a job, a node, a producer."""
NAMES = 65_536
"""Entries of a list of names at most. Slurm has no more nodes than that (MAX_SLURM_NODES in its sources)."""
RANKS = 1_000_000
"""Ranks of a job, attempts of a job, at most."""
COUNT = 10**12
"""Largest count of lines, reports or repeats: a producer of 10,000 lines a second reaches it after three years. ClickHouse sums in 64 bits,
into which nine million such counts fit."""
LATEST = 4_102_444_800.0
"""2100-01-01, in seconds since 1970: no time is later. Dates beyond it do not fit into every store."""
_SPREAD_MS = 7 * 86_400_000
_MOST = 1 << 62
_NAME_FIELDS = frozenset({
    "job", "incarnation", "node", "producer", "stream", "source", "branch", "user", "packed_with", "packed_job", "beneficiary", "cluster",
    "sluid",
    "model_name", "task_type", "dataset_train", "dataset_valid", "iter_type",
})  # fmt: skip
_COUNTS: dict[str, int] = {
    **dict.fromkeys(("rank", "slowest", "attempt", "ranks"), RANKS),
    **dict.fromkeys(("seq", "first_line", "first_piece", "offset", "partition", "line", "revision", "size"), _MOST),
    **dict.fromkeys(("lines", "reports", "times", "number", "node_count", "cpus", "gpus", "guaranteed_h", "history_h"), COUNT),
    **dict.fromkeys(("memory_gib", "time_limit_s", "grace_s", "working_s", "waiting_s", "idle_s"), COUNT),
    **dict.fromkeys(("vacant_s", "unknown_s", "gpu_hours"), COUNT),
    **dict.fromkeys(("gpu", "pid", "memory_bytes", "memory_used_bytes", "memory_total_bytes", "utilisation"), _MOST),
    **dict.fromkeys(("memory_utilisation", "sm_clock_mhz", "memory_clock_mhz", "nvlink_active", "rows_remapped"), _MOST),
    **dict.fromkeys(("ecc_corrected", "ecc_uncorrected", "nvlink_errors"), _MOST),
}  # fmt: skip
"""Largest value of each count by the field's name; the smallest is 0."""
_pack = msgspec.msgpack.encode
_Check = Callable[[Any], None]


def check(record: Record) -> None:
    """Raise `InvalidRecord` where a field of `record`, or of a structure in it, is out of bounds.

    The message states what was expected and what came.
    """
    _check_fields(record)
    if isinstance(record, Lines):
        _check_arrivals(record)
    else:
        _check_size_of_numbers(record)


def is_name(value: str) -> bool:
    """Return whether `value` can be the name of a job, a node or a producer."""
    return len(value) <= NAME and value.isprintable() and bool(value.strip())


def _check_fields(struct: msgspec.Struct) -> None:
    for name, check_field in _checks(type(struct)):
        value = getattr(struct, name)
        if value is not None:
            check_field(value)


@cache
def _checks(kind: type[msgspec.Struct]) -> tuple[tuple[str, _Check], ...]:
    """Return the checked fields of a structure, each with its check."""
    return tuple(
        (field.name, found)
        for field in msgspec.structs.fields(kind)
        if (found := _check_of(field, set(_plain_types(field.type)))) is not None
    )


def _check_of(field: msgspec.structs.FieldInfo, kinds: set[Any]) -> _Check | None:
    name = field.name
    found: _Check | None = None
    if name in _NAME_FIELDS and str in kinds:
        found = _name_check(name, may_be_empty=not field.required)
    elif list[str] in kinds and name != "lines":
        found = _names_check(name)
    elif name in _COUNTS and kinds & {int, float}:
        found = _count_check(name, _COUNTS[name])
    elif name in {"time", "since", "seen", "until"} and float in kinds:
        found = _time_check(name)
    elif any(_is_struct(kind) for kind in kinds):
        found = _check_fields
    elif any(get_origin(kind) is list and _is_struct(get_args(kind)[0]) for kind in kinds):
        found = _check_each
    return found


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _plain_types(kind: Any) -> Iterator[Any]:
    """Yield the members of a union, without annotations."""
    if get_origin(kind) in (Union, UnionType):
        for each in get_args(kind):
            yield from _plain_types(each)
    elif get_origin(kind) is Annotated:
        yield get_args(kind)[0]
    elif get_origin(kind) is list and get_origin(get_args(kind)[0]) is Annotated:
        yield list[get_args(get_args(kind)[0])[0]]  # type: ignore[misc]
    else:
        yield kind


def _name_check(field: str, *, may_be_empty: bool) -> _Check:
    def check_name(value: str) -> None:
        if len(value) > NAME or not value.isprintable():
            raise InvalidRecord(
                f"expected at most {NAME} printable characters in {field}, got {value[:NAME]!r} ({len(value)} characters)"
            )
        if not (may_be_empty or value.strip()):
            raise InvalidRecord(
                f"expected a name in {field}, got {value!r}: set {field} in the program that writes these records"
            )

    return check_name


def _names_check(field: str) -> _Check:
    check_name = _name_check(f"each of {field}", may_be_empty=False)

    def check_names(values: list[str]) -> None:
        if len(values) > NAMES:
            raise InvalidRecord(f"expected at most {NAMES} names in {field}, got {len(values)}")
        for value in values:
            check_name(value)

    return check_names


def _count_check(field: str, most: float) -> _Check:
    def check_count(value: float) -> None:
        if not 0 <= value <= most:
            raise InvalidRecord(f"expected a number from 0 to {most} in {field}, got {str(value)[:40]}")

    return check_count


def _time_check(field: str) -> _Check:
    def check_time(value: float) -> None:
        if not 0 <= value <= LATEST:
            raise InvalidRecord(f"expected seconds since 1970, up to the year 2100, in {field}, got {value:g}")

    return check_time


def _check_each(values: list[msgspec.Struct]) -> None:
    for value in values:
        _check_fields(value)


def _check_arrivals(chunk: Lines) -> None:
    after = chunk.after_ms
    if not after:
        return
    if not (min(after) >= 0 and max(after) <= _SPREAD_MS):
        raise InvalidRecord(f"expected arrivals within {_SPREAD_MS} ms in after_ms, got {min(after)} to {max(after)}")
    if chunk.time + max(after) / 1000 > LATEST:
        raise InvalidRecord(f"expected arrivals up to the year 2100, got {max(after)} ms after {chunk.time:g}")


def _check_size_of_numbers(record: Record) -> None:
    """Raise `InvalidRecord` where a number is too large for a state, which is copied as MessagePack."""
    try:
        _pack(record)
    except OverflowError as error:
        raise InvalidRecord("expected whole numbers of 64 bits, got a larger one") from error
