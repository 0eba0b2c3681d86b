"""Several Slurm clusters as one actuator: on two real ones whose jobs have the same numbers, and what must not be mixed up."""

import time

import pytest

from schedmate_records import Action, EventKind, JobEvent, Mode, Outcome
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.preemption.policy import PreemptionFacts, decide
from scheduler_bridge.schedulers import (
    ActuatorError,
    NodeView,
    Queue,
    SchedulerAway,
    SchedulerJobState,
    SchedulerNodeState,
)
from scheduler_bridge.schedulers.queue import Capacity, Need, RunningJob, Share, WaitingJob
from scheduler_bridge.schedulers.slurm.actuator import SlurmActuator, SlurmClusters
from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmCommands
from scheduler_bridge.schedulers.views import JobView
from scheduler_bridge.selectors import Selector
from tests.scheduler_bridge.findings import Written, failure
from tests.servers import slurm_clusters as servers
from tests.servers.slurm_clusters import OTHER

ONCE = 'echo $SLURMD_NODENAME; test -n "$SLURM_RESTART_COUNT"'
"""A script that fails the first time."""
KEY = "restart/0123456789abcdef"
UP = SchedulerNodeState.UP


class Fake(SlurmActuator):
    """One cluster, as a test wants it."""

    def __init__(self, *nodes: str, queue: Queue | None = None) -> None:
        self.names, self.away, self.asked = list(nodes), False, 0
        self._queue = queue or Queue()

    def nodes(self, _beside: str = "", /) -> list[NodeView]:
        self._ask()
        return [NodeView(name, UP, ("p",)) for name in self.names]

    def queue(self) -> Queue:
        self._ask()
        return self._queue

    def job(self, job: str) -> JobView | None:
        self._ask()
        return JobView(job, SchedulerJobState.RUNNING, partition="p,urgent", successor="9")

    def drain(self, node: str, reason: str, key: str) -> NodeView:
        self._ask()
        return NodeView(node, SchedulerNodeState.DRAINED, ("p",), drained_by=key)

    def _ask(self) -> None:
        self.asked += 1
        if self.away:
            raise SchedulerAway("slurmctld to answer", "nothing", "see whether it is up")


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_job_and_its_partitions_go_by_the_name_of_their_cluster() -> None:
    clusters = SlurmClusters({"": Fake("n1"), "beta": Fake("m1")})
    seen = clusters.job("beta/4711")
    assert seen
    assert (seen.job, seen.partition, seen.successor) == ("beta/4711", "beta/p,beta/urgent", "beta/9")
    seen = clusters.job("4711")
    assert seen
    assert (seen.job, seen.partition, seen.successor) == ("4711", "p,urgent", "9")
    assert Selector.parse("partition=beta/p").terms == (("partition", "beta/p"),)
    for stranger in ("gamma/4711", "/4711"):
        with pytest.raises(ActuatorError, match="cluster"):
            clusters.job(stranger)


def test_a_node_goes_to_the_cluster_that_has_it_and_limits_are_that_clusters() -> None:
    clusters = SlurmClusters({"": Fake("n1", "n2"), "beta": Fake("m1")})
    assert [(node.node, node.pools) for node in clusters.nodes("m1")] == [("m1", ("beta/p",))]
    assert {node.node for node in clusters.nodes("n2")} == {"n1", "n2"}
    assert clusters.nodes("x1") == []
    assert clusters.drain("m1", "Xid 79", "drain/1").pools == ("beta/p",)


def test_a_node_of_two_clusters_is_left_to_people() -> None:
    local, beta = Fake("n1"), Fake("n1", "m1")
    clusters = SlurmClusters({"": local, "beta": beta}, Clock())
    with pytest.raises(ActuatorError, match="one cluster with a node"):
        clusters.drain("n1", "Xid 79", "drain/1")
    beta.away = True
    with pytest.raises(ActuatorError, match="one cluster with a node"):
        clusters.drain("n1", "Xid 79", "drain/1")


def test_a_cluster_that_is_away_stops_nothing_for_the_other_and_is_asked_seldom() -> None:
    local, beta, clock = Fake("n1"), Fake("m1"), Clock()
    clusters = SlurmClusters({"": local, "beta": beta}, clock)
    beta.away = True
    for _ in range(20):
        with pytest.raises(SchedulerAway, match=r"cluster beta"):
            clusters.job("beta/1")
    assert beta.asked == 1
    assert clusters.job("1")
    assert clusters.drain("n1", "Xid 79", "drain/1").node == "n1"
    assert clusters.queue() == Queue()
    with pytest.raises(SchedulerAway):
        clusters.nodes("m1")
    beta.away, clock.now = False, clock.now + 6
    assert clusters.job("beta/1")
    assert [node.node for node in clusters.nodes("m1")] == ["m1"]


