"""Samples of GPUs: those recorded on a real one, and made ones."""

import gzip
from collections.abc import Iterable, Iterator
from itertools import cycle, islice
from math import ceil
from pathlib import Path

import msgspec

from processors.node import NodeProcessor
from processors.node_state import NodeState
from schedmate_records import GpuActivity, GpuProcess, GpuSample, GpuState, Placement, Position, Record, decode

RECORDED = Path(__file__).parents[2] / "recordings" / "h100_states.jsonl.gz"
TOPICS = {GpuSample: "gpu-metrics", Placement: "placements"}
EVERY_S = 5.0
PROCESSOR = NodeProcessor()


def recorded() -> list[list[GpuSample]]:
    """Return the four parts of the recording: work alone, then work and idle, work and an endless kernel, work and no data."""
    samples = [decode(GpuSample, line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()[1:]]
    parts: list[list[GpuSample]] = []
    for sample in samples:
        if not parts or sample.time - parts[-1][-1].time > 2:
            parts.append([])
        parts[-1].append(sample)
    return parts


def at_work(part: Iterable[GpuSample]) -> list[GpuSample]:
    return [each for each in part if (each.memory_utilisation or 0) > 1]


def without_work(part: Iterable[GpuSample]) -> list[GpuSample]:
    return [each for each in part if each.memory_utilisation == 0]


def stretched(
    samples: list[GpuSample],
    start: float,
    stop: float,
    *,
    gpu: int = 0,
    node: str = "n1",
    jobs: Iterable[str | None] = ("7",),
    every: float = EVERY_S,
) -> Iterator[GpuSample]:
    """Yield `samples` again and again, in order, from `start` to before `stop`, as of a GPU that holds processes of `jobs`."""
    processes = [GpuProcess(pid=9 + rank, job=job, rank=gpu) for rank, job in enumerate(jobs)]
    for number, sample in enumerate(islice(cycle(samples), ceil((stop - start) / every))):
        yield msgspec.structs.replace(
            sample, node=node, gpu=gpu, uuid=f"G{gpu}", time=start + number * every, processes=processes
        )


def stay(job: str = "7", since: float = 0.0, until: float | None = None, node: str = "n1") -> Placement:
    return Placement(job=job, node=node, since=since, seen=until or since, until=until)


def run(records: Iterable[Record]) -> list[GpuActivity]:
    """Return what a node's processor tells of activity; its state is stored and read back after each record."""
    state, made = NodeState(node="n1"), list[Record]()
    for offset, record in enumerate(records):
        made += PROCESSOR.process(state, Position(TOPICS[type(record)], 0, offset), record)
        state = msgspec.json.decode(msgspec.json.encode(state), type=NodeState)
    return [each for each in made if isinstance(each, GpuActivity)]


def states(told: Iterable[GpuActivity]) -> list[list[GpuState]]:
    """Return what each record says of each GPU, what it says again left out."""
    said: list[list[GpuState]] = []
    for one in told:
        now = [each.state for each in one.gpus]
        if not said or said[-1] != now:
            said.append(now)
    return said
