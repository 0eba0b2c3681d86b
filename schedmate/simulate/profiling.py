"""Lucid's non-intrusive profiler: nodes set aside on which jobs run for some minutes first (Hu et al., ASPLOS 2023, section 3.2)."""

from collections.abc import Sequence

import msgspec

from schedmate_records import UserError

from .cluster import Cluster, NodeSpec
from .job import Job, Run
from .policies.ordered import Ordered
from .simulation import Simulation


class Profiler(msgspec.Struct, frozen=True):
    """The nodes set aside, and what runs on them.

    Attributes:
        nodes: How many.
        time_limit_s: For how long a job runs there; one that is done within that ends there.
        largest: GPUs of the largest jobs that are profiled.
    """

    nodes: int = 2
    time_limit_s: float = 200.0
    largest: float = 8.0

    def run(self, jobs: list[Job]) -> list[Run]:
        """Profile jobs, those with the fewest GPUs first.

        As in Lucid's simulator, a job that is not done there waits in its partition's queue from its submission on: its profile costs the
        profiler's nodes and no time of its own.

        Args:
            jobs: In the order in which they were submitted.

        Returns:
            The runs of the jobs that ended here; all others are still to be run.
        """
        short = [
            msgspec.structs.replace(job, duration_s=min(job.duration_s, self.time_limit_s))
            for job in jobs
            if job.total_gpus <= self.largest
        ]
        whole = {job.job_id: job.duration_s for job in jobs}
        policy = Ordered(lambda run: run.job.total_gpus)
        runs = Simulation(Cluster([NodeSpec()] * self.nodes), short, policy).run()
        return [run for run in runs if run.ended is not None and run.job.duration_s == whole[run.job.job_id]]


def lend(nodes: Sequence[NodeSpec], partitions: Sequence[str]) -> list[NodeSpec]:
    """Return the nodes without one of each partition named, which it lends to the profiler.

    Raises:
        UserError: A partition has no node to lend.
    """
    left = list(nodes)
    for partition in partitions:
        spec = next((node for node in left if node.partition == partition), None)
        if spec is None:
            raise UserError(
                f"expected a virtual cluster that can lend a node to the profiler, found none in {partition[:60]!r}"
            )
        left.remove(spec)
    return left
