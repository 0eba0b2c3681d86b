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
from tests.scheduler_bridge.test_bridge import LocalSite

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
def site(request: pytest.FixtureRequest) -> Iterator[LocalSite]:
    site = LocalSite(BridgeSettings(modes={Action.CANCEL: request.param}))
    yield site
    site.cluster.scheduler.close()


def test_it_is_ended_where_that_is_turned_on_and_never_once_it_goes_on(site: LocalSite) -> None:
    job = site.cluster.scheduler.submit(SLEEP)
    site.cluster.wait(job, SchedulerJobState.RUNNING)
    site.bridge.accept(hang(job))
    act = site.settings.mode(Action.CANCEL) is Mode.ACT
    if act:
        site.bridge.advance()
    site.bridge.accept(hang(job, raised=False, activity=None, time=NOW + 10, detail="reports come again"))
    site.bridge.advance()
    results = [each for each in site.written.records if isinstance(each, DecisionResult)]
    seen = site.cluster.actuator.job(job)
    assert seen is not None
    if act:
        assert seen.state is SchedulerJobState.CANCELLED
        assert results[-1].outcome is Outcome.DONE
    else:
        assert seen.state is SchedulerJobState.RUNNING
        assert "the hang is over: reports come again" in results[-1].detail


ENABLED = BridgeSettings(cancel_idle_seconds=3600.0)


def idle(job: str = "1", **changes: Any) -> Alarm:
    fields: dict[str, Any] = {
        "id": f"alarm_gpus_idle/{job}", "job": job, "kind": AlarmKind.GPUS_IDLE, "raised": True, "time": NOW, "since": NOW - 7300,
        "value": 7300.0, "limit": 1800.0, "activity": GpuState.IDLE, "detail": "8 GPUs on n1 held and idle for 121 min",
    }  # fmt: skip
    return Alarm(**fields | changes)


def test_nothing_is_cancelled_by_default() -> None:
    assert not propose(idle(), BridgeSettings())


def test_an_idle_job_is_cancelled_in_shadow_first() -> None:
    (decision,) = propose(idle(), ENABLED)
    assert (decision.action, decision.job, decision.mode) == (Action.CANCEL, "1", Mode.SHADOW)
    assert "8 GPUs on n1 held and idle" in decision.reason
    (later,) = propose(idle(time=NOW + 9000, value=16_000.0), ENABLED)
    assert later.id == decision.id, "the same idle time is one decision"


@pytest.mark.parametrize(
    "changes",
    [
        {"activity": None},
        {"value": 7199.0},
        {"value": None},
        {"value": float("nan")},
        {"limit": None},
        {"raised": False},
        {"kind": AlarmKind.STRAGGLER},
    ],
)
def test_other_alarms_of_gpus_lead_to_nothing(changes: dict[str, Any]) -> None:
    assert not propose(idle(**changes), ENABLED)


def test_a_longer_time_is_waited_for() -> None:
    assert not propose(idle(), BridgeSettings(cancel_idle_seconds=8000.0))


@pytest.mark.parametrize("mode", [Mode.ACT, Mode.APPROVE])
def test_it_is_cancelled_while_it_is_idle_and_never_afterwards(mode: Mode) -> None:
    site = LocalSite(BridgeSettings(modes={Action.CANCEL: mode}, cancel_idle_seconds=3600.0))
    try:
        job = site.cluster.scheduler.submit(SLEEP)
        site.cluster.wait(job, SchedulerJobState.RUNNING)
        site.bridge.accept(idle(job))
        if mode is Mode.ACT:
            site.bridge.advance()
        site.bridge.accept(idle(job, raised=False, activity=None, time=NOW + 10, detail="no GPU is idle any more"))
        site.bridge.advance()
        results = [each for each in site.written.records if isinstance(each, DecisionResult)]
        seen = site.cluster.actuator.job(job)
        assert seen is not None
        if mode is Mode.ACT:
            assert (seen.state, results[-1].outcome) == (SchedulerJobState.CANCELLED, Outcome.DONE)
        else:
            assert seen.state is SchedulerJobState.RUNNING
            assert "the idle time of its GPUs is over" in results[-1].detail
    finally:
        site.cluster.scheduler.close()
