"""A bridge that is killed between two of Slurm's commands: the next one finishes, and does nothing twice."""

import time

import pytest

from schedmate_records import Action, Decision, Mode, Outcome
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.schedulers.slurm.actuator import SlurmActuator
from scheduler_bridge.schedulers.slurm.actuator.settings import SlurmSettings
from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmCommands, SlurmUnavailable
from tests.scheduler_bridge.findings import Written
from tests.servers.slurm import Slurm

pytestmark = pytest.mark.slurm

CHANGES = ("requeuehold", "update", "release", "hold")
SETTINGS = BridgeSettings(modes=dict.fromkeys(Action, Mode.ACT), actions_per_hour=1000, user_share=1.0)
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


class Silent(SlurmCommands):
    """Leaves one command without an answer: the one after `answers` others."""

    def __init__(self, slurm: Slurm, answers: int) -> None:
        super().__init__({"SLURM_CONF": str(slurm.configuration)})
        self.answers = answers

    def __call__(self, *command: str) -> str:
        printed = super().__call__(*command)
        self.answers -= 1
        if self.answers == -1:
            raise SlurmUnavailable("an answer", "none", "")
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
        bridge = Bridge(SlurmActuator(SlurmClient(Mortal(slurm, lives))), SETTINGS, written)
        written(decision := decided(action, job))
        bridge.accept(decision)
        with pytest.raises(Killed):
            bridge.advance()
    assert written.outcomes == [Outcome.STARTED] * len(jobs)
    immortal = SlurmActuator(SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)})))
    bridge = Bridge(immortal, SETTINGS, written)
    for record in (*written.decisions, *written.results):
        bridge.remember(record)
    deadline = time.monotonic() + 60
    while bridge.open_decisions:
        assert time.monotonic() < deadline, written.results
        bridge.advance()
        time.sleep(0.02)
    assert [result.detail for result in written.results if result.outcome not in (Outcome.STARTED, Outcome.DONE)] == []
    assert {job: slurm.wait(job, "COMPLETED")["Restarts"] for job in jobs} == dict.fromkeys(jobs, "1")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("action", list(JOBS))
def test_a_command_whose_answer_is_lost_neither_stops_the_bridge_nor_doubles_the_act(
    slurm: Slurm, action: Action
) -> None:
    script, state, _ = JOBS[action]
    silent = True
    for answers in range(100):
        job = slurm.submit(script, "--output=/dev/null")
        slurm.wait(job, state)
        written, commands = Written(), Silent(slurm, answers)
        bridge = Bridge(SlurmActuator(SlurmClient(commands), SlurmSettings(settle=0.2, rest=1)), SETTINGS, written)
        written(decision := decided(action, job))
        bridge.accept(decision)
        deadline = time.monotonic() + 60
        while bridge.open_decisions:
            assert time.monotonic() < deadline, (answers, written.results)
            bridge.advance()
            time.sleep(0.02)
        assert written.outcomes == [Outcome.STARTED, Outcome.DONE], (answers, written.results)
        assert slurm.wait(job, "COMPLETED")["Restarts"] == "1"
        silent = commands.answers < 0
        if not silent:
            break
    assert not silent


@pytest.mark.parametrize("action", [Action.HOLD, Action.RELEASE])
def test_a_hold_and_a_release_that_were_cut_off_are_finished(slurm: Slurm, action: Action) -> None:
    immortal = SlurmActuator(SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)})))
    written = Written()
    jobs = {slurm.submit("true", "--begin=now+1000"): lives for lives in range(3)}
    for job, lives in jobs.items():
        if action is Action.RELEASE:
            immortal.hold(job, "hold/0123456789abcdef")
        bridge = Bridge(SlurmActuator(SlurmClient(Mortal(slurm, lives))), SETTINGS, written)
        written(decision := decided(action, job))
        bridge.accept(decision)
        with pytest.raises(Killed):
            bridge.advance()
    bridge = Bridge(immortal, SETTINGS, written)
    for record in (*written.decisions, *written.results):
        bridge.remember(record)
    bridge.advance()
    assert written.outcomes == [Outcome.STARTED] * 3 + [Outcome.DONE] * 3
    held = {slurm.fields(job)["Priority"] == "0" for job in jobs}
    assert held == {action is Action.HOLD}
    slurm.run("scancel", *jobs)


def test_a_hold_of_a_person_is_not_taken_for_one_of_ours(slurm: Slurm) -> None:
    """A job that was put back in the queue by hand, in hold, between the death of one bridge and the start of the next."""
    job = slurm.submit(JOBS[Action.RESTART][0])
    slurm.wait(job, "FAILED")
    written = Written()
    bridge = Bridge(SlurmActuator(SlurmClient(Mortal(slurm, 0))), SETTINGS, written)
    written(decision := decided(Action.RESTART, job))
    bridge.accept(decision)
    with pytest.raises(Killed):
        bridge.advance()
    slurm.run("scontrol", "requeuehold", job)
    slurm.wait(job, "PENDING")
    immortal = SlurmActuator(SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)})))
    bridge = Bridge(immortal, SETTINGS, written)
    for record in (*written.decisions, *written.results):
        bridge.remember(record)
    bridge.advance()
    assert written.outcomes == [Outcome.STARTED, Outcome.UNVERIFIED]
    assert slurm.fields(job)["JobState"] == "PENDING"
    slurm.run("scancel", job)


class Outage(SlurmCommands):
    """Ends slurmctld right before one of the commands that change something, and starts it again some commands later."""

    def __init__(self, slurm: Slurm, before: int, length: int) -> None:
        super().__init__({"SLURM_CONF": str(slurm.configuration)}, timeout_s=2)
        self.slurm, self.before, self.length = slurm, before, length
        self.away = False

    def __call__(self, *command: str) -> str:
        if len(command) > 1 and command[1] in CHANGES:
            if self.before == 0:
                self.slurm.stop_controller()
                self.away = True
            self.before -= 1
        if self.away:
            self.length -= 1
            if self.length < 0:
                self.slurm.start_controller()
                self.away = False
        return super().__call__(*command)


@pytest.mark.parametrize("before", range(4))
@pytest.mark.parametrize("action", list(JOBS))
def test_a_controller_that_goes_in_the_middle_of_an_act_and_comes_back_doubles_nothing(
    slurm: Slurm, action: Action, before: int
) -> None:
    script, state, _ = JOBS[action]
    job = slurm.submit(script, "--output=/dev/null")
    slurm.wait(job, state)
    written = Written()
    bridge = Bridge(SlurmActuator(SlurmClient(Outage(slurm, before, length=2))), SETTINGS, written)
    written(decision := decided(action, job))
    bridge.accept(decision)
    deadline = time.monotonic() + 60
    while bridge.open_decisions:
        assert time.monotonic() < deadline, written.results
        bridge.advance()
        time.sleep(0.02)
    assert written.outcomes == [Outcome.STARTED, Outcome.DONE], written.results
    assert slurm.wait(job, "COMPLETED")["Restarts"] == "1"
