"""Small clusters for tests."""

from collections.abc import Sequence

from hypothesis import strategies as st

from processors.spot.cluster import NodeState, PodRequest, RunningSpotJob


def cluster(jobs: Sequence[RunningSpotJob], idle: Sequence[int], hp: Sequence[int] | None = None) -> list[NodeState]:
    """Nodes with so many idle GPUs, those of high-priority jobs, and those of the spot jobs."""
    nodes = []
    for index, free in enumerate(idle):
        here = [job for job in jobs if job.gpus.get(index)]
        spot_gpus = sum(job.gpus[index] for job in here)
        hp_gpus = hp[index] if hp else 0
        nodes.append(
            NodeState(
                index=index,
                gpus=round(free + spot_gpus + hp_gpus),
                idle=free,
                hp_gpus=hp_gpus,
                spot_gpus=spot_gpus,
                spot=here,
            )
        )
    return nodes


@st.composite
def clusters(draw: st.DrawFn) -> list[NodeState]:
    """Up to four nodes with gangs of spot jobs on them; each node has a GPU at least."""
    count = draw(st.integers(1, 4))
    gpus = st.dictionaries(st.integers(0, count - 1), st.integers(1, 4), min_size=1, max_size=count)
    jobs = [
        RunningSpotJob(f"spot-{number}", placed, float(draw(st.integers(0, 5000))))
        for number, placed in enumerate(draw(st.lists(gpus, max_size=5)))
    ]
    sizes = st.lists(st.integers(0, 8), min_size=count, max_size=count)
    return cluster(jobs, draw(sizes), [1 + each for each in draw(sizes)])


def requests(*, spot: bool) -> st.SearchStrategy[PodRequest]:
    """Requests for up to three pods of up to eight GPUs, or a share of one."""
    return st.builds(
        PodRequest,
        pods=st.integers(1, 3),
        gpus=st.sampled_from([0.5, 1, 2, 4, 8]),
        gpu_type=st.just(""),
        spot=st.just(spot),
    )
