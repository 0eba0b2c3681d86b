"""Writing a workload as a trace that `schedmate simulate` reads."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..cluster import NodeSpec
from ..job import Job
from ..outcomes import write_table

JOB_COLUMNS = (
    "job_id",
    "submit_s",
    "duration_s",
    "gpus",
    "pods",
    "partition",
    "user",
    "gpu_type",
    "class",
    "checkpoint_every_s",
)
NODE_COLUMNS = ("gpus", "gpu_type", "partition", "name")


def write_jobs(file: Path, jobs: Iterable[Job]) -> None:
    """Write jobs.

    Raises:
        UserError: The file cannot be written.
    """
    rows = (
        (
            job.job_id,
            f"{job.submit_s:.0f}",
            f"{job.duration_s:.0f}",
            f"{job.gpus:g}",
            job.pods,
            job.partition,
            job.user,
            job.gpu_type,
            job.job_class.value,
            f"{job.checkpoint_every_s:g}",
        )
        for job in jobs
    )
    write_table(file, JOB_COLUMNS, rows)


def write_nodes(file: Path, nodes: Sequence[NodeSpec]) -> None:
    """Write nodes.

    Raises:
        UserError: The file cannot be written.
    """
    write_table(file, NODE_COLUMNS, ((node.gpus, node.gpu_type, node.partition, node.name) for node in nodes))
