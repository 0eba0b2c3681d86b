"""Who is evicted live and who in the simulator: two searches, one measure."""

from hypothesis import given, settings
from hypothesis import strategies as st

from processors.spot.cluster import NodeState, RunningSpotJob
from processors.spot.cluster import PodRequest as Request
from processors.spot.preemption import SpotHistory, preempt, waste
from processors.spot.settings import GfsSettings
from scheduler_bridge.actuators import Need
from scheduler_bridge.preemption import least_loss

from .queues import node, queue, runs

GPUS = 4
WASTE_ALONE = GfsSettings(waste_weight=1e9)
"""The weight of Eq. 19 at which the number of victims no longer counts."""


@settings(max_examples=300)
@given(
    st.lists(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 5000)), max_size=4), min_size=1, max_size=3),
    st.integers(1, GPUS),
)
def test_where_gpus_alone_matter_the_live_choice_wastes_no_more(spot: list[list[tuple[int, int]]], wanted: int) -> None:
    jobs, nodes, held, capacities = {}, [], [], []
    for index, here in enumerate(spot):
        free, first, mine = GPUS, 0, []
        for number, (gpus, unsaved) in enumerate(here):
            if gpus > free:
                continue
            job = RunningSpotJob(f"{index}-{number}", {index: float(gpus)}, float(unsaved))
            jobs[job.job_id] = job
            mine.append(job)
            held.append(runs(job.job_id, f"n{index}", gpus, spot=True, first=first))
            free, first = free - gpus, first + gpus
        nodes.append(NodeState(index=index, gpus=GPUS, idle=free, spot_gpus=GPUS - free, spot=mine))
        capacities.append(node(f"n{index}", GPUS))
    simulated = preempt(nodes, Request(pods=1, gpus=wanted), SpotHistory(0, 0, 1.0), WASTE_ALONE)
    losses = {name: waste(job) for name, job in jobs.items()}
    allowed = [each.view.node for each in capacities]
    live = least_loss(Need(gpus=wanted), queue(*held, nodes=tuple(capacities)), allowed, losses)
    assert simulated is not None
    assert live is not None
    assert live.loss <= sum(waste(jobs[name]) for name in simulated.victims)
    assert bool(live.victims) == bool(simulated.victims)
