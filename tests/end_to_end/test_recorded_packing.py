"""Two training jobs that shared a real H100: the slow-down that was there is found, measured right, and leads to the paper's action."""

import gzip
import itertools
from pathlib import Path

import msgspec
import pytest

from processors.job import JobProcessor
from schedmate_records import Action, EventKind, JobEvent, LogChunk, Slowdown, decode
from scheduler_bridge import BridgeSettings
from scheduler_bridge.policies import propose
from streams.memory import MemoryBroker
from streams.runtimes.engine import Engine
from streams.runtimes.local_worker import LocalWorker
from streams.transport import outgoing

RECORDED = Path(__file__).parents[1] / "recordings" / "h100_packing.jsonl.gz"
BY_ITS_OWN_CLOCK = 0.0631 / 0.1408
LOADING_S = 8.0
"""The newcomer is placed some seconds before it prints its first line."""


@pytest.mark.parametrize("later", [0, 2])
def test_the_slow_down_of_a_real_packing_is_found_and_measured(later: int) -> None:
    """Read from a few lines later on, half of the reports that a measurement rests on come from before."""
    lines = [msgspec.json.decode(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]
    packed = next(time for job, time, _ in lines if job == "second") - LOADING_S
    first = [(time, text) for job, time, text in lines if job == "first"][later:]
    event = JobEvent(id="e", job="first", kind=EventKind.PACKED, time=packed, nodes=["n1"], packed_with="second")
    chunks = [_chunk(list(part)) for _, part in itertools.groupby(first, lambda line: line[0] // 0.5)]
    broker = MemoryBroker()
    worker = LocalWorker(broker, [Engine(JobProcessor())])
    for record in sorted([event, *chunks], key=lambda record: record.time):
        broker.append(outgoing(record))
        while worker.step():
            pass
    found = [
        decode(Slowdown, message.value) for partition in range(4) for message in broker.read("slowdowns", partition)
    ]
    assert [(each.job, each.packed_job) for each in found] == [("first", "second")]
    assert abs(found[0].ratio - BY_ITS_OWN_CLOCK) < 0.01
    assert found[0].time - packed < 30
    assert [decision.action for decision in propose(found[0], BridgeSettings())] == [Action.CANCEL_PACKING]


def _chunk(lines: list[tuple[float, str]]) -> LogChunk:
    begin = lines[0][0]
    after = [round((time - begin) * 1000) for time, _ in lines]
    return LogChunk(job="first", node="n1", lines=[text for _, text in lines], time=begin, after_ms=after)
