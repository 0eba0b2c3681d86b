"""MLPerf's own log lines: `:::MLLOG {json}`, `:::MLL time key: {json}` and `:::MLPv0.5.0 model time (file) key: value`.

Losses, rates and step times follow a key; counters are read by `processors/read/events.py`. Source: MLCommons logging package and the
logging rules of MLPerf Training.
"""

import re
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeGuard

import msgspec

from .names import Field, Meaning

_FORMS = {
    "object": re.compile(r":::ML(?:LOG|L\s+(\d+\.\d+)\s+(\w+):)\s+(\{.*\})"),
    "first": re.compile(r":::MLP\S*\s+\S+\s+(\d+(?:\.\d+)?)\s+\([^)]*\)\s+(\w+)"),
}

_REPORTED = (
    (re.compile(r"^(?:train_?|training_)?loss$"), Meaning.LOSS, ""),
    (
        re.compile(r"^(?:training_|train_)?(?:throughput|samples_per_sec(?:ond)?|images_per_sec(?:ond)?)$"),
        Meaning.RATE,
        "samples/s",
    ),
    (re.compile(r"^(?:train_)?step_time$"), Meaning.STEP_TIME, ""),
)
_COUNTERS = ((("step_num", "iteration", "iter_num"), Meaning.STEP), (("epoch_num", "epoch"), Meaning.EPOCH))


@dataclass(frozen=True, slots=True)
class MlperfLine:
    """One line of the log: its key, its time in seconds since 1970, and the fields that report training."""

    key: str
    stamp: float | None
    values: tuple[tuple[Field, float], ...] = ()


def read(body: str) -> MlperfLine | None:
    """Return the event that `body` holds, or None where it is no such line. Evaluation and bookkeeping have no fields."""
    if not body.startswith(":::ML"):
        return None
    if found := _FORMS["object"].match(body):
        record = _object(found[3])
        milliseconds = record.get("time_ms")
        stamp = float(found[1] or 0) or (milliseconds / 1000 if isinstance(milliseconds, int | float) else 0.0)
        return MlperfLine(
            found[2] or str(record.get("key", "")), stamp or None, tuple(_values(found[2] or record.get("key"), record))
        )
    found = _FORMS["first"].match(body)
    return MlperfLine(found[2], float(found[1]) or None) if found else MlperfLine("", None)


def _object(text: str) -> dict[str, Any]:
    try:
        record = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _values(key: object, record: dict[str, Any]) -> list[tuple[Field, float]]:
    value, metadata = record.get("value"), record.get("metadata")
    measured = value if isinstance(value, dict) else {key: value}  # tracked_stats hold several
    values = [
        (Field(0, meaning, str(name), 1.0, unit), float(number))
        for name, number in measured.items()
        for pattern, meaning, unit in _REPORTED
        if _is_number(number) and pattern.match(str(name))
    ]
    counted = metadata if values and isinstance(metadata, dict) else {}
    for names, meaning in _COUNTERS:
        numbers = (counted[name] for name in names if _is_number(counted.get(name)))
        values += [(Field(0, meaning, str(meaning)), float(number)) for number in islice(numbers, 1)]
    return values


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
