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
    START = "start"
    WELL = "well"
    GOES_ON = "goes_on"
    GAVE_UP = "gave_up"
    FAREWELL = "farewell"


class Status(StrEnum):
    """Evidence about a candidate in later lines.

    Attributes:
        OPEN: Nothing shows that it did no harm.
        WARNED: A logger calls its line a warning.
        CONTINUES: The program states that it continues.
        CONTINUED: The program continued as it stated.
        RETRIED: The operation that failed is repeated.
        DISMISSED: The job ended soon after it without a sign of trouble.
        QUIET: Many lines follow, and none reports progress.
        OTHERS_CONTINUED: Other ranks reported much progress.
        SURVIVED: Its rank reported progress.
    """

    OPEN = "open"
    WARNED = "warned"
    CONTINUES = "continues"
    CONTINUED = "continued"
    RETRIED = "retried"
    DISMISSED = "dismissed"
    QUIET = "quiet"
    OTHERS_CONTINUED = "others_continued"
    SURVIVED = "survived"


class LaterEvidence(StrEnum):
    """Kinds of lines that may follow a candidate; `kinds.toml` explains each."""

    REPORTS = "reports"
    ENDED_WELL = "ended_well"
    OTHER_REPORTS = "other_reports"
    QUIET_LINES = "quiet_lines"
    GOES_ON = "goes_on"
    RETRY = "retry"
    START = "start"
    REPORT = "report"
    LINES = "lines"
    MORE_LINES = "more_lines"
    LAST_LINES = "last_lines"
    GAVE_UP = "gave_up"
    REPEATED = "repeated"
    NEXT_ERROR = "next_error"
    BAD_END = "bad_end"


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


_EVIDENCE_FIELDS = {"before": "from", "after": "becomes", "without": "kinds"}


class _EvidenceRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename=_EVIDENCE_FIELDS):
    about: str
    before: frozenset[Status]
    after: Status
    without: str = ""


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    groups: dict[str, list[str]]
    sets: dict[str, frozenset[Kind]]
    kinds: dict[Kind, _KindRow]
    evidence: dict[LaterEvidence, _EvidenceRow]

    def expand(self, names: Iterable[str]) -> frozenset[Kind]:
        """Return the kinds that `names` stand for; `*name` is a group."""
        parts = [self.expand(self.groups[name[1:]]) if name.startswith("*") else {Kind(name)} for name in names]
        return frozenset().union(*parts)


_table = msgspec.toml.decode(resources.files(__package__).joinpath("kinds.toml").read_bytes(), type=_Table)

SETS = _table.sets
"""Sets of kinds; `kinds.toml` explains each."""
AFTER: dict[str, frozenset[str]] = {kind: _table.expand(row.later) for kind, row in _table.kinds.items()}
"""Kinds that follow from each kind where they are printed after it."""
BEFORE: dict[str, frozenset[str]] = {kind: _table.expand(row.earlier) for kind, row in _table.kinds.items()}
"""Kinds that follow from each kind where they are printed before it."""


def is_explained(kind: str, earlier: Iterable[str], later: Iterable[str]) -> bool:
    """Return whether an event of `kind` follows from one of the kinds printed before it, or of those printed after it."""
    return any(kind in AFTER[other] for other in earlier) or any(kind in BEFORE[other] for other in later)


def next_status(status: Status, evidence: LaterEvidence, kind: str) -> Status:
    """Return the status of a candidate of `kind` and `status` after `evidence`."""
    row = _table.evidence[evidence]
    counts = status in row.before and kind not in SETS.get(row.without, ())
    return row.after if counts else status
