"""What no honest record holds: names that are none, times beyond reach, endless numbers. Records come from strangers."""

import msgspec

from .base import Record
from .codec import InvalidRecord
from .log_chunk import Lines
from .workload import Workload

NAME = 256
"""Characters of a name at most: of a job, a node, a producer."""
RANKS = 1_000_000
"""Ranks of a job, attempts of a job, at most."""
LATEST = 4_102_444_800.0
"""2100-01-01, in seconds since 1970: no time is later. Dates beyond it do not fit into every store."""
_SPREAD_MS = 7 * 86_400_000
_NAMES = (
    "job", "node", "producer", "stream", "source", "branch", "user", "packed_with", "cluster", "sluid",
    "model_name", "task_type", "dataset_train", "dataset_valid", "iter_type",
)  # fmt: skip
_COUNTS = ("rank", "attempt", "seq", "first_line", "first_piece")
_TIMES = ("time", "since", "seen", "until")
_MOST = 1 << 62
_pack = msgspec.msgpack.encode


def check(record: Record) -> None:
    """Raise `InvalidRecord` where a field of `record` is out of bounds; the message says what was expected."""
    for name in _NAMES:
        value = getattr(record, name, None)
        if isinstance(value, str) and (len(value) > NAME or not value.isprintable()):
            raise InvalidRecord(
                f"expected at most {NAME} printable characters in {name}, got {value[:NAME]!r} ({len(value)} characters)"
            )
    for name in _COUNTS:
        value = getattr(record, name, None)
        most = RANKS if name in ("rank", "attempt") else _MOST
        if isinstance(value, int) and not 0 <= value <= most:
            raise InvalidRecord(f"expected a number from 0 to {most} in {name}, got {str(value)[:40]}")
    for name in _TIMES:
        value = getattr(record, name, None)
        if isinstance(value, float) and not 0 <= value <= LATEST:
            raise InvalidRecord(f"expected seconds since 1970, up to the year 2100, in {name}, got {value:g}")
    if not isinstance(record, Lines):  # whose numbers are bounded by name
        _check_size_of_numbers(record)
    if isinstance(workload := getattr(record, "workload", None), Workload):
        check(workload)
    after = getattr(record, "after_ms", None)
    if after and not (min(after) >= 0 and max(after) <= _SPREAD_MS):
        raise InvalidRecord(f"expected arrivals within {_SPREAD_MS} ms in after_ms, got {min(after)} to {max(after)}")


def _check_size_of_numbers(record: Record) -> None:
    """Raise `InvalidRecord` where a number is too large for a state, which is copied as MessagePack."""
    try:
        _pack(record)
    except OverflowError as error:
        raise InvalidRecord("expected whole numbers of 64 bits, got a larger one") from error
