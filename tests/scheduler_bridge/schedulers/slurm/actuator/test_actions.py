"""Drains, holds, cancellations and keys of acts on a real Slurm."""

import contextlib
import getpass
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from schedmate_records import Action, Decision, Mode, Outcome
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.act_keys import act_key
from scheduler_bridge.schedulers import ActuatorError, NodeView, SchedulerJobState, SchedulerNodeState
from scheduler_bridge.schedulers.slurm.actuator import SlurmActuator
from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmCommands
from tests.scheduler_bridge.findings import Written, checkpoint, failure
from tests.servers.slurm import NODES, Slurm
from tests.waiting import until

pytestmark = pytest.mark.slurm

SETTINGS = BridgeSettings(
    modes=dict.fromkeys(Action, Mode.ACT),
    max_drained_share=0.5,
    min_nodes_left=1,
    node_cooldown_seconds=0,
    actions_per_hour=1000,
    user_share=1.0,
)
TRAINING = "trap 'echo saved > $SLURM_JOB_ID.saved' USR1; touch $SLURM_JOB_ID.ready; while true; do sleep 0.1; done"
"""A batch script whose step saves a checkpoint on USR1."""


@pytest.fixture
def actuator(slurm: Slurm) -> Iterator[SlurmActuator]:
    client = SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)}))
    clear(slurm, client)
    yield SlurmActuator(client)
    clear(slurm, client)


def clear(slurm: Slurm, client: SlurmClient) -> None:
    """End all jobs, and return all nodes to service as if nothing had been done to them."""
    slurm.run("scancel", f"--user={getpass.getuser()}", check=False)
    for node in client.nodes().values():
        if "DRAIN" in node.states:
            client.update_node(node.name, {"State": "RESUME", "Comment": ""})
        elif node.comment:
            client.update_node(node.name, {"Comment": ""})
    idle = ["idle"] * len(NODES)
    until(
        lambda: slurm.run("sinfo", "-h", "-N", "-p", "p", "-o", "%T").split() == idle,
        shown=lambda: slurm.run("sinfo", "-N", "-l"),
    )


def decision(action: Action, **changes: Any) -> Decision:
    now = time.time()
    fields: dict[str, Any] = {
        "id": f"{action}/{changes.get('job') or changes.get('node')}",
        "action": action,
        "time": now,
        "expires": now + 600,
        "mode": Mode.ACT,
        "policy": "test",
        "reason": "a test",
        "cause": "xid_fallen_off_bus",
    }
    return Decision(**fields | changes)


class SlurmSite:
    """A bridge on the real Slurm, whose memory may be lost."""

    def __init__(self, actuator: SlurmActuator, settings: BridgeSettings = SETTINGS) -> None:
        self.actuator, self.settings = actuator, settings
        self.forget()

    def forget(self) -> None:
        """Lose both topics."""
        self.written = Written()
        self.bridge = Bridge(self.actuator, self.settings, self.written)

    def restart(self) -> None:
        """End the bridge, and start another one that reads the topics."""
        before, self.bridge = self.written, Bridge(self.actuator, self.settings, self.written)
        for record in before.records:
            self.bridge.remember(record)  # type: ignore[arg-type]

    def carry_out(self, *decisions: Decision) -> list[Outcome]:
        for each in decisions:
            self.bridge.accept(each)
            self.written.records.append(each)
        self.bridge.advance()
        return self.written.outcomes

    def node(self, name: str) -> NodeView:
        return next(each for each in self.actuator.nodes() if each.node == name)


@pytest.fixture
def site(actuator: SlurmActuator) -> SlurmSite:
    return SlurmSite(actuator)


