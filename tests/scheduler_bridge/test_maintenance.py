"""Maintenance windows."""

import contextlib
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate_records import Action, Mode, Outcome
from scheduler_bridge import BridgeSettings
from scheduler_bridge.guardrails import Context, stopped
from scheduler_bridge.ledger import Ledger
from scheduler_bridge.maintenance import Window, WindowError


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


SATURDAY, SUNDAY = "2031-02-01", "2031-02-02"


@pytest.mark.parametrize(
    ("window", "inside", "outside"),
    [
        ("sat 22:00-06:00", [f"{SATURDAY}T22:00", f"{SUNDAY}T05:59"], [f"{SATURDAY}T05:00", f"{SUNDAY}T06:00"]),
        ("Daily 01:00-02:30", [f"{SUNDAY}T01:00"], [f"{SUNDAY}T02:30", f"{SUNDAY}T00:59"]),
        ("daily 00:00-00:00", [f"{SUNDAY}T00:00", f"{SUNDAY}T23:59"], []),
        (f"{SATURDAY}T08:00/{SUNDAY}T18:00", [f"{SUNDAY}T17:59"], [f"{SUNDAY}T18:00", f"{SATURDAY}T07:59"]),
    ],
)
def test_what_is_in_a_window(window: str, inside: list[str], outside: list[str]) -> None:
    read = Window.parse(window)
    assert [read.contains(at(each)) for each in inside] == [True] * len(inside)
    assert [read.contains(at(each)) for each in outside] == [False] * len(outside)


@pytest.mark.parametrize(
    "text", ["", "sat", "sat 25:00-26:00", "sat 10:00-11:60", "2031-02-03/2031-02-02", "whenever 1-2", "/"]
)
def test_what_names_no_time_is_refused(text: str) -> None:
    with pytest.raises(WindowError, match="sat 22:00-06:00"):
        Window.parse(text)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(WindowError):
        Window.parse(text).contains(0.0)


def test_nothing_is_carried_out_in_a_window() -> None:
    settings = BridgeSettings(modes={Action.RESTART: Mode.ACT}, maintenance=(Window.parse("daily 01:00-02:00"),))
    waits = stopped(Context(Ledger(), settings, at(f"{SUNDAY}T01:30")))
    assert waits
    assert (waits.outcome, waits.reason) == (Outcome.STOPPED, "maintenance window: daily 01:00-02:00")
    assert stopped(Context(Ledger(), settings, at(f"{SUNDAY}T02:30"))) is None
