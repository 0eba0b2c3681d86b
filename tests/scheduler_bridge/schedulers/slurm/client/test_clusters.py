"""Names of jobs of several clusters, and the client on two real clusters whose jobs have the same numbers."""

from pathlib import Path

import pytest

from schedmate_records import EventKind
from schedmate_records.cluster_names import qualified, qualified_all
from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmCommands, SlurmRefused, UnknownSlurmJob
from scheduler_bridge.schedulers.slurm.client.cluster_names import split
from scheduler_bridge.schedulers.slurm.client.job_command import SlurmJobCommand
from scheduler_bridge.schedulers.slurm.client.node_check import SlurmNodeCheck
from scheduler_bridge.schedulers.slurm.client.submission import submit
from scheduler_bridge.schedulers.slurm.events.watcher import SlurmWatcher
from tests.scheduler_bridge.schedulers.slurm.kept_events import KeptEvents
from tests.servers.slurm_clusters import OTHER, SlurmClusters


def test_a_name_goes_there_and_back() -> None:
    for cluster, own in (("", "4711"), ("beta", "4711_3"), ("beta", "4711+1"), ("b-2.x", "7")):
        assert split(qualified(cluster, own)) == (cluster, own)
    assert qualified("beta", "") == ""
    assert qualified_all("beta", "p,urgent") == "beta/p,beta/urgent"


@pytest.mark.parametrize("hostile", ["beta/1; reboot", "beta//1", "beta/../1", "a/b/1", "beta/--me", "beta/"])
def test_what_follows_the_cluster_must_be_a_job(hostile: str) -> None:
    asked: list[tuple[str, ...]] = []

    def run(*command: str) -> str:
        asked.append(command)
        return ""

    client = SlurmClient(run)
    cluster, own = split(hostile)
    with pytest.raises(SlurmRefused):
        client.job(own)
    assert (cluster in ("beta", "a"), asked) == (True, [])
    with pytest.raises(SlurmRefused):
        split("/1")


@pytest.mark.slurm
@pytest.mark.slow
class TestTwoClusters:
    def test_each_command_reaches_its_cluster_alone(self, slurm_clusters: SlurmClusters) -> None:
        local, other = slurm_clusters.local, slurm_clusters.other
        environment = {"SLURM_CONF": str(local.configuration)}
        here = SlurmClient(SlurmCommands(environment))
        there = SlurmClient(SlurmCommands(environment, cluster=OTHER))
        mine = slurm_clusters.same_number("sleep 600", "--time=77")
        local.wait(mine, "RUNNING")
        other.wait(mine, "RUNNING")
        assert (sorted(here.nodes()), sorted(there.nodes())) == (["n1", "n2"], ["m1", "m2"])
        theirs = there.job(mine)
        assert (theirs.nodes[0][0], here.job(mine).nodes[0][0]) == ("m", "n")
        assert mine in there.jobs()
        assert there.owners([mine]) == here.owners([mine])
        assert b"sleep 600" in there.batch_script(mine)
        assert there.columns(mine)["timelimit"] == "1:17:00"
        there.update_job(mine, {"AdminComment": "there"})
        assert (there.admin_comment(mine), here.admin_comment(mine)) == ("there", "")
        number = submit(b"#!/bin/sh\nexit 0\n", [], theirs.user, environment, cluster=OTHER)
        assert other.wait(number, "COMPLETED")["JobState"] == "COMPLETED"
        stacks = SlurmJobCommand(["/bin/sh", "-c", "echo at $SLURMD_NODENAME"], 20.0, environment, OTHER)
        assert stacks(there, mine) == f"0: at {theirs.nodes[0]}\n"
        check = SlurmNodeCheck(["/bin/sh", "-c", "echo on $SLURMD_NODENAME"], (), 20.0, environment, cluster=OTHER)
        checked = check(there, "m2")
        assert (checked.exit_code, checked.output) == (0, "on m2")
        there.cancel(mine)
        other.wait(mine, "CANCELLED")
        assert here.job(mine).state == "RUNNING"
        local.run("scancel", mine)

    def test_a_cluster_that_slurmdbd_does_not_know_is_refused(self, slurm_clusters: SlurmClusters) -> None:
        environment = {"SLURM_CONF": str(slurm_clusters.local.configuration)}
        with pytest.raises(SlurmRefused, match="gamma"):
            SlurmClient(SlurmCommands(environment, cluster="gamma")).jobs()
        with pytest.raises(UnknownSlurmJob):
            SlurmClient(SlurmCommands(environment, cluster=OTHER)).job("999999")

    def test_the_other_cluster_is_watched_under_its_name(self, slurm_clusters: SlurmClusters, tmp_path: Path) -> None:
        environment = {"SLURM_CONF": str(slurm_clusters.local.configuration)}
        told = KeptEvents()
        client = SlurmClient(SlurmCommands(environment, cluster=OTHER))
        watcher = SlurmWatcher(told.connect, tmp_path / "events.json", client, cluster=OTHER)
        job = slurm_clusters.other.submit("exit 3")
        slurm_clusters.other.wait(job, "FAILED")
        watcher.poll()
        watcher.close()
        assert told.kinds(f"{OTHER}/{job}") == [EventKind.SUBMITTED, EventKind.STARTED, EventKind.ENDED]
        assert {event.id.split("/")[1] for event in told.events} == {OTHER}