class TestNodes:
    def test_a_drain_starts_nothing_more_and_is_undone(self, slurm: Slurm, site: SlurmSite) -> None:
        drain = decision(Action.DRAIN, node="n1", job="4711", node_evidence=True)
        assert site.carry_out(drain) == [Outcome.STARTED, Outcome.DONE]
        drained = site.node("n1")
        assert (drained.state, drained.drained_by, drained.acts) == (
            SchedulerNodeState.DRAINED,
            act_key(drain),
            (act_key(drain),),
        )
        assert "xid_fallen_off_bus (job 4711)" in drained.reason
        assert site.written.results[-1].seen["state"] == "IDLE+DRAIN"
        undrain = decision(Action.UNDRAIN, node="n1")
        assert site.carry_out(undrain)[2:] == [Outcome.STARTED, Outcome.DONE]
        assert site.node("n1").state is SchedulerNodeState.UP
        assert site.node("n1").acts == (act_key(drain), act_key(undrain))

    def test_drained_means_that_no_job_is_left_there(self, slurm: Slurm, site: SlurmSite) -> None:
        job = slurm.submit("sleep 60", "--nodelist=n1")
        slurm.wait(job, "RUNNING")
        drain = decision(Action.DRAIN, node="n1", node_evidence=True)
        assert site.carry_out(drain) == [Outcome.STARTED]
        assert site.node("n1").state is SchedulerNodeState.DRAINING
        site.restart()
        assert site.bridge.advance() is not None
        assert site.written.outcomes == [Outcome.STARTED]
        assert slurm.fields(job)["JobState"] == "RUNNING"
        slurm.run("scancel", job)
        until(lambda: bool(site.bridge.advance() is None))
        assert site.written.outcomes == [Outcome.STARTED, Outcome.DONE]
        assert site.node("n1").state is SchedulerNodeState.DRAINED

    def test_an_operators_drain_is_neither_doubled_nor_undone(self, slurm: Slurm, site: SlurmSite) -> None:
        slurm.run("scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=schedmate is innocent")
        outcomes = site.carry_out(
            decision(Action.DRAIN, node="n2", node_evidence=True), decision(Action.UNDRAIN, node="n2")
        )
        assert outcomes == [Outcome.REFUSED, Outcome.REFUSED]
        assert site.node("n2").reason == "schedmate is innocent"
        with pytest.raises(ActuatorError, match="by hand"):
            site.actuator.undrain("n2", "undrain/0123456789abcdef")

    def test_what_an_operator_drained_in_place_of_the_bridge_is_the_operators(
        self, slurm: Slurm, site: SlurmSite
    ) -> None:
        site.carry_out(decision(Action.DRAIN, node="n1", node_evidence=True))
        slurm.run("scontrol", "update", "NodeName=n1", "State=DRAIN", "Reason=board replaced on Monday")
        assert site.carry_out(decision(Action.UNDRAIN, node="n1"))[2:] == [Outcome.REFUSED]

    def test_a_lost_topic_drains_no_node_again(self, slurm: Slurm, site: SlurmSite) -> None:
        drain = decision(Action.DRAIN, node="n1", node_evidence=True)
        site.carry_out(drain)
        slurm.run("scontrol", "update", "NodeName=n1", "State=RESUME")
        site.forget()
        assert site.carry_out(drain) == [Outcome.REFUSED]
        assert "carried out before" in site.written.results[-1].detail
        assert site.node("n1").state is SchedulerNodeState.UP

    def test_a_comment_of_others_stays(self, slurm: Slurm, site: SlurmSite) -> None:
        slurm.run("scontrol", "update", "NodeName=n3", "Comment=rack 7; ask Ada")
        site.carry_out(decision(Action.DRAIN, node="n3", node_evidence=True))
        assert "Comment=rack 7; ask Ada schedmate:drain/" in slurm.run("scontrol", "show", "node", "-o", "n3")

    def test_small_pools_keep_nodes(self, slurm: Slurm, actuator: SlurmActuator) -> None:
        site = SlurmSite(
            actuator, BridgeSettings(modes=dict.fromkeys(Action, Mode.ACT), max_drained_share=0.1, min_nodes_left=2)
        )
        first, second = (decision(Action.DRAIN, node=node, node_evidence=True) for node in ("n1", "n2"))
        assert site.carry_out(first, second) == [Outcome.STARTED, Outcome.DONE]
        assert site.node("n2").state is SchedulerNodeState.UP

    def test_a_confirmed_fault_moves_the_job_and_drains_its_node(self, slurm: Slurm, site: SlurmSite) -> None:
        job = slurm.submit('sleep 0.2; test -n "$SLURM_RESTART_COUNT"')
        node = slurm.wait(job, "FAILED")["NodeList"]
        began = time.monotonic()
        site.bridge.accept(failure(job=job, node=node, node_evidence=True, time=time.time()))
        until(lambda: site.bridge.advance() is None)
        assert site.node(node).state is SchedulerNodeState.DRAINED
        print(f"drained and requeued within {time.monotonic() - began:.2f} s")
        assert slurm.wait(job, "COMPLETED")["NodeList"] != node
        assert sorted(site.written.outcomes) == [Outcome.DONE, Outcome.DONE, Outcome.STARTED, Outcome.STARTED]

    def test_what_jobs_print_drains_nothing(self, slurm: Slurm, site: SlurmSite) -> None:
        for _ in range(4):
            job = slurm.submit("exit 1", "--nodelist=n1")
            slurm.wait(job, "FAILED")
            site.bridge.accept(failure(job=job, node="n1", time=time.time()))
            site.bridge.advance()
        forged = decision(Action.DRAIN, node="n1")
        site.carry_out(forged)
        assert site.node("n1").state is SchedulerNodeState.UP
        assert {each.action for each in site.written.results} == {Action.RESTART}

    def test_a_node_that_is_none_is_refused(self, site: SlurmSite) -> None:
        bad = [decision(Action.DRAIN, node=name, node_evidence=True) for name in ("n9", "n1 State=DOWN", "n[1-3]")]
        assert site.carry_out(*bad) == [Outcome.REFUSED] * 3


