"""Jobs of more GPUs than a node has, as gangs of pods that fit into nodes."""

from collections.abc import Sequence
from math import gcd

import msgspec

from .cluster import NodeSpec
from .job import Job


def as_gangs(jobs: Sequence[Job], nodes: Sequence[NodeSpec]) -> list[Job]:
    """Return the jobs; one whose pod exceeds a node is cut into equal pods that fill nodes evenly.

    A pod has as many GPUs as the greatest common divisor of the job's and the largest node's: 32 GPUs are 4 pods on nodes of 8, and 12 are
    3 pods of 4.

    Args:
        jobs: Any.
        nodes: Of the cluster.
    """
    largest = max((node.gpus for node in nodes), default=1)
    return [_cut(job, largest) if job.gpus > largest else job for job in jobs]


def _cut(job: Job, largest: int) -> Job:
    size = gcd(int(job.gpus), largest)
    return msgspec.structs.replace(job, gpus=size, pods=job.pods * int(job.gpus) // size)
