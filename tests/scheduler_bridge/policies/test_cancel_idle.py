"""A job whose GPUs are all idle is cancelled where an operator enabled that, after two notices."""

from typing import Any

import pytest

from schedmate_records import Action, Alarm, AlarmKind, DecisionResult, GpuState, Mode, Outcome
from scheduler_bridge import BridgeSettings
from scheduler_bridge.policies import propose
from scheduler_bridge.schedulers import SchedulerJobState
from tests.scheduler_bridge.findings import NOW
from tests.scheduler_bridge.schedulers.local.actuator.test_actuator import SLEEP
from tests.scheduler_bridge.test_bridge import Stand

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
def test_anything_else_leads_to_nothing(changes: dict[str, Any]) -> None:
    assert not propose(idle(**changes), ENABLED)


def test_a_longer_time_is_waited_for() -> None:
    assert not propose(idle(), BridgeSettings(cancel_idle_seconds=8000.0))


@pytest.mark.parametrize("mode", [Mode.ACT, Mode.APPROVE])
def test_it_is_cancelled_while_it_is_idle_and_never_afterwards(mode: Mode) -> None:
    stand = Stand(BridgeSettings(modes={Action.CANCEL: mode}, cancel_idle_seconds=3600.0))
    try:
        job = stand.cluster.scheduler.submit(SLEEP)
        stand.cluster.wait(job, SchedulerJobState.RUNNING)
        stand.bridge.accept(idle(job))
        if mode is Mode.ACT:
            stand.bridge.advance()
        stand.bridge.accept(idle(job, raised=False, activity=None, time=NOW + 10, detail="no GPU is idle any more"))
        stand.bridge.advance()
        results = [each for each in stand.written.records if isinstance(each, DecisionResult)]
        seen = stand.cluster.actuator.job(job)
        assert seen is not None
        if mode is Mode.ACT:
            assert (seen.state, results[-1].outcome) == (SchedulerJobState.CANCELLED, Outcome.DONE)
        else:
            assert seen.state is SchedulerJobState.RUNNING
            assert "the idle time of its GPUs is over" in results[-1].detail
    finally:
        stand.cluster.scheduler.close()
