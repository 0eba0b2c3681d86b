"""The same cluster, seen by the live bridge and by the simulator's manager: the same victims."""

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.simulate.headroom import HeadroomGfs
from processors.eviction import Need, weigh
from schedmate.simulate.cluster import Cluster, NodeSpec
from schedmate.simulate.job import Job, JobClass, Run, Status
from schedmate.simulate.policies.spot.managed import ClusterView, PodRequest
from schedmate.simulate.policies.spot.state import SpotState
from scheduler_bridge.preemption.policy import least_loss
from scheduler_bridge.schedulers import RunningJob
from tests.schedmate.spot.queues import node, queue, runs

GPUS = 4
NOW = 6000.0


@given(
    st.lists(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 5000)), max_size=4), min_size=1, max_size=3),
    st.integers(1, GPUS),
)
def test_bridge_and_simulator_choose_the_same_victims(spot: list[list[tuple[int, int]]], wanted: int) -> None:
    cluster, state = Cluster([NodeSpec(gpus=GPUS)] * len(spot)), SpotState()
    state.know(cluster)
    held: list[RunningJob] = []
    losses: dict[str, float] = {}
    for index, here in enumerate(spot):
        first = 0
        for number, (gpus, unsaved) in enumerate(here):
            if first + gpus > GPUS:
                continue
            name = f"{index}-{number}"
            run = Run(_never_saves(name, gpus), order=len(held))
            run.placement = (cluster.allocate(index, gpus),)
            run.status, run.started, run.since = Status.RUNNING, NOW - unsaved, NOW - unsaved
            state.note_start(run, NOW - unsaved)
            held.append(runs(name, str(index), gpus, spot=True, first=first))
            losses[name] = weigh(unsaved, gpus, 0)
            first += gpus
    capacities = tuple(node(str(index), GPUS) for index in range(len(spot)))
    live = least_loss(
        Need(gpus=wanted), queue(*held, nodes=capacities), [str(each) for each in range(len(spot))], losses
    )
    view = ClusterView(cluster, state, (), NOW)
    simulated = HeadroomGfs().evictions(view, PodRequest("high", 1, wanted, "", spot=False))
    assert live is not None
    assert simulated is not None
    assert frozenset(simulated[0]) == live.victims
    assert [str(each) for each in simulated[1]] == list(live.nodes)


def _never_saves(name: str, gpus: int) -> Job:
    return Job(
        job_id=name,
        submit_s=0,
        duration_s=10_000,
        gpus=gpus,
        job_class=JobClass.SPOT,
        checkpoint_every_s=float("inf"),
    )
