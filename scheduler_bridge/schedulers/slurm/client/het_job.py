"""A heterogeneous job as one job.

Slurm lists its parts one by one (`12+0`, `12+1`), starts and requeues them together, and gives all their processes the number of the
first part as SLURM_JOB_ID. So that number names the whole: in logs, in events and in what is done.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from .job import ENDED, SlurmJob


def merge(parts: Sequence[SlurmJob]) -> SlurmJob:
    """Return the whole job.

    Its first part, whose script is the job's, shows what it is and how it ended; it is over once all parts are. What a node asks
    for differs between parts, so that is left out.

    Args:
        parts: Its parts, the first one first.
    """
    first = parts[0]
    over = [part.state in ENDED for part in parts]
    gpus = [part.gpus for part in parts if part.gpus]
    excluded = (name for name in first.excluded_nodes if all(name in part.excluded_nodes for part in parts))
    return replace(
        first,
        job=first.number,
        state="COMPLETING" if over[0] and not all(over) else first.state,
        nodes=_joined(part.nodes for part in parts),
        devices=frozenset().union(*(part.devices for part in parts)),
        gpus=sum(gpus) if gpus else None,
        shards=sum(part.shards for part in parts),
        ended=max((part.ended for part in parts if part.ended), default=None) if all(over) else None,
        reason=next((part.reason for part in parts if part.reason), ""),
        held=any(part.held for part in parts),
        requeue=all(part.requeue for part in parts),
        required_nodes=_joined(part.required_nodes for part in parts),
        excluded_nodes=tuple(excluded),
        tres_per_node="",
        tres_per_job="",
        tres_per_task="",
        node_count=sum(part.node_count for part in parts),
        cpus=sum(part.cpus for part in parts),
        tasks=sum(part.tasks for part in parts),
        memory=max(part.memory for part in parts),
        exclusive=any(part.exclusive for part in parts),
        shares={name: share for part in parts for name, share in part.shares.items()},
        parts=tuple(parts),
    )


def merge_all(jobs: Mapping[str, SlurmJob]) -> list[SlurmJob]:
    """Return jobs as they are, and those parts of heterogeneous jobs whose first one is among them as one job each.

    Args:
        jobs: By Slurm's own number.
    """
    alone = [job for job in jobs.values() if not job.het_numbers]
    firsts = (job for job in jobs.values() if job.het_numbers and job.number == job.het_numbers[0])
    whole = [merge([jobs[number] for number in first.het_numbers if number in jobs]) for first in firsts]
    return alone + whole


def _joined(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for some in names for name in some))
