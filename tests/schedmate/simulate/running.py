"""Small clusters and jobs for the tests of this folder."""

from collections.abc import Sequence

from schedmate.simulate.cluster import Cluster, NodeSpec
from schedmate.simulate.job import Job, JobClass, Run
from schedmate.simulate.simulation import Costs, NodeEvent, Policy, Simulation

FREE = Costs(restart_s=0, restart_large_s=0)


def job(name: str, submit_s: float, duration_s: float, gpus: float = 1, **more: object) -> Job:
    return Job(job_id=name, submit_s=submit_s, duration_s=duration_s, gpus=gpus, **more)  # type: ignore[arg-type]


def spot(name: str, submit_s: float, duration_s: float, gpus: float = 1, **more: object) -> Job:
    return job(name, submit_s, duration_s, gpus, job_class=JobClass.SPOT, **more)


def run(
    jobs: Sequence[Job],
    policy: Policy,
    nodes: Sequence[int] = (8,),
    costs: Costs = FREE,
    node_events: Sequence[NodeEvent] = (),
) -> dict[str, Run]:
    """Run jobs on nodes of so many GPUs; return what became of them by name."""
    cluster = Cluster([NodeSpec(gpus=gpus) for gpus in nodes])
    runs = Simulation(cluster, jobs, policy, costs=costs, node_events=node_events).run()
    return {each.job.job_id: each for each in runs}


def times(runs: dict[str, Run]) -> dict[str, tuple[float | None, float | None]]:
    return {name: (each.first_start, each.ended) for name, each in runs.items()}
