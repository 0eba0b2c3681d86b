"""The rules for actuators, on the local scheduler with real processes."""

from collections.abc import Iterator

import pytest

from scheduler_bridge.schedulers import SchedulerJobState
from scheduler_bridge.schedulers.conformance import ActuatorConformance
from scheduler_bridge.schedulers.local.actuator import LocalActuator, LocalScheduler

FAILS_ONCE = ["sh", "-c", 'test "$LOCAL_RESTART_COUNT" = 1 && exec sleep 60; exit 3']


def submit(scheduler: LocalScheduler, command: list[str], state: SchedulerJobState) -> str:
    job = scheduler.submit(command)
    assert scheduler.wait(lambda jobs: any((seen.job, seen.state) == (job, state) for seen in jobs), 20)
    return job


class TestLocalActuator(ActuatorConformance):
    @pytest.fixture
    def scheduler(self) -> Iterator[LocalScheduler]:
        scheduler = LocalScheduler(lambda _: None, lambda _: None, slots=2, grace=1.0)
        yield scheduler
        scheduler.close()

    @pytest.fixture
    def actuator(self, scheduler: LocalScheduler) -> LocalActuator:
        return LocalActuator(scheduler)

    @pytest.fixture
    def failed_job(self, scheduler: LocalScheduler) -> str:
        return submit(scheduler, FAILS_ONCE, SchedulerJobState.FAILED)

    @pytest.fixture
    def running_job(self, scheduler: LocalScheduler) -> str:
        return submit(scheduler, ["sleep", "60"], SchedulerJobState.RUNNING)
