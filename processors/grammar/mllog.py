"""MLPerf's own log lines: `:::MLLOG {json}`, `:::MLL time key: {json}` and `:::MLPv0.5.0 model time (file) key: value`.

Source: MLCommons logging package and the logging rules of MLPerf Training.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import msgspec

from .names import Meaning
from .slots import Slot

_MODERN = re.compile(r":::MLLOG\s+(\{.*\})")
_OLDER = re.compile(r":::MLL\s+(\d+\.\d+)\s+(\w+):\s+(\{.*\})")
_FIRST = re.compile(r":::MLP\S*\s+\S+\s+(\d+(?:\.\d+)?)\s+\([^)]*\)\s+(\w+)(?::\s*(.*))?")

_LOSS = re.compile(r"^(?:train_?)?loss$|^training_loss$")
_RATE = re.compile(r"^(?:training_|train_)?(?:throughput|samples_per_sec(?:ond)?|images_per_sec(?:ond)?)$")
_STEP_TIME = re.compile(r"^(?:train_)?step_time$")


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the log: its key, its time in seconds since 1970, the fields that report training, its value and its metadata."""

    key: str
    stamp: float | None
    values: tuple[tuple[Slot, float], ...]
    value: object = None
    metadata: dict[str, Any] = field(default_factory=dict)

    def number(self, *names: str) -> float | None:
        """Return the first of `names` that the metadata, or a value of several, holds as a number."""
        for held in (self.metadata, self.value if isinstance(self.value, dict) else {}):
            for name in names:
                if isinstance(found := held.get(name), int | float) and not isinstance(found, bool):
                    return float(found)
        return None


def read(body: str) -> Event | None:
    """Return the event that `body` holds, or None where it is no such line. Evaluation and bookkeeping have no fields."""
    if not body.startswith(":::ML"):
        return None
    if found := _MODERN.match(body):
        record = _object(found[1])
        stamp = record.get("time_ms")
        return _event(
            str(record.get("key", "")), record, float(stamp) / 1000 if isinstance(stamp, int | float) else None
        )
    if found := _OLDER.match(body):
        return _event(found[2], _object(found[3]), float(found[1]))
    if found := _FIRST.match(body):
        return Event(found[2], float(found[1]) or None, (), _value(found[3] or ""))
    return Event("", None, ())


def _value(text: str) -> object:
    try:
        return msgspec.json.decode(text.strip())
    except (msgspec.DecodeError, RecursionError):
        return text


def _object(text: str) -> dict[str, Any]:
    try:
        record = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _measured(key: str, value: object) -> list[tuple[Slot, float]]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return []
    if _LOSS.match(key):
        return [(Slot(0, Meaning.LOSS, key), float(value))]
    if _RATE.match(key):
        return [(Slot(0, Meaning.RATE, key, 1.0, "samples/s"), float(value))]
    if _STEP_TIME.match(key):
        return [(Slot(0, Meaning.STEP_TIME, key), float(value))]
    return []


def _event(key: str, record: dict[str, Any], stamp: float | None) -> Event:
    value = record.get("value")
    values = _measured(key, value)
    if isinstance(value, dict):  # tracked_stats
        values = [found for name, inner in value.items() for found in _measured(str(name), inner)]
    metadata = record.get("metadata")
    if values and isinstance(metadata, dict):
        for names, meaning in (
            (("step_num", "iteration", "iter_num"), Meaning.STEP),
            (("epoch_num", "epoch"), Meaning.EPOCH),
        ):
            number = next((metadata[name] for name in names if isinstance(metadata.get(name), int | float)), None)
            if number is not None:
                values.append((Slot(0, meaning, str(meaning)), float(number)))
    return Event(key, stamp or None, tuple(values), value, metadata if isinstance(metadata, dict) else {})
