"""Activity of the GPUs of each job on a node: the path of one sample.

sample → activity of its GPU → attempt that holds it → a record for each attempt whose GPUs changed, or that had none for a while
"""

from collections.abc import Mapping

import msgspec

from schedmate_records import GpuActivity, GpuSample, GpuSpan, GpuState, JobReference, Placement, Position, derived_id

from .gpu import GAP_S, FollowedGpu

GPUS = 64
"""GPUs of a node that are followed; one more takes the place of the one that was silent for longest."""
SETTLE_S = 5.0
"""Seconds between a change and its record: the other GPUs of the job change in this time."""
FIRST_S, LAST_S = 60.0, 600.0
"""Shortest and longest time between two records of the same state, in seconds. In between, a record follows once the state has lasted
twice as long."""


class JobGpus(msgspec.Struct):
    """State of the GPUs of an attempt.

    Attributes:
        told: State of each GPU in the newest record.
        since: Time of the first record of these states.
        time: Time of the newest record; 0 before the first.
        changed: When it was seen to be otherwise; null where it is not.
        seconds: GPU-seconds in each state.
    """

    told: dict[int, GpuState] = {}
    since: float = 0.0
    time: float = 0.0
    changed: float | None = None
    seconds: dict[GpuState, float] = {}


class NodeActivityState(msgspec.Struct):
    """State of a node.

    Attributes:
        gpus: By UUID, or by index where there is none.
        jobs: By job and attempt.
    """

    gpus: dict[str, FollowedGpu] = {}
    jobs: dict[str, JobGpus] = {}


def follow(
    sample: GpuSample, position: Position, live: Mapping[str, Placement], state: NodeActivityState
) -> list[GpuActivity]:
    """Return what `sample`, the record at `position`, changes for the attempts that are on the node.

    Args:
        sample: The sample.
        position: Its place.
        live: The attempts on the node then, by `Placement.run`.
        state: What is remembered of the node; it moves on.
    """
    gpu = _gpu(sample, state)
    elapsed = gpu.add_sample(sample)
    alone = next(iter(live.values())).job if len({each.job for each in live.values()}) == 1 else ""
    made = []
    for key, placement in live.items():
        span = _span(gpu, placement.job, alone, sample.time)
        if span is None:
            continue
        job = state.jobs.setdefault(key, JobGpus())
        job.seconds[span.state] = job.seconds.get(span.state, 0.0) + elapsed
        if not job.told and span.state is GpuState.UNKNOWN:
            continue  # nothing to report yet
        if job.told.get(gpu.gpu) is span.state:
            if job.changed is not None and _reported(_spans(state, placement.job, alone, sample.time)) == job.told:
                job.changed = None
        elif job.changed is None:
            job.changed = sample.time
        if _due(job, sample.time):
            spans = _spans(state, placement.job, alone, sample.time)
            told = _reported(spans)
            if told != job.told:
                job.told, job.since = told, sample.time
            job.time, job.changed = sample.time, None
            made.append(_record(key, spans, job, sample, position))
    return made + _end_records(sample, position, live, state)


def _gpu(sample: GpuSample, state: NodeActivityState) -> FollowedGpu:
    name = sample.uuid or str(sample.gpu)
    known = state.gpus.get(name)
    if known is None:
        if len(state.gpus) >= GPUS:
            del state.gpus[min(state.gpus, key=lambda each: state.gpus[each].time)]
        known = state.gpus[name] = FollowedGpu()
    return known


def _end_records(
    sample: GpuSample, position: Position, live: Mapping[str, Placement], state: NodeActivityState
) -> list[GpuActivity]:
    """Return the last records of attempts that are no longer on the node."""
    made = []
    for key in [key for key in state.jobs if key not in live]:
        over = state.jobs.pop(key)
        if over.told:
            made.append(_record(key, [], over, sample, position))
    return made


def _due(job: JobGpus, time: float) -> bool:
    if job.changed is not None:
        return time - job.changed >= SETTLE_S
    return time - job.time >= min(max(job.time - job.since, FIRST_S), LAST_S)


def _reported(spans: list[GpuSpan]) -> dict[int, GpuState]:
    return {each.gpu: each.state for each in spans}


def _spans(state: NodeActivityState, job: str, alone: str, time: float) -> list[GpuSpan]:
    spans = [span for gpu in state.gpus.values() if (span := _span(gpu, job, alone, time))]
    return sorted(spans, key=lambda each: each.gpu)


def _span(gpu: FollowedGpu, job: str, alone: str, time: float) -> GpuSpan | None:
    """Return what `gpu` does for `job`; None where it is another's. `alone`: the only job on the node; empty where there are several."""
    held = job in gpu.jobs
    if not held and not (alone == job and (gpu.foreign or gpu.empty)):
        return None
    if time - gpu.time > GAP_S:
        return GpuSpan(gpu=gpu.gpu, state=GpuState.UNKNOWN, since=gpu.time)
    shared = len(gpu.jobs) > 1 or (held and gpu.foreign)
    state = gpu.state
    if shared and state is GpuState.WORKING:
        state = GpuState.UNKNOWN  # for one of them, or for the other
    elif not held and gpu.empty and state is GpuState.IDLE:
        state = GpuState.VACANT
    rank = gpu.ranks[0] if held and not shared and len(gpu.ranks) == 1 else None
    return GpuSpan(gpu=gpu.gpu, state=state, since=gpu.unchanged_since, rank=rank)


def _record(run: str, spans: list[GpuSpan], known: JobGpus, sample: GpuSample, position: Position) -> GpuActivity:
    """Return the record for an attempt, which `Placement.run` names."""
    reference, _, attempt = run.rpartition("/")
    job, incarnation = JobReference.parse(reference)
    seconds = {state: known.seconds.get(state, 0.0) for state in GpuState}
    return GpuActivity(
        id=derived_id("gpu_activity", f"{run}/{sample.node}", position),
        job=job,
        attempt=int(attempt),
        incarnation=incarnation,
        node=sample.node,
        time=sample.time,
        gpus=spans,
        working_s=seconds[GpuState.WORKING],
        waiting_s=seconds[GpuState.WAITING],
        idle_s=seconds[GpuState.IDLE],
        vacant_s=seconds[GpuState.VACANT],
        unknown_s=seconds[GpuState.UNKNOWN],
    )