def test_nobody_is_evicted_for_a_job_of_another_cluster() -> None:
    """Both have a node n1 and a job 1, and the one that waits in beta would fit where the local job runs."""
    view = NodeView("n1", UP, ("p",))
    small = Queue(
        waiting=(
            WaitingJob(JobView("2", SchedulerJobState.PENDING, partition="p", qos="urgent"), 0.0, Need(cpus=8), True),
        ),
        nodes=(Capacity(view, cpus=4),),
    )
    held = RunningJob(JobView("1", SchedulerJobState.RUNNING, partition="p", qos="low"), 0.0, {"n1": Share(8)})
    large = Queue(running=(held,), nodes=(Capacity(view, cpus=8), Capacity(NodeView("n9", UP), cpus=8)))
    settings = BridgeSettings(evict_for="qos=urgent", evictable="qos=low", evict_wait_seconds=0)
    facts = PreemptionFacts(room_for_others=9)
    apart = SlurmClusters({"": Fake(queue=large), "beta": Fake(queue=small)}).queue()
    assert decide(apart, facts, settings, 1000.0) == []
    together = Queue(small.waiting, large.running, large.nodes)
    evicted = SlurmClusters({"": Fake(), "beta": Fake(queue=together)}).queue()
    assert [decision.job for decision in decide(evicted, facts, settings, 1000.0)] == ["beta/1"]


@pytest.fixture
def actuator(slurm_clusters: servers.SlurmClusters) -> SlurmClusters:
    environment = {"SLURM_CONF": str(slurm_clusters.local.configuration)}
    names = {"": "", OTHER: OTHER}
    return SlurmClusters(
        {key: SlurmActuator(SlurmClient(SlurmCommands(environment, cluster=name))) for key, name in names.items()}
    )


@pytest.mark.slurm
@pytest.mark.slow
@pytest.mark.timeout(300)
class TestTwoRealClusters:
    def test_the_right_job_of_the_right_cluster_is_restarted(
        self, slurm_clusters: servers.SlurmClusters, actuator: SlurmClusters
    ) -> None:
        job = slurm_clusters.same_number(ONCE)
        node = slurm_clusters.other.wait(job, "FAILED")["NodeList"]
        slurm_clusters.local.wait(job, "FAILED")
        name, written = f"{OTHER}/{job}", Written()
        bridge = Bridge(actuator, BridgeSettings(modes={Action.RESTART: Mode.ACT}), written)
        bridge.accept(failure(job=name, node=node, time=time.time()))
        bridge.accept(JobEvent(id="e", job=name, kind=EventKind.ENDED, time=time.time()))
        bridge.advance()
        assert written.outcomes == [Outcome.STARTED, Outcome.DONE], written.results
        after = slurm_clusters.other.wait(job, "COMPLETED")
        assert (after["Restarts"], after["NodeList"] != node) == ("1", True)
        untouched = slurm_clusters.local.fields(job)
        assert (untouched["JobState"], untouched["Restarts"]) == ("FAILED", "0")
        assert actuator.restart(job, (), KEY).job == job
        assert slurm_clusters.local.wait(job, "COMPLETED")["Restarts"] == "1"
        assert slurm_clusters.other.fields(job)["Restarts"] == "1"

    def test_a_node_is_drained_where_it_is(self, actuator: SlurmClusters) -> None:
        seen = actuator.drain("m2", "Xid 79", KEY)
        assert (seen.node, seen.drained_by, seen.pools[0]) == ("m2", KEY, f"{OTHER}/p")
        assert actuator.undrain("m2", KEY).state is UP

    def test_a_cluster_that_is_away_stops_nothing_for_the_other(
        self, slurm_clusters: servers.SlurmClusters, actuator: SlurmClusters
    ) -> None:
        job = slurm_clusters.same_number(ONCE)
        slurm_clusters.local.wait(job, "FAILED")
        slurm_clusters.other.wait(job, "FAILED")
        slurm_clusters.other.stop_controller()
        try:
            with pytest.raises(SchedulerAway, match=f"cluster {OTHER}"):
                actuator.job(f"{OTHER}/{job}")
            assert actuator.restart(job, (), KEY).attempt == 1
            slurm_clusters.local.wait(job, "COMPLETED")
            assert actuator.drain("n2", "Xid 79", KEY).drained_by == KEY
            assert actuator.undrain("n2", KEY).state is UP
        finally:
            slurm_clusters.other.start_controller()
