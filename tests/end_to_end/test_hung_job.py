"""A job of four GPUs on two nodes whose last rank never comes to a collective, as samples recorded on a real H100 show it."""

from collections.abc import Iterable
from heapq import merge
from operator import attrgetter

import msgspec
import pytest

from processors.job import JobProcessor
from processors.node import NodeProcessor
from schedmate_records import Alarm, AlarmKind, GpuActivity, GpuState, LogChunk, Record
from streams.memory import MemoryBroker
from streams.runtimes.engine import Engine
from streams.runtimes.local_worker import LocalWorker
from streams.transport import outgoing
from tests.processors.activity.samples import at_work, recorded, stretched, without_work

TRAIN, HELD, ENDLESS, _ = recorded()
WORK, WAIT, IDLE = at_work(TRAIN), without_work(ENDLESS)[1:], without_work(HELD)[1:]
START, HUNG, END = 10_000.0, 10_600.0, 11_600.0
JOBS, NODES = JobProcessor(), NodeProcessor()


def log(times: Iterable[float]) -> list[LogChunk]:
    """Return what rank 0 prints until it hangs, then what its pipe says of the silence; rank 3 on the other node begins."""
    made = [
        LogChunk(
            job="7", node="n2", rank=3, producer="q", lines=["rank 3 is up"], time=START, first_line=1, first_piece=1
        )
    ]
    steps = [START + 2 * number for number in range(int(HUNG - START) // 2)]
    for number, time in enumerate(steps, start=1):
        lines = [f"step {number} | loss {9 / number:.4f} | 0.5 it/s"]
        made.append(
            LogChunk(job="7", node="n1", producer="p", lines=lines, time=time, first_line=number, first_piece=number)
        )
    return [*made, *(LogChunk(job="7", node="n1", producer="p", lines=[], time=steps[-1] + later) for later in times)]


def samples(*, missing: bool = True) -> list[Record]:
    parts = []
    for gpu in range(4):
        node, last = f"n{1 + gpu // 2}", IDLE if missing and gpu == 3 else WAIT
        parts += [
            stretched(WORK, START, HUNG, gpu=gpu, node=node),
            stretched(last, HUNG, END, gpu=gpu, node=node),
        ]
    return list(merge(*parts, key=attrgetter("time")))


def results_by_id(records: list[Record], restart_every: int = 0, batch: int = 500) -> dict[str, Record]:
    """Return the alarms and what was told of GPUs, by id, as the workers of one process make them."""
    broker = MemoryBroker()
    worker = LocalWorker(broker, [Engine(JOBS), Engine(NODES)])
    steps = 0
    for record in sorted(records, key=attrgetter("time")):
        broker.append(outgoing(record))
        while worker.step(limit=batch):
            steps += 1
            if restart_every and not steps % restart_every:
                worker = LocalWorker(broker, [Engine(JOBS), Engine(NODES)])
    kinds = {"alarms": Alarm, "gpu-activity": GpuActivity}
    made = [
        msgspec.json.decode(message.value, type=kind) for topic, kind in kinds.items() for message in broker.read(topic)
    ]
    return {each.id: each for each in made}


def alarms(records: list[Record]) -> list[Alarm]:
    return [each for each in results_by_id(records).values() if isinstance(each, Alarm)]


HEARTBEATS = (60.0, 120.0, 240.0, 480.0)
"""When `pipe` says that a stream is silent."""


def test_the_hang_is_found_earlier_and_the_missing_rank_is_named() -> None:
    alone, *_ = alarms(log(HEARTBEATS))
    alarm, *again = alarms([*log(HEARTBEATS), *samples()])
    assert (alone.kind, alone.activity, alone.rank) == (AlarmKind.HANG, None, None)
    assert (alarm.kind, alarm.activity, alarm.node, alarm.rank) == (AlarmKind.HANG, GpuState.WAITING, "n2", 3)
    assert alarm.since == alone.since == HUNG - 2
    assert again
    assert {(each.since, each.activity, each.rank) for each in again} == {(HUNG - 2, GpuState.WAITING, 3)}
    assert (alarm.time - HUNG) <= 0.3 * (alone.time - HUNG)


def test_where_no_rank_is_missing_none_is_named() -> None:
    alarm, *_ = alarms([*log(HEARTBEATS), *samples(missing=False)])
    assert (alarm.activity, alarm.node, alarm.rank) == (GpuState.WAITING, "", None)


@pytest.mark.parametrize("restart_every", [7, 40])
def test_workers_that_take_over_tell_the_same(restart_every: int) -> None:
    around = [each for each in [*log(HEARTBEATS), *samples()] if abs(each.time - HUNG) < 120]  # type: ignore[attr-defined]
    expected = results_by_id(around)
    assert any(isinstance(each, Alarm) for each in expected.values())
    assert results_by_id(around, restart_every) == expected
