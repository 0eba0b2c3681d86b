"""What the bridge asks of a real Slurm."""

import time
from dataclasses import replace

import pytest

from schedmate_records import Action, EventKind, JobEvent, Mode, Outcome
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.schedulers import ActuatorError, SchedulerAway, SchedulerJobState
from scheduler_bridge.schedulers.slurm.actuator import SlurmActuator
from scheduler_bridge.schedulers.slurm.actuator.jobs import view
from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmCommands
from scheduler_bridge.schedulers.slurm.client.text import parse
from tests.scheduler_bridge.findings import Written, failure, slowdown
from tests.servers.slurm import Slurm

ONCE = 'echo $SLURMD_NODENAME; test -n "$SLURM_RESTART_COUNT"'
"""A script that fails the first time."""

KEY = "restart/0123456789abcdef"

RECORD = (
    " UserId=ada(1000) GroupId=lab(1000) MCS_label=N/A Priority=5 JobState=FAILED Reason=NonZeroExitCode Requeue=1"
    " Restarts=2 ExitCode=3:0 ReqNodeList=(null) ExcNodeList=n7 NodeList=n1 Command=/x WorkDir=/x"
)


@pytest.fixture
def actuator(slurm: Slurm) -> SlurmActuator:
    return SlurmActuator(SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)})))


class TestReading:
    @pytest.mark.parametrize(
        ("state", "held", "expected"),
        [
            ("FAILED", False, SchedulerJobState.FAILED),
            ("PENDING", False, SchedulerJobState.PENDING),
            ("PENDING", True, SchedulerJobState.HELD),
            ("REQUEUE_HOLD", False, SchedulerJobState.HELD),
            ("COMPLETING", False, SchedulerJobState.STOPPING),
            ("SUSPENDED", False, SchedulerJobState.OTHER),
        ],
    )
    def test_states(self, state: str, held: bool, expected: SchedulerJobState) -> None:
        found = parse("JobId=7 JobName=x" + RECORD.replace("FAILED", state) + " TresPerNode=gres:shard:2,gres:nic:1")
        assert found
        seen = view("7", replace(found, held=held), 2, ())
        assert (seen.state, seen.attempt, seen.excluded, seen.alone, seen.user) == (expected, 2, ("n7",), True, "ada")


@pytest.mark.slurm
class TestActuator:
    def test_a_failed_job_runs_again_on_another_node(self, slurm: Slurm, actuator: SlurmActuator) -> None:
        job = slurm.submit(ONCE, "--exclude=n3")
        node = slurm.wait(job, "FAILED")["NodeList"]
        seen = actuator.restart(job, (node,), KEY)
        assert (seen.attempt, set(seen.excluded)) == (1, {node, "n3"})
        assert seen.user == slurm.fields(job)["UserId"].partition("(")[0] != ""
        after = slurm.wait(job, "COMPLETED")
        assert after["NodeList"] not in (node, "n3")

    def test_a_packed_job_goes_back_and_is_never_packed_again(self, slurm: Slurm, actuator: SlurmActuator) -> None:
        first = slurm.submit("sleep 60", "--gres=shard:2", "--nodelist=n2")
        slurm.wait(first, "RUNNING")
        packed = slurm.submit("sleep 60", "--gres=shard:2", "--nodelist=n2")
        assert slurm.wait(packed, "RUNNING")["GRES"] == slurm.fields(first)["GRES"]
        seen = actuator.cancel_packing(packed, KEY)
        assert (seen.alone, seen.attempt) == (True, 1)
        after = slurm.wait(packed, "RUNNING")
        assert after["TresPerNode"] == "gres:shard:4"
        assert after["GRES"] != slurm.fields(first)["GRES"]
        assert slurm.fields(first)["Restarts"] == "0"
        third = slurm.submit("sleep 60", "--gres=shard:2", "--nodelist=n2")
        assert slurm.wait(third, "RUNNING")["GRES"] == slurm.fields(first)["GRES"]
        slurm.run("scancel", first, packed, third)

    def test_an_evicted_job_starts_again(self, slurm: Slurm, actuator: SlurmActuator) -> None:
        job = slurm.submit("sleep 60", "--no-requeue")
        slurm.wait(job, "RUNNING")
        assert actuator.evict(job, KEY).attempt == 1
        slurm.wait(job, "RUNNING")
        slurm.run("scancel", job)

    def test_a_task_of_an_array_is_restarted_by_itself(self, slurm: Slurm, actuator: SlurmActuator) -> None:
        array = slurm.submit(ONCE, "--array=1-2")
        for task in (1, 2):
            slurm.wait(f"{array}_{task}", "FAILED")
        assert actuator.restart(f"{array}_2", (), KEY).attempt == 1
        slurm.wait(f"{array}_2", "COMPLETED")
        assert slurm.fields(f"{array}_1")["JobState"] == "FAILED"
        with pytest.raises(ActuatorError, match="array"):
            actuator.job(array)

    def test_refuses_what_slurm_would_refuse_or_regret(self, slurm: Slurm, actuator: SlurmActuator) -> None:
        stubborn = slurm.submit("exit 1", "--no-requeue")
        here_only = slurm.submit("exit 1", "--nodelist=n1")
        running = slurm.submit("sleep 60")
        completed, cancelled = slurm.submit("true"), slurm.submit("sleep 60")
        slurm.wait(cancelled, "RUNNING")
        slurm.run("scancel", cancelled)
        slurm.wait(completed, "COMPLETED")
        slurm.wait(cancelled, "CANCELLED")
        slurm.wait(stubborn, "FAILED")
        slurm.wait(here_only, "FAILED")
        slurm.wait(running, "RUNNING")
        for job, nodes, reason in (
            (stubborn, (), "--requeue"),
            (here_only, ("n1",), "by name"),
            (here_only, ("no-such-node",), "not found|nvalid"),
            (here_only, ("n1; reboot",), "a node's name"),
            (running, (), "has failed; came: .* RUNNING"),
            (completed, (), "has failed; came: .* COMPLETED"),
            (cancelled, (), "has failed; came: .* CANCELLED"),
            ("999999", (), "MinJobAge"),
            ("1 2", (), "job id"),
        ):
            with pytest.raises(ActuatorError, match=reason):
                actuator.restart(job, nodes, KEY)
        with pytest.raises(ActuatorError, match="shard"):
            actuator.cancel_packing(running, KEY)
        assert actuator.job("999999") is None
        for job in (stubborn, here_only):
            assert slurm.fields(job)["JobState"] == "FAILED"
        for job in (running, completed, cancelled):
            assert slurm.fields(job)["Restarts"] == "0"
        slurm.run("scancel", running)

    def test_says_where_no_node_is_left(self, slurm: Slurm, actuator: SlurmActuator) -> None:
        job = slurm.submit("exit 1", "--exclude=n1,n2")
        slurm.wait(job, "FAILED")
        with pytest.raises(ActuatorError, match="ExcNodeList="):
            actuator.restart(job, ("n3",), KEY)
        slurm.run("scancel", job)

    def test_a_controller_that_is_away_is_told_apart_from_a_refusal(self, slurm: Slurm) -> None:
        client = SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)}, timeout_s=1))
        job = slurm.submit("exit 0")
        slurm.wait(job, "COMPLETED")
        slurm.stop_controller()
        try:
            with pytest.raises(SchedulerAway):
                SlurmActuator(client).job(job)
        finally:
            slurm.start_controller()
        seen = SlurmActuator(client).job(job)
        assert seen
        assert seen.state is SchedulerJobState.COMPLETED


