"""Which spot jobs go for a high-priority job, at least waste (GFS, Algorithm 2 and Eq. 17 to 19)."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

import msgspec

from .cluster import Node, Request, SpotJob, needed, suits
from .settings import GfsSettings


class SpotHistory(msgspec.Struct, frozen=True):
    """Ended and evicted spot runs of a period, and the capacity of the cluster in it.

    Attributes:
        ended: Spot runs that came to their end (G of Eq. 18).
        evicted: Spot runs that were evicted (F).
        gpu_seconds: GPUs of all nodes times the seconds of that time (the sum of S_k T).
    """

    ended: int
    evicted: int
    gpu_seconds: float


class PreemptionPlan(msgspec.Struct, frozen=True):
    """A plan for evictions that are not carried out yet.

    Attributes:
        victims: Spot jobs that go.
        nodes: The node of each pod of the high-priority job.
    """

    victims: tuple[str, ...]
    nodes: tuple[int, ...]


def waste(job: SpotJob) -> float:
    """Return the GPU seconds that are lost if a spot job is evicted now (Eq. 17).

    All its GPUs count, on all nodes: a gang stops whole. Time counts from the last checkpoint that is known to be safe, not from the last
    one that was begun.
    """
    return sum(job.gpus.values()) * job.unsaved_s


def cost(victims: Collection[SpotJob], history: SpotHistory, settings: GfsSettings) -> float:
    """Return what it costs to evict these (Eq. 19): the eviction rate that results, and the share of GPU time wasted."""
    evicted = history.evicted + len(victims)
    rate = evicted / (history.ended + evicted) if evicted else 0.0
    wasted = sum(waste(job) for job in victims) / history.gpu_seconds if history.gpu_seconds > 0 else 0.0
    return rate + settings.waste_weight * wasted


def most_wasteful_stay(jobs: Sequence[SpotJob], given: Sequence[int], surplus: int) -> list[SpotJob]:
    """Return who goes: the most wasteful to evict are taken back first, as long as the others suffice (Algorithm 2)."""
    going = []
    for k in sorted(range(len(jobs)), key=lambda k: (-waste(jobs[k]), jobs[k].job_id)):
        if given[k] <= surplus:
            surplus -= given[k]
        else:
            going.append(jobs[k])
    return going


def preempt(
    nodes: Sequence[Node],
    request: Request,
    history: SpotHistory,
    settings: GfsSettings,
) -> PreemptionPlan | None:
    """Return who goes for a high-priority job, and where its pods go then; None where evictions do not help.

    Pods find their nodes one after the other. On each node all spot jobs go virtually, and those whose GPUs are not needed are taken back,
    the most wasteful to evict first. Beyond the printed algorithm: a node that cannot hold the pod even then is no
    candidate; who goes for one pod frees GPUs on other nodes for the next; and a node of no cost ends the search.

    Args:
        nodes: Nodes that are up.
        request: The high-priority job.
        history: What became of spot jobs.
        settings: Parameters.
    """
    spare: dict[int, float] = defaultdict(float)
    victims: dict[str, SpotJob] = {}
    chosen: list[int] = []
    candidates = [node for node in nodes if suits(node, request)]
    for _ in range(request.pods):
        best: tuple[tuple[float, int], Node, list[SpotJob]] | None = None
        for node in candidates:
            going = _going(node, needed(request), spare, victims)
            if going is None:
                continue
            rank = (cost(going, history, settings) if going else -1.0, node.index)
            if best is None or rank < best[0]:
                best = rank, node, going
        if best is None:
            return None
        _, node, going = best
        for job in going:
            victims[job.job_id] = job
            for index, gpus in job.gpus.items():
                spare[index] += _freed_gpus(gpus)
        spare[node.index] -= needed(request)
        chosen.append(node.index)
    return PreemptionPlan(_wanted(victims, nodes, chosen, needed(request)), tuple(chosen))


def _going(node: Node, need: int, spare: Mapping[int, float], already: Mapping[str, SpotJob]) -> list[SpotJob] | None:
    """Return who of a node goes for one pod; None where that is not enough."""
    jobs = [job for job in node.spot if job.job_id not in already]
    given = [_freed_gpus(job.gpus.get(node.index, 0.0)) for job in jobs]
    surplus = int(node.idle + spare.get(node.index, 0.0) + sum(given) - need)
    if surplus < 0:
        return None
    return [] if surplus >= sum(given) else most_wasteful_stay(jobs, given, surplus)


def _wanted(victims: Mapping[str, SpotJob], nodes: Sequence[Node], chosen: Sequence[int], need: int) -> tuple[str, ...]:
    """Leave out victims that later ones, whose GPUs lie on several nodes, made needless; the most wasteful first."""
    free: dict[int, float] = {node.index: node.idle for node in nodes}
    for index in chosen:
        free[index] -= need
    kept = dict(victims)
    for job in victims.values():
        for index, gpus in job.gpus.items():
            free[index] = free.get(index, 0.0) + _freed_gpus(gpus)
    for job in sorted(victims.values(), key=lambda each: (-waste(each), each.job_id)):
        if all(free[index] >= _freed_gpus(gpus) for index, gpus in job.gpus.items() if index in chosen):
            del kept[job.job_id]
            for index, gpus in job.gpus.items():
                free[index] -= _freed_gpus(gpus)
    return tuple(kept)


def _freed_gpus(gpus: float) -> int:
    """Return the whole GPUs that an eviction surely frees: a shared one may have another job."""
    return int(gpus)
