"""What becomes a record, and what becomes a dead letter."""

import base64
import contextlib
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schedmate_records import BY_NAME, EventKind, InvalidRecord, JobEvent, LogChunk, Position, Workload, decode, encode
from streams.accept import accept, refuse
from streams.transport import Message, outgoing

CHUNK = LogChunk(job="7", lines=["a", "b"], time=1.0, producer="p", first_line=1, first_piece=1)


def message(value: bytes, key: bytes | None = b"7", topic: str = "job-logs") -> Message:
    return Message(Position(topic, 1, 5), key, value, 12.5)


def chunk(value: bytes, key: bytes | None = b"7") -> LogChunk:
    record = accept(message(value, key))
    assert isinstance(record, LogChunk)
    return record


def test_our_own_chunk() -> None:
    assert accept(message(encode(CHUNK))) == CHUNK


def test_bare_text_is_a_chunk_of_one_line() -> None:
    assert chunk(b"step 1 loss 0.5\n") == LogChunk(job="7", lines=["step 1 loss 0.5"], time=12.5)


def test_a_json_line_that_a_job_printed_is_text() -> None:
    assert chunk(b'{"loss": 0.5, "step": 3}').lines == ['{"loss": 0.5, "step": 3}']


def test_vector_and_fluent_bit() -> None:
    vector = {"message": "step 1", "host": "n1", "timestamp": "2026-01-02T03:04:05.5Z", "job_id": 9}
    assert chunk(json.dumps(vector).encode()) == LogChunk(job="9", node="n1", lines=["step 1"], time=1767323045.5)
    fluent = {"log": "step 1\n", "date": 1767323045.25, "stream": "stderr"}
    assert chunk(json.dumps(fluent).encode()) == LogChunk(
        job="7", lines=["step 1"], time=1767323045.25, stream="stderr"
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"timestamp": 1767323045250},
        {"time": 10**400},
        {"date": "0001-01-01T00:00:00"},
        {"rank": -1},
        {"host": {"name": "n1" * 200}},
        {"job": {"id": 8}},
    ],
    ids=["milliseconds", "endless", "early", "no rank", "host", "job"],
)
def test_what_a_line_says_in_another_sense_does_not_cost_the_line(fields: dict[str, object]) -> None:
    """Milliseconds, a rank of no group, an object for a host, as Elastic has it: all were dead letters."""
    assert chunk(json.dumps({"message": "step 1"} | fields).encode()) == LogChunk(job="7", lines=["step 1"], time=12.5)


@pytest.mark.parametrize("rank", [3, "3", " 3 ", "0003", 3.0])
def test_a_rank_may_be_a_number_or_its_digits(rank: object) -> None:
    value = {"log": "step 1 loss 2.0", "job": "4711", "rank": rank, "host": "n1"}
    reported: list[str] = []
    read = accept(message(json.dumps(value).encode()), reported.append)
    assert read == LogChunk(job="4711", node="n1", rank=3, lines=["step 1 loss 2.0"], time=12.5)
    assert not reported


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"rank": "rank3"}, "expected a number from 0 to 1000000 in rank, got 'rank3'"),
        ({"rank": "1" * 5000}, "in rank, got '1111"),
        ({"rank": -1}, "in rank, got -1"),
        ({"rank": 3.5}, "in rank, got 3.5"),
        ({"rank": True}, "in rank, got True"),
        ({"rank": 2**31}, "in rank, got 2147483648"),
        ({"stream": "out"}, "expected stdout or stderr in stream, got 'out'"),
        ({"host": {"name": "n1"}}, "printable characters in host, got {'name'"),
        ({"job": "7\x1b"}, "printable characters in job, got"),
        ({"timestamp": "yesterday"}, "or an ISO 8601 time in timestamp, got 'yesterday'"),
    ],
)
def test_a_field_that_cannot_be_read_is_reported(fields: dict[str, object], reason: str) -> None:
    reported: list[str] = []
    read = accept(message(json.dumps({"message": "step 1"} | fields).encode()), reported.append)
    assert read == LogChunk(job="7", lines=["step 1"], time=12.5)
    (message_of_it,) = reported
    assert reason in message_of_it
    assert len(message_of_it) < 200


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers())


