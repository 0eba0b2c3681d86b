"""OpenTelemetry's logs become chunks of the jobs that they name."""

import contextlib
import json
import os
import sys
from collections import ChainMap
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.job import JobProcessor
from schedmate_records import DeadLetter, InvalidRecord, JobMetric, LogChunk, decode
from streams.accept import accept
from streams.otlp import LARGEST, MOST_LINES, is_otlp, split
from streams.otlp.request import log_records
from streams.producers.pieces import PieceSplitter
from streams.runtimes.engine import Engine
from streams.runtimes.results import Results
from streams.transport import Message, Outgoing

from .requests import Sent, as_json, as_protobuf, message

ENCODINGS = pytest.mark.parametrize("encode", [as_json, as_protobuf])
Encode = Callable[[Sent], bytes]
HASH = bytes(range(128, 144))
"""A key as `partition_logs_by_resource_attributes` makes it."""
JOB = {"job": "7", "host.name": "n1", "rank": 3, "attempt": 1}


def chunks(value: bytes, key: bytes | None = None, offset: int = 5) -> list[LogChunk]:
    found = split(message(value, key, offset))
    assert found.refused == ""
    return found.chunks


@ENCODINGS
@pytest.mark.parametrize(
    ("named", "stream"),
    [("stderr", "stderr"), ("err", "stderr"), ("out", "stdout"), ("stdout", "stdout"), ("debug", "stdout")],
)
def test_a_stream_may_go_by_the_ending_of_its_file(encode: Encode, named: str, stream: str) -> None:
    (chunk,) = chunks(encode([({**JOB, "stream": named}, [({}, "step 1", 100.5)])]))
    assert chunk.stream == stream


@ENCODINGS
def test_attributes_say_whose_lines_they_are(encode: Encode) -> None:
    sent = [(JOB, [({"log.iostream": "stderr"}, "step 1", 100.5), ({"log.iostream": "stderr"}, "step 2", 101.0)])]
    (chunk,) = chunks(encode(sent))
    assert (chunk.job, chunk.node, chunk.rank, chunk.attempt, chunk.stream) == ("7", "n1", 3, 1, "stderr")
    assert (chunk.lines, chunk.time, chunk.after_ms) == (["step 1", "step 2"], 100.5, [0, 500])


@ENCODINGS
def test_a_request_is_split_by_job_and_rank(encode: Encode) -> None:
    sent = [
        ({"job": "7"}, [({"rank": 0}, "a", 1.0), ({"rank": 1}, "b", 1.0), ({"rank": 0}, "c", 2.0)]),
        ({"slurm.job.id": 8}, [({}, "d", 1.0)]),
    ]
    found = chunks(encode(sent), HASH)
    lines = {(chunk.job, chunk.rank): [] for chunk in found}  # type: ignore[var-annotated]
    for chunk in found:
        lines[chunk.job, chunk.rank] += chunk.lines
    assert lines == {("7", 0): ["a", "c"], ("7", 1): ["b"], ("8", 0): ["d"]}


@ENCODINGS
def test_a_body_of_several_lines_and_one_that_is_no_text(encode: Encode) -> None:
    sent = [
        ({"job": "7"}, [({}, "Traceback:\n  x\n", 1.0), ({}, {"loss": "0.5", "deep": {"a": 1}}, 1.0), ({}, "", 1.0)])
    ]
    (chunk,) = chunks(encode(sent))
    assert chunk.lines[:2] == ["Traceback:", "  x"]
    assert json.loads(chunk.lines[2])["loss"] == "0.5"
    assert len(chunk.lines) == 3


@pytest.mark.parametrize(
    ("bodies", "pieces"),
    [
        (["one\n", "\n", "  two \n"], ["one", "", "  two "]),
        (["one\r\n", "two\r\nthree"], ["one", "two", "three"]),
        (["\r", " 10%\r", " 20%\n"], [" 10%\r", " 20%"]),
        (["\r 10%\r 20%\rdone\n"], [" 10%\r", " 20%\r", "done"]),
    ],
)
def test_pieces_are_those_that_a_pipe_makes(bodies: list[str], pieces: list[str]) -> None:
    (chunk,) = chunks(as_json([({"job": "7"}, [({}, body, 1.0) for body in bodies])]))
    assert chunk.lines == pieces
    whole, splitter = "".join(bodies).encode(), PieceSplitter()
    assert [line for part in (splitter.feed(whole, 1.0), splitter.finish(1.0)) for line in part.lines] == pieces


