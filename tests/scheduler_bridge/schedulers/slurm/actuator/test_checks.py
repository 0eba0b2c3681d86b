"""Checks of nodes on a real Slurm: before a drain, and before a drained node returns."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedmate_records import Action, Outcome
from scheduler_bridge import Bridge
from scheduler_bridge.bundle import Bundles
from scheduler_bridge.schedulers.slurm.actuator import NodeChecks, SlurmActuator
from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmCommands
from scheduler_bridge.schedulers.slurm.client.node_check import MAX_OUTPUT, SlurmNodeCheck
from scheduler_bridge.schedulers.views import SchedulerNodeState
from tests.scheduler_bridge.findings import Written
from tests.servers.slurm import Slurm

from .test_actions import SETTINGS, clear, decision

pytestmark = pytest.mark.slurm


class CheckingSite:
    """A bridge whose nodes are checked by a shell script."""

    def __init__(self, slurm: Slurm, bundles: Path) -> None:
        self.environment = {"SLURM_CONF": str(slurm.configuration)}
        self.client = SlurmClient(SlurmCommands(self.environment))
        self.bundles = bundles
        self.written = Written()

    def check(self, script: str, limit_s: float = 10.0) -> SlurmNodeCheck:
        return SlurmNodeCheck(["/bin/sh", "-c", script], limit_s=limit_s, environment=self.environment)

    def carry_out(self, script: str, action: Action, key: str = "a") -> list[Outcome]:
        actuator = SlurmActuator(self.client, checks=NodeChecks(self.client, self.check(script)))
        bridge = Bridge(actuator, SETTINGS, self.written, bundles=Bundles(self.bundles))
        bridge.accept(decision(action, id=f"{action}/{key}", node="n2", node_evidence=True))
        before = len(self.written.outcomes)
        bridge.advance()
        return self.written.outcomes[before:]

    def state(self) -> tuple[SchedulerNodeState, bool]:
        node = next(each for each in SlurmActuator(self.client).nodes() if each.node == "n2")
        return node.state, bool(node.drained_by)


@pytest.fixture
def site(slurm: Slurm, tmp_path: Path) -> Iterator[CheckingSite]:
    site = CheckingSite(slurm, tmp_path / "bundles")
    clear(slurm, site.client)
    yield site
    slurm.run("scontrol", "delete", "ReservationName=schedmate-check-n2", check=False)
    clear(slurm, site.client)


def test_a_node_that_fails_its_check_is_drained_and_what_was_seen_is_kept(site: CheckingSite) -> None:
    assert site.carry_out("echo on $SLURMD_NODENAME; exit 3", Action.DRAIN) == [Outcome.STARTED, Outcome.DONE]
    assert site.written.results[0].detail == "the check failed (exit code 3): on n2"
    assert site.state() == (SchedulerNodeState.DRAINED, True)
    [kept] = site.bundles.iterdir()
    assert (kept / "check.txt").read_text().splitlines()[-1] == "on n2"
    assert "NodeName=n2" in (kept / "scheduler.txt").read_text()
    # Written before anything was touched.
    assert "DRAIN" not in (kept / "scheduler.txt").read_text()


def test_a_node_that_passes_stays_in_service(site: CheckingSite) -> None:
    assert site.carry_out("true", Action.DRAIN) == [Outcome.REFUSED]
    assert site.written.results[-1].detail.startswith("check: n2 is healthy")
    assert site.state() == (SchedulerNodeState.UP, False)


def test_a_drained_node_returns_once_it_passes_and_nobody_gets_on_it_before(slurm: Slurm, site: CheckingSite) -> None:
    site.carry_out("false", Action.DRAIN)
    waiting = slurm.submit("true", "--nodelist=n2", "--output=/dev/null")
    assert site.carry_out("echo still ill; exit 1", Action.UNDRAIN, "first") == [Outcome.STARTED, Outcome.FAILED]
    assert "still ill" in site.written.results[-1].detail
    assert site.state() == (SchedulerNodeState.DRAINED, True)
    script = f'test "$(squeue -h -t R -w n2 -o %A | grep -c .)" = 1 && ! squeue -h -j {waiting} -t R | grep .'
    environment = f"export SLURM_CONF={slurm.configuration} PATH=/usr/bin:/bin; "
    assert site.carry_out(environment + script, Action.UNDRAIN, "second") == [Outcome.STARTED, Outcome.DONE], (
        site.written.results[-1]
    )
    assert site.state() == (SchedulerNodeState.UP, False)
    slurm.wait(waiting, "COMPLETED")
    assert "schedmate-check" not in slurm.run("scontrol", "show", "reservation")


def test_a_reservation_that_a_killed_bridge_left_does_not_keep_a_node_out_of_service(
    slurm: Slurm, site: CheckingSite
) -> None:
    site.carry_out("false", Action.DRAIN)
    site.client.reserve_node("n2")
    assert site.carry_out("true", Action.UNDRAIN) == [Outcome.STARTED, Outcome.DONE], site.written.results[-1]
    assert site.state() == (SchedulerNodeState.UP, False)
    assert "schedmate-check" not in slurm.run("scontrol", "show", "reservation")


def test_what_does_not_end_or_prints_without_end_is_bounded(site: CheckingSite) -> None:
    began = time.monotonic()
    late = site.check("echo begun; sleep 600", limit_s=1.0)(site.client, "n1")
    assert (late.exit_code, "longer than 1 s" in late.output) == (None, True)
    assert time.monotonic() - began < 30
    much = site.check("yes | head -c 5000000; exit 4")(site.client, "n1")
    assert (much.exit_code, len(much.output) <= MAX_OUTPUT) == (4, True)


def test_a_node_that_is_full_or_unknown_is_not_known_to_be_well(slurm: Slurm, site: CheckingSite) -> None:
    job = slurm.submit("sleep 60", "--nodelist=n2", "--exclusive", "--output=/dev/null")
    slurm.wait(job, "RUNNING")
    assert site.check("true")(site.client, "n2").exit_code is None
    assert site.check("true")(site.client, "n9").exit_code is None
    slurm.run("scancel", job)