class TestJobs:
    @pytest.mark.parametrize(("options", "task"), [((), ""), (("--array=1-9%4",), "_7")])
    def test_a_hold_and_its_undo(self, slurm: Slurm, site: SlurmSite, options: tuple[str, ...], task: str) -> None:
        """Also of a task of an array that waits as a whole: the others are left alone."""
        asked = ("--begin=now+1hour", "--comment=schedmate:hold/0123456789abcdef", *options)
        array = slurm.submit("sleep 60", *asked)
        job = array + task
        hold, release = (decision(action, job=job) for action in (Action.HOLD, Action.RELEASE))
        assert site.carry_out(hold) == [Outcome.STARTED, Outcome.DONE]
        assert slurm.fields(job)["Reason"] == "JobHeldAdmin"
        waiting = {waits.view.job for waits in site.actuator.queue().waiting if waits.view.job.startswith(array)}
        assert waiting == ({f"{array}_{other}" for other in range(1, 5)} if task else set())
        assert site.carry_out(release)[2:] == [Outcome.STARTED, Outcome.DONE]
        seen = site.actuator.job(job)
        assert seen
        assert (seen.state, seen.acts) == (SchedulerJobState.PENDING, (act_key(hold), act_key(release)))

    def test_what_others_hold_stays_held(self, slurm: Slurm, site: SlurmSite) -> None:
        job = slurm.submit("sleep 60", "--hold", "--comment=schedmate:hold/0123456789abcdef")
        assert site.carry_out(decision(Action.RELEASE, job=job)) == [Outcome.REFUSED]
        assert "another user" in site.written.results[-1].detail
        assert slurm.fields(job)["Reason"] == "JobHeldUser"

    def test_a_lost_topic_holds_no_job_again(self, slurm: Slurm, site: SlurmSite) -> None:
        job = slurm.submit("sleep 60", "--begin=now+1hour")
        hold = decision(Action.HOLD, job=job)
        site.carry_out(hold)
        slurm.run("scontrol", "release", job)
        site.forget()
        assert site.carry_out(hold, hold) == [Outcome.REFUSED]
        assert slurm.fields(job)["Reason"] != "JobHeldAdmin"

    def test_a_running_job_is_cancelled_and_only_that_attempt(self, slurm: Slurm, site: SlurmSite) -> None:
        job = slurm.submit("sleep 60")
        slurm.wait(job, "RUNNING")
        assert site.carry_out(decision(Action.CANCEL, job=job, attempt=1)) == [Outcome.REFUSED]
        assert site.carry_out(decision(Action.CANCEL, job=job, id="right"))[1:] == [Outcome.STARTED, Outcome.DONE]
        assert slurm.fields(job)["JobState"] == "CANCELLED"

    def test_the_same_eviction_twice_and_after_a_lost_topic(self, slurm: Slurm, site: SlurmSite) -> None:
        job = slurm.submit("sleep 60")
        slurm.wait(job, "RUNNING")
        evict = decision(Action.EVICT, job=job)
        assert site.carry_out(evict, evict) == [Outcome.STARTED, Outcome.DONE]
        slurm.wait(job, "RUNNING")
        site.forget()
        assert site.carry_out(evict) == [Outcome.REFUSED]
        seen = site.actuator.job(job)
        assert seen
        assert (seen.attempt, seen.acts) == (1, (act_key(evict),))

    def test_a_notice_asks_nothing_of_slurm(self, site: SlurmSite) -> None:
        assert site.carry_out(decision(Action.NOTIFY, job="999999")) == [Outcome.STARTED, Outcome.DONE]


