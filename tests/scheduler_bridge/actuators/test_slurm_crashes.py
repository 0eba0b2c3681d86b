"""A bridge that is killed between two of Slurm's commands: the next one finishes, and does nothing twice."""

import time

import pytest

from records import Action, Decision, Mode, Outcome
from scheduler_bridge import Bridge, BridgeOptions
from scheduler_bridge.actuators.slurm import SlurmActuator
from scheduler_clients.slurm import SlurmClient, SlurmCommands
from tests.scheduler_bridge.findings import Written
from tests.servers.slurm import Slurm

pytestmark = pytest.mark.slurm

CHANGES = ("requeuehold", "update", "release")
OPTIONS = BridgeOptions(modes=dict.fromkeys(Action, Mode.ACT), actions_per_cluster=1000, user_share=1.0)
JOBS = {
    Action.RESTART: ('test -n "$SLURM_RESTART_COUNT"', "FAILED", 4),
    Action.EVICT: ('test -n "$SLURM_RESTART_COUNT" || sleep 60', "RUNNING", 5),
}
"""What a job runs, the state in which it is acted on, and how many commands change it."""


class Killed(BaseException):
    """The end of a bridge: nothing in it catches this."""


class Mortal(SlurmCommands):
    """Dies after so many commands that change something, 0: right before the first."""

    def __init__(self, slurm: Slurm, lives: int) -> None:
        super().__init__({"SLURM_CONF": str(slurm.configuration)})
        self.lives = lives

    def __call__(self, *command: str) -> str:
        changes = len(command) > 1 and command[1] in CHANGES
        if changes and self.lives == 0:
            raise Killed
        printed = super().__call__(*command)
        if changes:
            self.lives -= 1
            if self.lives == 0:
                raise Killed
        return printed


def decided(action: Action, job: str) -> Decision:
    now = time.time()
    return Decision(
        id=f"{action}/{job}", action=action, job=job, time=now, expires=now + 600, mode=Mode.ACT, policy="p", reason="r"
    )


@pytest.mark.parametrize("action", list(JOBS))
def test_what_was_cut_off_anywhere_is_finished_once(slurm: Slurm, action: Action) -> None:
    script, state, changes = JOBS[action]
    jobs = {slurm.submit(script): lives for lives in range(changes + 1)}
    written = Written()
    for job, lives in jobs.items():
        slurm.wait(job, state)
        bridge = Bridge(SlurmActuator(SlurmClient(Mortal(slurm, lives))), OPTIONS, written)
        written(decision := decided(action, job))
        bridge.accept(decision)
        with pytest.raises(Killed):
            bridge.advance()
    assert written.outcomes == [Outcome.STARTED] * len(jobs)
    immortal = SlurmActuator(SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)})))
    bridge = Bridge(immortal, OPTIONS, written)
    for record in (*written.decisions, *written.results):
        bridge.remember(record)
    deadline = time.monotonic() + 60
    while bridge.open_decisions:
        assert time.monotonic() < deadline, written.results
        bridge.advance()
        time.sleep(0.02)
    assert [result.detail for result in written.results if result.outcome not in (Outcome.STARTED, Outcome.DONE)] == []
    assert {job: slurm.wait(job, "COMPLETED")["Restarts"] for job in jobs} == dict.fromkeys(jobs, "1")


def test_a_hold_of_a_person_is_not_taken_for_one_of_ours(slurm: Slurm) -> None:
    """A job that was put back in the queue by hand, in hold, between the death of one bridge and the start of the next."""
    job = slurm.submit(JOBS[Action.RESTART][0])
    slurm.wait(job, "FAILED")
    written = Written()
    bridge = Bridge(SlurmActuator(SlurmClient(Mortal(slurm, 0))), OPTIONS, written)
    written(decision := decided(Action.RESTART, job))
    bridge.accept(decision)
    with pytest.raises(Killed):
        bridge.advance()
    slurm.run("scontrol", "requeuehold", job)
    slurm.wait(job, "PENDING")
    immortal = SlurmActuator(SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)})))
    bridge = Bridge(immortal, OPTIONS, written)
    for record in (*written.decisions, *written.results):
        bridge.remember(record)
    bridge.advance()
    assert written.outcomes == [Outcome.STARTED, Outcome.UNVERIFIED]
    assert slurm.fields(job)["JobState"] == "PENDING"
    slurm.run("scancel", job)
