"""Placement of a job: consolidated as in Lucid's simulator, or pod by pod on the best node."""

import math
from collections.abc import Sequence

from .cluster import Cluster
from .job import Job, Slice


def consolidated(cluster: Cluster, job: Job) -> tuple[Slice, ...] | None:
    """Place a job on as few nodes as possible, or not at all.

    Up to a node's GPUs: the node with the fewest free GPUs that suffices. More: wholly free nodes, and what is left over on the next
    node by free GPUs, if that has room (Hu et al., Lucid, ASPLOS 2023, section 3.5; the rules of its simulator). Where GPUs have types,
    a job that names one gets nodes of that type alone.

    Args:
        cluster: Nodes that all have the same number of GPUs.
        job: `total_gpus` of it are placed, rounded up to whole GPUs; below 1 it gets a share.

    Returns:
        What was given, or None where it does not fit; then nothing was.
    """
    if job.total_gpus < 1:
        return _share(cluster, job)
    need = math.ceil(job.total_gpus - 1e-9)
    if need > cluster.free:
        return None
    return _on_one(cluster, need, job.gpu_type) if need <= cluster.largest else _on_many(cluster, need, job.gpu_type)


def _on_one(cluster: Cluster, need: int, gpu_type: str) -> tuple[Slice, ...] | None:
    for free in range(need, cluster.largest + 1):
        index = _first(cluster, cluster.by_free[free], gpu_type)
        if index is not None:
            return (cluster.allocate(index, need),)
    return None


def _on_many(cluster: Cluster, need: int, gpu_type: str) -> tuple[Slice, ...] | None:
    whole, rest = divmod(need, cluster.largest)
    idle = _some(cluster, cluster.by_free[cluster.largest], gpu_type, whole + 1)
    if len(idle) < whole:
        return None
    last: int | None = None
    if rest:
        last = idle[whole] if len(idle) > whole else _freest(cluster, rest, gpu_type)
        if last is None:
            return None
    pieces = [cluster.allocate(index, cluster.largest) for index in idle[:whole]]
    if last is not None:
        pieces.append(cluster.allocate(last, rest))
    return tuple(pieces)


def best_fit(cluster: Cluster, job: Job) -> tuple[Slice, ...] | None:
    """Place each pod on the node with the fewest free GPUs that suffices; all pods, or none.

    Returns:
        What was given, or None where it does not fit; then nothing was.
    """
    if job.gpus < 1:
        if job.pods == 1:
            return _share(cluster, job)
    elif job.total_gpus > cluster.free:
        return None
    pieces: list[Slice] = []
    for _ in range(job.pods):
        piece = _pod(cluster, job)
        if piece is None:
            cluster.release(pieces)
            return None
        pieces.append(piece)
    return tuple(pieces)


def _pod(cluster: Cluster, job: Job) -> Slice | None:
    if job.gpus < 1:
        share = _share(cluster, job)
        return share[0] if share else None
    one = _on_one(cluster, int(job.gpus), job.gpu_type)
    return one[0] if one else None


def _share(cluster: Cluster, job: Job) -> tuple[Slice, ...] | None:
    for index in cluster.shared:
        node = cluster.nodes[index]
        if node.up and job.gpu_type in {"", node.spec.gpu_type} and node.fits_share(job.gpus) is not None:
            return (cluster.allocate_share(index, job.gpus),)
    for free in range(1, cluster.largest + 1):
        found = _first(cluster, cluster.by_free[free], job.gpu_type)
        if found is not None:
            return (cluster.allocate_share(found, job.gpus),)
    return None


def _first(cluster: Cluster, indices: Sequence[int], gpu_type: str) -> int | None:
    if not gpu_type:
        return indices[0] if indices else None
    return next((index for index in indices if cluster.nodes[index].spec.gpu_type == gpu_type), None)


def _some(cluster: Cluster, indices: Sequence[int], gpu_type: str, count: int) -> list[int]:
    if not gpu_type:
        return list(indices[:count])
    return [index for index in indices if cluster.nodes[index].spec.gpu_type == gpu_type][:count]


def _freest(cluster: Cluster, need: int, gpu_type: str) -> int | None:
    for free in range(cluster.largest - 1, 0, -1):
        index = _first(cluster, cluster.by_free[free], gpu_type)
        if index is not None:
            return index if free >= need else None
    return None
