"""What is marked beside a job's curves."""

from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from schedmate.explain.records import JobRecords
from schedmate.web.database import Database
from schedmate.web.plot import draw
from schedmate.web.timeline import Curve, Timeline, timeline
from sinks.clickhouse.incarnations import FoundJob

BEGUN = datetime(2026, 11, 1, tzinfo=UTC)


def at(second: int, **row: Any) -> dict[str, Any]:
    return {"time": BEGUN + timedelta(seconds=second), "attempt": 0, "packed_with": "", "state": "", **row}


@pytest.fixture
def known() -> Timeline:
    """A job that was packed, unpacked, and evicted, on the second try."""
    return timeline(
        cast("Database", None),  # no rank reported: nothing is asked for
        JobRecords(
            job="7",
            found=FoundJob("7"),
            events=[
                at(0, kind="started"),
                at(10, kind="packed", packed_with="8"),
                at(20, kind="unpacked"),
                at(50, kind="ended", state="PREEMPTED"),
            ],
            verdicts=[],
            alarms=[],
            saves=[],
            decisions=[],
            results=[
                at(30, action="evict", outcome="refused"),
                at(40, action="evict", outcome="done"),
                at(45, action="restart", outcome="shadowed"),
            ],
        ),
        (),
        (),
    )


def test_packings_and_evictions_are_marked(known: Timeline) -> None:
    assert [(mark.kind, mark.about) for mark in known.marks] == [
        ("started", ""),
        ("packed", "with job 8"),
        ("unpacked", ""),
        ("evict", "refused"),
        ("evict", "done"),
        ("ended", "PREEMPTED"),
    ]


def test_each_kind_is_drawn_in_a_colour_of_its_own(known: Timeline) -> None:
    begun = BEGUN.timestamp()
    drawn = draw(Timeline([Curve("loss", "", [(begun, 1.0, 0), (begun + 50, 0.5, 0)])], known.marks, 0, 1))
    assert drawn is not None
    assert [line.group for line in drawn.lines] == ["start", "pack", "pack", "act", "act", "end"]
    assert "evict: done (attempt 0)" in {line.text for line in drawn.lines}