def test_a_time_that_goes_back_counts_as_at_once() -> None:
    (chunk,) = chunks(as_json([({"job": "7"}, [({}, "a", 5.0), ({}, "b", 4.0), ({}, "c", 0.0)])]))
    assert (chunk.time, chunk.after_ms) == (5.0, [0, 0, 7500])


@ENCODINGS
def test_a_clock_beyond_reach_spoils_no_other_lines(encode: Encode) -> None:
    sent = [({"job": "7"}, [({}, "a", 5.0), ({}, "b", 6.0)]), ({"job": "8"}, [({}, "c", 9e9), ({}, "d", 10.0)])]
    found = chunks(encode(sent))
    assert [(chunk.job, chunk.lines) for chunk in found] == [("7", ["a", "b"]), ("8", ["c", "d"])]
    assert found[1].time == message(b"").time


@ENCODINGS
def test_what_a_resource_says_costs_once_not_once_a_record(encode: Encode) -> None:
    """A request of 2 MB, half attributes and half empty records, took minutes: each record got a copy of all attributes."""
    value = encode([({"job": "7"} | {f"a{place}": 1 for place in range(1000)}, [({"rank": 1}, "x", 1.0)] * 1000)])
    known = [record.attributes for record in log_records(value)]
    assert all(each["job"] == "7" and int(each["rank"]) == 1 for each in known)
    assert len({id(each.maps[1]) for each in known if isinstance(each, ChainMap)}) == 1


def test_a_long_line_is_cut_and_a_long_request_is_many_chunks() -> None:
    sent = [({"job": "7"}, [({}, "x" * 70_000, 1.0), *(({}, f"line {place}", 1.0) for place in range(1200))])]
    found = chunks(as_json(sent))
    assert [len(part) for part in found[0].lines] == [32768, 32768, 4464][: len(found[0].lines)]
    assert max(len(chunk.lines) for chunk in found) <= 500
    numbers = [chunk.first_piece + place for chunk in found for place in range(len(chunk.lines))]
    assert numbers == list(range(numbers[0], numbers[0] + 1203))


def test_later_requests_have_later_numbers() -> None:
    value = as_json([({"job": "7"}, [({}, "a\n" * MOST_LINES, 1.0)])])
    last = chunks(value, offset=5)[-1]
    assert last.first_piece + len(last.lines) <= chunks(value, offset=6)[0].first_piece


def test_a_message_under_a_jobs_key_speaks_for_that_job_alone() -> None:
    value = as_json([({"job": "7"}, [({}, "mine", 1.0)]), ({"job": "8"}, [({}, "forged", 1.0)])])
    found = split(message(value, b"7"))
    assert [(chunk.job, chunk.lines) for chunk in found.chunks] == [("7", ["mine"])]
    assert "1 of its log records were left out: expected lines of job '7'" in found.refused
    assert {chunk.job for chunk in chunks(value, HASH)} == {"7", "8"}


def test_under_a_jobs_key_no_attribute_need_name_it() -> None:
    assert chunks(as_json([({}, [({}, "a", 1.0)])]), b"4711_3")[0].job == "4711_3"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (as_json([({}, [({}, "a", 1.0)])]), "expected the job's id in an attribute job"),
        (as_json([({"job": "7", "rank": "first"}, [({}, "a", 1.0)])]), "expected a number as rank"),
        (as_json([({"job": "7" * 300}, [({}, "a", 1.0)])]), "at most 256 printable characters in job"),
        (as_json([({"job": "7\x1b"}, [({}, "a", 1.0)])]), "printable characters in job"),
        (b'{"resourceLogs":[{"scopeLogs":3}]}', "as JSON"),
        (b'{"resourceLogs":[{"resource":{"attributes":[', "as JSON"),
        (as_protobuf([({"job": "7"}, [({}, "a", 1.0)])])[:-1] + b"\xff\xff", "protobuf"),
        (as_json([({"job": "7"}, [({}, "\n" * (MOST_LINES + 2) + "x", 1.0)])]), f"at most {MOST_LINES:,} lines"),
        (as_json([({"job": f"made-up-{number}"}, [({}, "x", 1.0)]) for number in range(1001)]), "at most 1,000 jobs"),
        (b'{"resourceLogs":[]}' + b" " * LARGEST, "at most 2,097,152 bytes"),
        (
            b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":' + b'{"arrayValue":{"values":[' * 100_000,
            "expected",
        ),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_what_cannot_be_used_says_why(value: bytes, reason: str) -> None:
    assert is_otlp(value) or b"\xff" in value
    with pytest.raises(InvalidRecord, match=reason):
        split(message(value))


