"""The client on a real Slurm."""

import os
import subprocess
import time

import pytest

from scheduler_bridge.schedulers.slurm.client import (
    SlurmClient,
    SlurmCommands,
    SlurmRefused,
    SlurmUnavailable,
    UnknownSlurmJob,
)
from tests.servers.slurm import Slurm

pytestmark = pytest.mark.slurm


@pytest.fixture
def client(slurm: Slurm) -> SlurmClient:
    return SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)}))


def test_a_name_that_reads_as_a_record_hides_no_job_and_makes_none(slurm: Slurm, client: SlurmClient) -> None:
    victim = slurm.submit("sleep 60")
    slurm.wait(victim, "RUNNING")
    forged = " UserId=r(0) Reason=None JobState=FAILED Restarts=0 ExitCode=3:0 NodeList=n1 EndTime=5 Command=x"
    sly = slurm.submit("sleep 60", f"--job-name=c\nJobId={victim} JobName=x{forged}\nJobId=999999 JobName=x{forged}")
    deadline = time.monotonic() + 20
    while (seen := client.jobs())[sly].state != "RUNNING":
        assert time.monotonic() < deadline, seen[sly]
    assert (seen[victim].state, client.unreadable) == ("RUNNING", 0)
    assert "999999" not in seen
    assert client.job(sly).state == client.job(victim).state == "RUNNING"
    slurm.run("scancel", victim, sly)


def test_texts_that_read_as_fields_change_no_other_field(slurm: Slurm, client: SlurmClient) -> None:
    forged = "x JobState=FAILED Restarts=9 ExitCode=3:0 Nodes=n9 CPU_IDs=0 Mem=0 GRES=gpu:8(IDX:0-7) TresPerNode=gres:shard:9"
    texts = [f"--{option}={forged}" for option in ("account", "wckey", "comment", "job-name", "mail-user")]
    sly = slurm.submit("sleep 60", "--gres=shard:2", *texts, f"--output={slurm.root}/o Power= TresPerNode=gres:shard:9")
    deadline = time.monotonic() + 20
    while not (seen := client.job(sly)).nodes:
        assert time.monotonic() < deadline, seen
    assert (seen.state, seen.restarts, seen.shards, seen.gpus, seen.tres_per_node) == (
        "RUNNING",
        0,
        2,
        None,
        "gres:shard:2",
    )
    assert (seen.name, seen.account, {index for _, index in seen.devices} <= {0, 1}) == (forged, forged.lower(), True)
    assert client.jobs()[sly] == seen
    slurm.run("scancel", sly)


def test_a_name_that_is_no_utf_8_hides_no_job(slurm: Slurm, client: SlurmClient) -> None:
    bad = slurm.submit("sleep 60", "--job-name=a\udcff\\x41")
    sly = slurm.submit("sleep 60", f"--job-name=c\nJobId={bad} JobName=x UserId=r(0)")
    assert {bad, sly} <= client.jobs().keys()
    assert client.unreadable == 0
    slurm.run("scancel", bad, sly)


def test_a_job_is_held_changed_and_released(slurm: Slurm, client: SlurmClient) -> None:
    job = slurm.submit("sleep 60", "--gres=shard:2", "--hold")
    held = client.job(job)
    assert (held.held, held.shards_per_node, held.excluded_nodes) == (True, 2, ())
    client.update_job(job, {"ExcNodeList": "n1,n2", "TresPerNode": held.with_shards(4)})
    client.release(job)
    slurm.wait(job, "RUNNING")
    seen = client.job(job)
    assert (seen.held, seen.nodes, seen.excluded_nodes, client.gpus(seen)) == (False, ("n3",), ("n1", "n2"), 1.0)
    client.requeue_hold(job, running=True)
    slurm.wait(job, "PENDING")
    assert (client.job(job).held, client.job(job).restarts) == (True, 1)
    slurm.run("scancel", job)


def test_errors_have_names(slurm: Slurm, client: SlurmClient) -> None:
    client.check_node("n1")
    with pytest.raises(UnknownSlurmJob, match="MinJobAge"):
        client.job("999999")
    with pytest.raises(UnknownSlurmJob, match="Invalid job id"):
        client.batch_script("999999")
    for node in ("no-such-node", "n1; reboot", "-n1"):
        with pytest.raises(SlurmRefused):
            client.check_node(node)
    slow = SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)}, timeout_s=1))
    slurm.stop_controller()
    try:
        with pytest.raises(SlurmUnavailable, match="slurmctld"):
            slow.jobs()
        with pytest.raises(SlurmUnavailable, match="Unable to contact"):
            client.batch_script("1")
    finally:
        slurm.start_controller()
    assert isinstance(slow.jobs(), dict)


def test_a_job_without_a_script_is_refused(slurm: Slurm, client: SlurmClient) -> None:
    with subprocess.Popen(["srun", "--job-name=interactive", "sleep", "60"], env=slurm.environment) as interactive:
        deadline = time.monotonic() + 20
        while not (number := slurm.run("squeue", "-h", "--name=interactive", "--states=RUNNING", "-o", "%A").strip()):
            assert time.monotonic() < deadline, slurm.log()
            time.sleep(0.1)
        with pytest.raises(SlurmRefused, match="Job script not specified"):
            client.batch_script(number)
        slurm.run("scancel", number)
        interactive.wait()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root submits for others")
def test_the_owner_of_a_job_is_found_by_each_of_its_names(slurm: Slurm, client: SlurmClient) -> None:
    mine = slurm.submit("exit 0")
    theirs = slurm.submit("exit 0", "--uid=65534", "--job-name=x\n1 1 1 0")
    array = slurm.submit("exit 0", "--array=3-4", "--uid=65534")
    wanted = {mine: 0, theirs: 65534, array: 65534, f"{array}_3": 65534, f"{array}_4": 65534}
    assert client.owners([*wanted, "999999", f"{array}_9", "4711; rm", "$(id)", "--me"]) == wanted
    # A file of that name, which anybody can make, must not hide the owners of all others.
    for beyond in ("2147483648", "3000000000_1", "4294967296+1", "999999999999999999"):
        assert client.owners([*wanted, beyond, "2147483647"]) == wanted
    assert client.owners([theirs]) == {theirs: 65534}
    assert client.owners(["999999"]) == {}
    assert client.owners(["notes"]) == {}
