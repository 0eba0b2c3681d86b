"""Whatever records come, in whatever order: none stops a processor, and what it makes of them and remembers can be read back."""

from random import Random

import msgspec
import pytest

from processors.job import JobProcessor
from processors.keyed import KeyedProcessor
from processors.node import NodeProcessor
from schedmate_records import (
    GpuActivity,
    GpuSample,
    JobEvent,
    LogChunk,
    ModelAnswer,
    NodeFinding,
    NodeLogChunk,
    Placement,
    Position,
    Record,
    check,
    decode,
    encode,
)
from tests.schedmate_records.made_up import made_up

OF_A_JOB: tuple[type[Record], ...] = (LogChunk, LogChunk, LogChunk, JobEvent, GpuActivity, NodeFinding, ModelAnswer)
OF_A_NODE: tuple[type[Record], ...] = (NodeLogChunk, GpuSample, Placement)
RECORDS = 60


@pytest.mark.parametrize("plausible", [True, False])
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    ("processor", "kinds"),
    [(JobProcessor(ask_models=True), OF_A_JOB), (NodeProcessor(), OF_A_NODE)],
    ids=["job", "node"],
)
def test_no_record_stops_a_processor(
    processor: KeyedProcessor, kinds: tuple[type[Record], ...], seed: int, plausible: bool
) -> None:
    chance, state, taken, offset = Random(seed), processor.fresh("7"), 0, 0
    while taken < RECORDS:
        offset += 1
        near = {"time": 1e9 + offset, "since": 1e9, "attempt": chance.choice((0, 0, 1)), "rank": chance.choice((0, 1))}
        given = {"job": "7", "node": "7"} | (near if plausible else {})
        record = made_up(chance.choice(kinds), chance, **given)
        if record is None:
            continue
        taken += 1
        for made in processor.process(state, Position("topic", 0, offset), record):
            assert decode(type(made), encode(made)) == made
            check(made)
        msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=type(state))