def test_without_the_extra_protobuf_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    value = as_protobuf([({"job": "7"}, [({}, "a", 1.0)])])
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.logs.v1.logs_pb2", None)
    with pytest.raises(InvalidRecord, match="otlp_json"):
        split(message(value))


@given(st.binary(max_size=200))
def test_any_bytes_are_split_or_refused(value: bytes) -> None:
    for prefix in (b"", b'{"resourceLogs":[', b"\n"):
        with contextlib.suppress(InvalidRecord):
            assert all(chunk.job == "7" for chunk in split(message(prefix + value, b"7")).chunks)


@given(st.text(max_size=80).filter(lambda text: not text.startswith('{"resourceLogs')))
def test_text_is_not_taken_for_a_request(text: str) -> None:
    assert not is_otlp(text.lstrip("\n").encode())
    assert not is_otlp(("\n\n" + text.lstrip("\n")).encode())


def written(results: Results, topic: str) -> list[Outgoing]:
    return [each for each in results.records if each.topic == topic]


def again(results: Results, offset: int) -> list[Message]:
    """What the engine wrote to `job-logs`, as it reads it next."""
    return [
        Message(message(b"", each.key, offset + place).position, each.key, each.value or b"", 13.0)
        for place, each in enumerate(written(results, "job-logs"))
    ]


@ENCODINGS
def test_a_worker_reads_measurements_of_it_once(encode: Encode) -> None:
    lines = [({}, f"step {step} | loss {1 / step:.4f} | step_time 0.25 s", 100.0 + step) for step in range(1, 31)]
    request = message(encode([({"job": "7", "host.name": "n1"}, lines)]), HASH)
    engine = Engine(JobProcessor())
    first = engine.handle([request])
    assert not written(first, "dead-letters")
    (metric,) = written(engine.handle(again(first, 10)), "job-metrics")
    assert decode(JobMetric, metric.value or b"").step == 30
    # A crash between the writing and the commit: the request is split once more.
    repeated = engine.handle([request])
    assert written(repeated, "job-logs") == written(first, "job-logs")
    assert not written(engine.handle(again(repeated, 20)), "job-metrics")


def test_a_worker_keeps_what_names_no_job_as_a_dead_letter() -> None:
    value = as_json([({"job": "7"}, [({}, "a", 1.0)]), ({}, [({}, "b", 1.0)])])
    results = Engine(JobProcessor()).handle([message(value)])
    assert len(written(results, "job-logs")) == 1
    (letter,) = written(results, "dead-letters")
    known = decode(DeadLetter, letter.value or b"")
    assert known.value == value
    assert known.reason.startswith("1 of its log records were left out")


def test_who_reads_lines_of_one_job_passes_requests_over() -> None:
    with pytest.raises(InvalidRecord, match="OpenTelemetry"):
        accept(message(as_json([({"job": "7"}, [({}, "a", 1.0)])]), b"7"))


def test_random_bodies_come_back_as_they_were() -> None:
    bodies = [os.urandom(9).decode("latin-1").translate({10: "n", 13: "r"}) for _ in range(50)]
    sent = [({"job": "7"}, [({}, body, 1.0) for body in bodies])]
    for encode in (as_json, as_protobuf):
        assert [line for chunk in chunks(encode(sent)) for line in chunk.lines] == bodies
    assert msgspec.json.decode(as_json(sent))["resourceLogs"]
