"""The table of events (`events.toml`): the severity of an Xid or SXid, what it means, and whether it may lead to a drain."""

import tomllib
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import resources
from typing import Literal

import msgspec

from schedmate_records import RecoveryAction

from .xid import Xid, read_xid

Level = Literal["none", "warning", "error", "fatal"]
_LEVELS: tuple[Level, ...] = ("none", "warning", "error", "fatal")
_LINES = 4096
"""Lines whose meaning is remembered."""


class EventMeaning(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Entry of the table for an event.

    Attributes:
        severity: `fatal`, `error`, `warning` or `none`.
        signature: Name of the catalogue entry that describes it.
        action: Action that the source recommends.
        drain: True where the event may lead to a drain of the node.
        source: Where the meaning is documented.
    """

    severity: Level
    signature: str
    action: str
    drain: bool = False
    source: str


class _Event(EventMeaning, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[[event]]` of the table; its comment describes the fields."""

    numbers: frozenset[int]
    switch: bool = False
    sub_codes: frozenset[str] = frozenset()
    status: int = 0
    reasons: frozenset[int] = frozenset()
    recovery_actions: frozenset[RecoveryAction] = frozenset()
    stated: bool = False

    def matches(self, xid: Xid) -> bool:
        """Return whether the row describes `xid`. Where the line states a severity, the error status is not needed."""
        if self.switch is not xid.switch or (self.numbers and xid.number not in self.numbers):
            return False
        if self.stated and xid.fatal is None:
            return False
        if self.sub_codes and self.sub_codes.isdisjoint(xid.sub_code.split("/")):
            return False
        if self.reasons and xid.reason not in self.reasons:
            return False
        if self.recovery_actions and xid.recovery_action not in self.recovery_actions:
            return False
        return not self.status or xid.fatal is not None or bool((xid.status or 0) & self.status)


class _Register(EventMeaning, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[[register]]` of the table: bits of a register of Xid 74, counted from 1."""

    register: int
    bits: frozenset[int]

    @property
    def mask(self) -> int:
        """The bits as a number."""
        return sum(1 << bit for bit in self.bits)


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    event: list[_Event]
    register: list[_Register]


@cache
def table() -> _Table:
    """Return the table that ships."""
    text = (resources.files(__package__) / "events.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _Table)


@lru_cache(maxsize=_LINES)
def read_event(line: str) -> tuple[Xid, EventMeaning] | None:
    """Return the Xid or SXid that `line` reports and its meaning; null where it reports none."""
    xid = read_xid(line)
    return None if xid is None else (xid, meaning(xid))


def meaning(xid: Xid) -> EventMeaning:
    """Return what `xid` means. The severity that the line states comes before that of the table."""
    if xid.caused_by is not None:
        return meaning(Xid(number=xid.caused_by, device=xid.device))
    rows = [*_by_register(xid), *(row for row in table().event if row.matches(xid))]
    agreeing = (row for row in rows if xid.fatal is None or (row.severity == "fatal") is xid.fatal)
    found: EventMeaning = next(agreeing, rows[0])
    return msgspec.structs.replace(found, drain=False) if xid.injected else found


def _by_register(xid: Xid) -> Iterator[EventMeaning]:
    """Return the row that describes the registers of an Xid 74; none where no known bit is set, or an unknown one is."""
    if xid.switch or xid.number != 74 or len(xid.registers) < 7:
        return
    rows = [row for row in table().register if xid.registers[row.register - 1] & row.mask]
    known = dict.fromkeys((1, 3, 4, 5), 0)
    for row in rows:
        known[row.register] |= row.mask
    if rows and not any(xid.registers[number - 1] & ~mask for number, mask in known.items()):
        yield max(rows, key=lambda row: _LEVELS.index(row.severity))
