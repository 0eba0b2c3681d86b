"""What Slurm lets a bridge do that runs as neither root nor SlurmUser: the rights that docs/slurm.md names suffice, and less does not."""

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scheduler_bridge.schedulers import ActuatorError, SchedulerAway, SchedulerJobState, SchedulerNodeState
from scheduler_bridge.schedulers.slurm.actuator import SlurmActuator, SlurmSettings
from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmCommands
from tests.servers.slurm import Slurm, find
from tests.servers.slurm_clusters import SlurmClusters, slurm_clusters
from tests.waiting import until

__all__ = ["slurm_clusters"]

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may run commands as another user"),
]

USER = "daemon"
COMMANDS = ("scontrol", "squeue", "sinfo", "scancel", "sbatch", "sacctmgr")
DENIED = r"(?i)permission denied|invalid user"
ONCE = 'test -n "$SLURM_RESTART_COUNT"'


def key(action: str) -> str:
    return f"{action}/{uuid.uuid4().hex[:16]}"


@pytest.fixture
def slurm(slurm_clusters: SlurmClusters) -> Slurm:
    return slurm_clusters.local


@pytest.fixture
def actuator(slurm: Slurm, tmp_path: Path) -> SlurmActuator:
    """An actuator whose commands run as `USER`: munge tells Slurm so."""
    become = f"exec {find('setpriv', 'util-linux has it')} --reuid={USER} --regid={USER} --clear-groups"
    for name in COMMANDS:
        command = tmp_path / name
        command.write_text(f'#!/bin/sh\n{become} {find(name)} "$@"\n')
        command.chmod(0o755)
    environment = {"SLURM_CONF": str(slurm.configuration), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    return SlurmActuator(SlurmClient(SlurmCommands(environment)), SlurmSettings(stop_timeout=30.0))


@pytest.fixture
def level(slurm: Slurm) -> Iterator[Callable[[str], None]]:
    """Gives the user an AdminLevel."""
    slurm.run("sacctmgr", "-i", "add", "account", "lab", check=False)  # it may be there
    slurm.run("sacctmgr", "-i", "add", "user", USER, "account=lab")

    def give(name: str) -> None:
        slurm.run("sacctmgr", "-i", "modify", "user", "where", f"name={USER}", "set", f"adminlevel={name}")
        cached = f"UserName={USER}("
        until(lambda: f"AdminLevel={name}" in _after(slurm.run("scontrol", "show", "assoc_mgr", "flags=users"), cached))

    yield give
    slurm.run("sacctmgr", "-i", "delete", "user", USER)
    slurm.run("scancel", "--user=root", check=False)


def _after(text: str, word: str) -> str:
    return text.partition(word)[2].partition("\n")[0]


def test_a_user_like_any_other_can_do_nothing(
    slurm: Slurm, actuator: SlurmActuator, level: Callable[[str], None]
) -> None:
    level("None")
    failed, running = slurm.submit(ONCE), slurm.submit("sleep 60")
    slurm.wait(failed, "FAILED")
    slurm.wait(running, "RUNNING")
    acts: list[Callable[[], object]] = [
        lambda: actuator.restart(failed, (), key("restart")),
        lambda: actuator.evict(running, key("evict")),
        lambda: actuator.cancel(running, key("cancel")),
        lambda: actuator.drain("n1", "Xid 79", key("drain")),
    ]
    for act in acts:
        with pytest.raises(ActuatorError, match=DENIED) as refused:
            act()
        assert not isinstance(refused.value, SchedulerAway)
    assert [slurm.fields(job)["JobState"] for job in (failed, running)] == ["FAILED", "RUNNING"]
    assert "DRAIN" not in slurm.run("scontrol", "show", "node", "n1")


def test_an_operator_may_restart_jobs_and_no_more(
    slurm: Slurm, actuator: SlurmActuator, level: Callable[[str], None]
) -> None:
    """Slurm lets administrators alone write AdminComment, where the keys of acts stand: without its key nothing is done to what runs."""
    level("Operator")
    failed, running = slurm.submit(ONCE), slurm.submit("sleep 60")
    waits = slurm.submit("sleep 60", "--begin=now+1hour")
    node = slurm.wait(failed, "FAILED")["NodeList"]
    assert actuator.restart(failed, (node,), key("restart"), "/ckpt/step-40").attempt == 1
    assert slurm.wait(failed, "COMPLETED")["NodeList"] != node
    slurm.wait(running, "RUNNING")
    acts: list[Callable[[], object]] = [
        lambda: actuator.evict(running, key("evict")),
        lambda: actuator.cancel(running, key("cancel")),
        lambda: actuator.hold(waits, key("hold")),
        lambda: actuator.drain("n1", "Xid 79", key("drain")),
    ]
    for act in acts:
        with pytest.raises(ActuatorError, match=DENIED):
            act()
    assert [slurm.fields(job)["Reason"] for job in (running, waits)] == ["None", "BeginTime"]
    assert slurm.fields(running)["JobState"] == "RUNNING"


def test_an_administrator_may_do_all(slurm: Slurm, actuator: SlurmActuator, level: Callable[[str], None]) -> None:
    level("Administrator")
    waits = slurm.submit("sleep 60", "--begin=now+1hour")
    assert actuator.hold(waits, key("hold")).state is SchedulerJobState.HELD
    assert actuator.release(waits, key("release")).state is SchedulerJobState.PENDING

    first = slurm.submit("sleep 60", "--gres=shard:2", "--nodelist=n2")
    packed = slurm.submit("sleep 60", "--gres=shard:2", "--nodelist=n2")
    for one in (first, packed):
        slurm.wait(one, "RUNNING")
    actuator.signal(first, "CONT")
    assert actuator.cancel_packing(packed, key("cancel_packing")).alone
    assert actuator.evict(first, key("evict")).attempt == 1
    slurm.wait(first, "RUNNING")
    assert actuator.cancel(first, key("cancel")).state is SchedulerJobState.CANCELLED

    assert actuator.drain("n1", "Xid 79", key("drain")).drained_by
    assert actuator.undrain("n1", key("undrain")).state is SchedulerNodeState.UP