@given(st.fixed_dictionaries(dict.fromkeys(("job", "rank", "stream", "node", "host", "time", "lines"), VALUES)))
@example({"job": "7", "rank": True})
def test_whatever_other_tools_write_makes_a_chunk_that_can_be_written_and_read(fields: dict[str, object]) -> None:
    given_fields = {name: value for name, value in fields.items() if value is not None}
    try:
        record = chunk(json.dumps({"message": "step 1", **given_fields}).encode())
    except InvalidRecord:
        return
    assert decode(LogChunk, encode(record)) == record


def test_broken_bytes_are_kept_readable() -> None:
    assert chunk(b"ok \xff\x00 bad").lines == ["ok \\xff\x00 bad"]


@pytest.mark.parametrize(
    ("value", "key", "topic", "reason"),
    [
        (b"text", None, "job-logs", "key"),
        (b'{"lines": 3, "job": "7", "time": 1}', b"7", "job-logs", "array"),
        (encode(CHUNK).replace(b'"v":1', b'"v":99'), b"7", "job-logs", "version 99"),
        (b"not json", b"7", "job-events", "JobEvent"),
        (b'{"v":1}', b"7", "failures", "missing required field"),
        (b"{}", b"7", "elsewhere", "SchedMate's topics"),
        (b'{"id":"x","job":"7","kind":"exploded","time":1}', b"7", "job-events", "exploded"),
    ],
)
def test_what_cannot_be_read_says_why(value: bytes, key: bytes | None, topic: str, reason: str) -> None:
    with pytest.raises(InvalidRecord, match=reason):
        accept(message(value, key, topic))


def test_a_dead_letter_holds_it_all() -> None:
    letter = refuse(message(b"\xff\x00", None), "because")
    sent = json.loads(encode(letter))
    assert base64.b64decode(sent["value"]) == b"\xff\x00"
    assert (letter.topic, letter.partition, letter.offset, letter.reason) == ("job-logs", 1, 5, "because")


def test_later_fields_are_ignored() -> None:
    value = b'{"id":"x","job":"7","kind":"started","time":1,"something_new":[1]}'
    assert isinstance(accept(message(value, topic="job-events")), JobEvent)


@given(st.binary(max_size=300), st.sampled_from(sorted(BY_NAME)))
def test_any_bytes_are_read_or_refused(value: bytes, topic: str) -> None:
    with contextlib.suppress(InvalidRecord):
        assert isinstance(accept(message(value, topic=topic)), BY_NAME[topic].record)


def pipe_event(**fields: object) -> JobEvent:
    return JobEvent(
        **{"id": "pipe/7/0/ended/p", "job": "7", "kind": "ended", "time": 1.0, "scheduler": "pipe"} | fields
    )  # type: ignore[arg-type]


def test_what_a_pipe_tells_goes_to_a_topic_of_its_own() -> None:
    assert outgoing(pipe_event(kind=EventKind.ENDED)).topic == "pipe-events"
    assert outgoing(pipe_event(kind=EventKind.LINES_LOST, scheduler="producer")).topic == "pipe-events"
    assert outgoing(pipe_event(kind=EventKind.ENDED, scheduler="slurm")).topic == "job-events"
    assert outgoing(pipe_event(kind=EventKind.ID_CONFLICT, scheduler="producer")).topic == "job-events"


