"""Deeply nested JSON in a line is a line like any other: decoders that give up on it say so by `RecursionError`."""

import pytest

from processors.diagnose.json_lines import json_message
from processors.grammar import mllog
from processors.job import JobProcessor
from processors.new_lines import container_text
from processors.state import JobState
from schedmate_records import LogChunk, Position
from tests.metric_values import value

DEEP = 100_000


@pytest.mark.parametrize("opening", ['{"a":', "["])
@pytest.mark.parametrize("depth", [1_200, DEEP])
def test_a_container_line_with_nested_brackets_is_left_as_it_is(opening: str, depth: int) -> None:
    line = f'{{"log":"hello","stream":"stdout","time":"2026-11-02T10:00:00Z","more":{opening * depth}'
    assert container_text([line]) == [line]


@pytest.mark.parametrize(
    "body", [':::MLLOG {{"key": "a", "value": {}}}', ":::MLL 1.5 a: {{{}}}", ":::MLPv0.5.0 a 1.5 (f) loss: {}"]
)
def test_an_event_with_nested_brackets_has_no_fields(body: str) -> None:
    for nested in ("[" * DEEP, "[" * DEEP + "]" * DEEP, '{"a":' * DEEP + "1" + "}" * DEEP):
        event = mllog.read(body.format(nested))
        assert event is not None
        assert not event.values


def test_a_message_among_nested_brackets_carries_no_line() -> None:
    assert json_message('{"a":' * DEEP + '{"message": "hi"}') in ("", "hi")


def test_a_chunk_of_such_lines_is_processed() -> None:
    nested = '{"a":' * 1_200 + "1" + "}" * 1_200
    lines = [
        f'{{"log":"hello","time":"2026-11-02T10:00:00Z","more":{nested}}}',
        nested,
        f":::MLLOG {nested}",
        "[" * DEEP,
    ]
    chunk = LogChunk(job="7", producer="p", lines=[*lines, "step 1 loss 2.0"], time=100.0)
    processor = JobProcessor()
    processor.process(JobState(job="7"), Position("job-logs", 0, 0), chunk)
    assert value(processor.reader.metrics.lines) == 5
