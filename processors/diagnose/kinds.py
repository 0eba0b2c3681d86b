"""Kinds of events in logs, and which of them follow from which; `kinds.toml` holds the table."""

from collections.abc import Iterable
from enum import StrEnum
from importlib import resources
from typing import NamedTuple

import msgspec

from schedmate_records import Component, ErrorType


class Kind(StrEnum):
    """A kind of event; `kinds.toml` explains each."""

    NODE = "node"
    DEVICE = "device"
    STALL = "stall"
    FAULT = "fault"
    REFUSED = "refused"
    SYMPTOM = "symptom"
    FABRIC = "fabric"
    STORAGE = "storage"
    SERVICE = "service"
    EXCEPTION = "exception"
    BUG = "bug"
    NATIVE = "native"
    ABORT = "abort"
    SCHEDULE = "schedule"
    CANCEL = "cancel"
    KILL = "kill"
    COLLECTIVE = "collective"
    PEER = "peer"
    SIGNAL = "signal"
    LAUNCHER = "launcher"
    VAGUE = "vague"
    EXIT = "exit"
    THREAD = "thread"
    CHILD = "child"
    STARVED = "starved"
    HINT = "hint"
    WARNING = "warning"
    BENIGN = "benign"
    RETRY = "retry"
    WELL = "well"
    GOES_ON = "goes_on"
    GAVE_UP = "gave_up"
    FAREWELL = "farewell"


class Classification(NamedTuple):
    """Kind and classification of an event, as in a catalogue entry."""

    kind: str
    error_type: ErrorType
    component: Component
    restartable: bool | None
    confidence: float


class _KindRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    about: str
    later: list[str] = []
    earlier: list[str] = []


class _Sets(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Sets of kinds; `kinds.toml` explains each."""

    weak: frozenset[Kind]
    certain: frozenset[Kind]
    no_failure: frozenset[Kind]
    passing: frozenset[Kind]
    foreign: frozenset[Kind]


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    groups: dict[str, list[str]]
    sets: _Sets
    kinds: dict[Kind, _KindRow]

    def expand(self, names: Iterable[str]) -> frozenset[Kind]:
        """Return the kinds that `names` stand for; `*name` is a group."""
        parts = [self.expand(self.groups[name[1:]]) if name.startswith("*") else {Kind(name)} for name in names]
        return frozenset().union(*parts)


_table = msgspec.toml.decode(resources.files(__package__).joinpath("kinds.toml").read_bytes(), type=_Table)

SETS = _table.sets
AFTER: dict[str, frozenset[str]] = {kind: _table.expand(row.later) for kind, row in _table.kinds.items()}
"""Kinds that follow from each kind where they are printed after it."""
BEFORE: dict[str, frozenset[str]] = {kind: _table.expand(row.earlier) for kind, row in _table.kinds.items()}
"""Kinds that follow from each kind where they are printed before it."""


def is_explained(kind: str, earlier: Iterable[str], later: Iterable[str]) -> bool:
    """Return whether an event of `kind` follows from one of the kinds printed before it, or of those printed after it."""
    return any(kind in AFTER[other] for other in earlier) or any(kind in BEFORE[other] for other in later)