def test_of_a_pipe_nothing_is_believed_that_a_scheduler_alone_may_say() -> None:
    about = {"nodes": ["n1"], "command": "python train.py", "directory": "/home/ada", "user": "ada", "detail": "d"}
    forged_fields = {
        "state": "NODE_FAIL",
        "packed_with": "8",
        "gpus": 4.0,
        "newcomer": True,
        "partition": "prod",
        "account": "a",
    }
    event = pipe_event(kind=EventKind.ENDED, exit_code=1, signal=0, lines=3, **about, **forged_fields)
    read = accept(message(encode(event), key=b"7", topic="pipe-events"))
    assert read == pipe_event(kind=EventKind.ENDED, exit_code=1, signal=0, **about)
    ranked = {"kind": EventKind.RANK_ENDED, "id": "pipe/7/0/rank_ended/p", "rank": 1, "exit_code": 1, "signal": 0}
    event = pipe_event(**ranked, **about, **forged_fields)
    assert accept(message(encode(event), key=b"7", topic="pipe-events")) == pipe_event(**ranked, **about)
    lost = {
        "id": "producer/7/0/lines_lost/p",
        "kind": EventKind.LINES_LOST,
        "scheduler": "producer",
        "nodes": ["n1"],
        "lines": 3,
    }
    event = pipe_event(**lost, user="eve", exit_code=1, command="x")
    assert accept(message(encode(event), key=b"7", topic="pipe-events")) == pipe_event(**lost)
    for forged in (
        pipe_event(kind=EventKind.PACKED, packed_with="8"),
        pipe_event(kind=EventKind.REQUEUED),
        pipe_event(kind=EventKind.DESCRIBED, workload=Workload(model_name="mine")),
        pipe_event(kind=EventKind.ENDED, scheduler="slurm"),
        pipe_event(kind=EventKind.ENDED, scheduler="producer", id="producer/7/0/ended/p"),
        pipe_event(kind=EventKind.STARTED, scheduler="producer", id="producer/7/0/started/p"),
        pipe_event(kind=EventKind.ENDED, scheduler="", id="/7/0/ended/p"),
        pipe_event(kind=EventKind.ENDED, job="8", id="pipe/8/0/ended/p"),
        pipe_event(kind=EventKind.ENDED, id="slurm/8/0/ended"),  # that event would be taken for a repeat of this one
        pipe_event(kind=EventKind.ENDED, id="pipe/8/0/ended/p"),
    ):
        with pytest.raises(InvalidRecord, match="expected"):
            accept(message(encode(forged), key=b"7", topic="pipe-events"))


def test_a_number_that_no_state_can_hold_is_refused() -> None:
    """An exit code of thirty digits was kept, and stopped the worker at one of the job's next messages."""
    value = encode(pipe_event(kind=EventKind.ENDED, exit_code=10**30))
    with pytest.raises(InvalidRecord, match="64 bits"):
        accept(message(value, topic="pipe-events"))


@pytest.mark.parametrize("nodes", [["n1", "n2"], [f"n{number}" for number in range(8192)], ["n1", "n1"]], ids=len)
def test_a_pipe_names_one_node(nodes: list[str]) -> None:
    accept(message(encode(pipe_event(nodes=["n1"])), topic="pipe-events"))
    accept(message(encode(pipe_event(nodes=[])), topic="pipe-events"))
    with pytest.raises(InvalidRecord, match="expected one node"):
        accept(message(encode(pipe_event(nodes=nodes)), topic="pipe-events"))


@pytest.mark.parametrize("name", ["n\x1b[2J", "", "n" * 257, "n\u202e"])
def test_a_node_name_that_readers_would_refuse_is_refused_at_once(name: str) -> None:
    for topic in ("pipe-events", "job-events"):
        with pytest.raises(InvalidRecord, match="nodes"):
            accept(message(encode(pipe_event(nodes=[name])), topic=topic))


@pytest.mark.parametrize("lines", [-5, 2**62])
def test_a_count_of_lost_lines_out_of_bounds_is_refused(lines: int) -> None:
    event = pipe_event(kind=EventKind.LINES_LOST, scheduler="producer", id="producer/7/0/lines_lost/p", lines=lines)
    with pytest.raises(InvalidRecord, match="in lines"):
        accept(message(encode(event), topic="pipe-events"))


@pytest.mark.parametrize("job", ["", " "])
def test_a_chunk_of_a_job_without_a_name_is_refused(job: str) -> None:
    for key in (b"7", b"", None):
        with pytest.raises(InvalidRecord, match="expected a name in job"):
            accept(message(encode(LogChunk(job=job, lines=["a"], time=1.0)), key))


def test_an_empty_job_in_another_tools_line_means_the_key() -> None:
    assert chunk(b'{"message": "step 1", "job": "", "host": ""}').job == "7"
    for key in (b"", b" "):
        with pytest.raises(InvalidRecord, match=r"expected (the job's id|a name in job)"):
            accept(message(b'{"message": "step 1", "job": " "}', key))
