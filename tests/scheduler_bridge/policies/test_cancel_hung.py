"""A hang that two witnesses show ends the job where that is turned on, and only while it lasts."""

from collections.abc import Iterator
from typing import Any

import pytest

from schedmate_records import (
    Action,
    Alarm,
    AlarmKind,
    Decision,
    DecisionResult,
    GpuState,
    Mode,
    Outcome,
    decode,
    encode,
)
from scheduler_bridge import BridgeSettings
from scheduler_bridge.policies import propose
from scheduler_bridge.schedulers import SchedulerJobState
from tests.scheduler_bridge.findings import NOW
from tests.scheduler_bridge.schedulers.local.actuator.test_actuator import SLEEP
from tests.scheduler_bridge.test_bridge import Stand

SETTINGS = BridgeSettings()


def hang(job: str = "1", **changes: Any) -> Alarm:
    fields: dict[str, Any] = {
        "id": f"alarm_hang/{job}", "job": job, "kind": AlarmKind.HANG, "raised": True, "time": NOW, "since": NOW - 2000, "value": 2000.0,
        "activity": GpuState.WAITING, "detail": "no report for 2000 s",
    }  # fmt: skip
    return Alarm(**fields | changes)


def test_a_long_hang_that_the_gpus_confirm_ends_the_job_in_shadow() -> None:
    (decision,) = propose(hang(), SETTINGS)
    assert (decision.action, decision.job, decision.mode) == (Action.CANCEL, "1", Mode.SHADOW)
    assert (decision.time, decision.expires) == (NOW, NOW + 900)
    assert "no report for 2000 s" in decision.reason
    assert decode(Decision, encode(decision)) == decision
    (later,) = propose(hang(time=NOW + 2000, value=4000.0), SETTINGS)
    assert later.id == decision.id, "the same hang is one decision"


@pytest.mark.parametrize(
    "changes",
    [
        {"activity": None},
        {"value": 1799.0},
        {"value": None},
        {"value": float("nan")},
        {"raised": False},
        {"kind": AlarmKind.GPUS_IDLE},
        {"kind": AlarmKind.STRAGGLER},
    ],
)
def test_anything_else_leads_to_nothing(changes: dict[str, Any]) -> None:
    assert not propose(hang(**changes), SETTINGS)


@pytest.fixture(params=[Mode.ACT, Mode.APPROVE])
def stand(request: pytest.FixtureRequest) -> Iterator[Stand]:
    stand = Stand(BridgeSettings(modes={Action.CANCEL: request.param}))
    yield stand
    stand.cluster.scheduler.close()


def test_it_is_ended_where_that_is_turned_on_and_never_once_it_goes_on(stand: Stand) -> None:
    job = stand.cluster.scheduler.submit(SLEEP)
    stand.cluster.wait(job, SchedulerJobState.RUNNING)
    stand.bridge.accept(hang(job))
    act = stand.settings.mode(Action.CANCEL) is Mode.ACT
    if act:
        stand.bridge.advance()
    stand.bridge.accept(hang(job, raised=False, activity=None, time=NOW + 10, detail="reports come again"))
    stand.bridge.advance()
    results = [each for each in stand.written.records if isinstance(each, DecisionResult)]
    seen = stand.cluster.actuator.job(job)
    assert seen is not None
    if act:
        assert seen.state is SchedulerJobState.CANCELLED
        assert results[-1].outcome is Outcome.DONE
    else:
        assert seen.state is SchedulerJobState.RUNNING
        assert "the hang is over: reports come again" in results[-1].detail