class TestGrace:
    def submit(self, slurm: Slurm, script: str) -> str:
        job = slurm.submit(f"srun bash -c '{script}'")
        slurm.wait(job, "RUNNING")
        until((slurm.directory / f"{job}.ready").exists)
        return job

    def script(self) -> str:
        return TRAINING.replace("'", "'\\''")

    def test_a_job_is_stopped_once_its_checkpoint_is_durable(self, slurm: Slurm, site: SlurmSite) -> None:
        job = self.submit(slurm, self.script())
        assert site.carry_out(decision(Action.EVICT, job=job, grace_s=600)) == [Outcome.STARTED]
        until((slurm.directory / f"{job}.saved").exists)
        assert site.bridge.advance() is not None
        assert slurm.fields(job)["Restarts"] == "0", "nothing says yet that the checkpoint is durable"
        site.bridge.accept(checkpoint(job, time.time()))
        assert site.bridge.advance() is None
        assert site.written.outcomes == [Outcome.STARTED, Outcome.DONE]
        assert slurm.fields(job)["Restarts"] == "1"

    def test_a_job_that_saves_nothing_is_stopped_when_its_time_is_over(self, slurm: Slurm, site: SlurmSite) -> None:
        job = slurm.submit("sleep 60")
        slurm.wait(job, "RUNNING")
        site.carry_out(decision(Action.EVICT, job=job, grace_s=1))
        site.bridge.accept(checkpoint(job, time.time() - 60))
        site.restart()
        began = time.time()
        until(lambda: site.bridge.advance() is None)
        assert time.time() - began < 30
        assert site.written.outcomes == [Outcome.STARTED, Outcome.DONE]
        assert slurm.fields(job)["Restarts"] == "1"

    def test_a_job_that_dies_of_the_signal_is_queued_again(self, slurm: Slurm, site: SlurmSite) -> None:
        job = self.submit(slurm, "touch $SLURM_JOB_ID.ready; sleep 60")
        site.carry_out(decision(Action.EVICT, job=job, grace_s=600))
        until(lambda: site.bridge.advance() is None)
        assert site.written.outcomes == [Outcome.STARTED, Outcome.DONE]
        assert slurm.fields(job)["Restarts"] == "1"

    def test_a_job_that_ends_well_meanwhile_is_left_alone(self, slurm: Slurm, site: SlurmSite) -> None:
        job = self.submit(slurm, 'trap "exit 0" USR1; touch $SLURM_JOB_ID.ready; while true; do sleep 0.1; done')
        site.carry_out(decision(Action.EVICT, job=job, grace_s=600))
        until(lambda: site.bridge.advance() is None)
        assert site.written.outcomes == [Outcome.STARTED, Outcome.DONE]
        assert slurm.fields(job)["JobState"] == "COMPLETED"


@pytest.mark.parametrize("action", [Action.EVICT, Action.CANCEL, Action.HOLD])
def test_jobs_that_end_while_the_bridge_acts(slurm: Slurm, site: SlurmSite, action: Action) -> None:
    """Nothing that ended, or was cancelled, comes back; each outcome is what Slurm shows."""
    for delay in (0.0, 0.01, 0.02, 0.03, 0.05, 0.08):
        options = ("--begin=now+1hour",) if action is Action.HOLD else ()
        job = slurm.submit("sleep 60", *options)
        slurm.wait(job, "PENDING" if options else "RUNNING")
        rival = threading.Timer(delay, lambda job=job: slurm.run("scancel", job, check=False))  # type: ignore[misc]
        rival.start()
        with contextlib.suppress(ActuatorError):
            site.carry_out(decision(action, job=job))
        rival.join()
        fields = slurm.wait(job, "CANCELLED")
        assert int(fields["Restarts"]) <= (action is Action.EVICT)
        result = site.written.results[-1]
        assert result.outcome in (Outcome.DONE, Outcome.FAILED, Outcome.REFUSED), result