@pytest.mark.slurm
class TestBridge:
    def stand(self, slurm: Slurm, actuator: SlurmActuator) -> tuple[Bridge, Written]:
        written = Written()
        return Bridge(actuator, BridgeSettings(modes=dict.fromkeys(Action, Mode.ACT)), written), written

    def test_waits_for_the_job_to_stop_and_restarts_it_elsewhere(self, slurm: Slurm, actuator: SlurmActuator) -> None:
        bridge, written = self.stand(slurm, actuator)
        job = slurm.submit(f"sleep 1; {ONCE}")
        node = slurm.wait(job, "RUNNING")["NodeList"]
        bridge.accept(failure(job=job, node=node, time=time.time()))
        pause = bridge.advance()
        assert pause
        assert written.results == []
        slurm.wait(job, "FAILED")
        bridge.accept(JobEvent(id="e", job=job, kind=EventKind.ENDED, time=time.time()))
        assert bridge.advance() is None
        assert written.outcomes == [Outcome.STARTED, Outcome.DONE]
        assert slurm.wait(job, "COMPLETED")["NodeList"] != node

    def test_a_cancelled_job_and_a_held_one_are_left_alone(self, slurm: Slurm, actuator: SlurmActuator) -> None:
        bridge, written = self.stand(slurm, actuator)
        cancelled, held = slurm.submit("sleep 60"), slurm.submit("exit 1")
        slurm.wait(cancelled, "RUNNING")
        slurm.run("scancel", cancelled)
        slurm.wait(cancelled, "CANCELLED")
        slurm.wait(held, "FAILED")
        slurm.run("scontrol", "requeuehold", held)
        slurm.wait(held, "PENDING")
        for job in (cancelled, held):
            bridge.accept(failure(job=job, node="n1", time=time.time()))
        bridge.advance()
        assert written.outcomes == [Outcome.REFUSED, Outcome.REFUSED]
        slurm.run("scancel", held)

    def test_ends_a_packing_and_only_while_it_lasts(self, slurm: Slurm, actuator: SlurmActuator) -> None:
        bridge, written = self.stand(slurm, actuator)
        first = slurm.submit("sleep 60", "--gres=shard:2", "--nodelist=n1")
        slurm.wait(first, "RUNNING")
        packed = slurm.submit("sleep 60", "--gres=shard:2", "--nodelist=n1")
        slurm.wait(packed, "RUNNING")
        bridge.accept(slowdown(job=first, packed_job=packed, time=time.time()))
        bridge.advance()
        assert written.outcomes == [Outcome.STARTED, Outcome.DONE]
        assert written.results[-1].seen["alone"] == "yes"
        bridge.accept(slowdown(id="again", job=first, packed_job=packed, time=time.time()))
        bridge.advance()
        assert written.outcomes[2:] == [Outcome.REFUSED]
        assert slurm.fields(packed)["Restarts"] == "1"
        slurm.run("scancel", first, packed)
