"""Targets of messages: what stands on a topic becomes a record or a dead letter, and processors take every record."""

from functools import partial
from random import Random

from processors.job import JobProcessor
from processors.new_lines import container_text
from processors.node import NodeProcessor
from schedmate_records import BY_NAME, InvalidRecord, LogChunk, NodeLogChunk, Position, check, decode, encode
from streams.accept import accept, refuse
from streams.otlp.chunks import split
from streams.transport import Message
from tests.schedmate_records.made_up import made_up

from .targets import target, text

_JOB = JobProcessor(ask_models=True)
_NODE = NodeProcessor()


def _message(topic: str, value: bytes, key: bytes = b"7") -> Message:
    return Message(Position(topic, 0, 1), key, value, 1e9)


def _examples(topic: str) -> list[bytes]:
    """Some records of a topic as they stand on it."""
    chance = Random(1)
    made = (made_up(BY_NAME[topic].record, chance) for _ in range(200))
    return [encode(each) for each in made if each is not None][:20]


def _register(topic: str) -> None:
    def take(data: bytes) -> None:
        message = _message(topic, data)
        try:
            record = accept(message)
        except InvalidRecord as error:
            letter = refuse(message, str(error))
            check(letter)
            assert decode(type(letter), encode(letter)) == letter
            raise
        assert encode(decode(type(record), encode(record))) == encode(record)

    sources = ("streams/test_accept.py",) if topic == "job-logs" else ()
    target(*sources, raises=InvalidRecord, more=partial(_examples, topic), name=f"message_{topic.replace('-', '_')}")(
        take
    )


for _topic in BY_NAME:
    _register(_topic)


@target("streams/test_accept.py", "processors/test_nested_json.py", raises=InvalidRecord)
def job_log_message(data: bytes) -> None:
    """A message of any form, and the processors of its job."""
    state = _JOB.fresh("7")
    for offset, value in enumerate(data.split(b"\x1e")):
        record = accept(_message("job-logs", value))
        for made in _JOB.process(state, Position("job-logs", 0, offset), record):
            assert decode(type(made), encode(made)) == made


@target(
    "processors/diagnose",
    "processors/track",
    "processors/test_container_log.py",
    "processors/classify",
    "processors/read",
)
def job_log_lines(data: bytes) -> None:
    """Lines that a job prints: progress, tracebacks, what containers and loggers wrap around them."""
    lines = text(data).split("\n")[:2000]
    state = _JOB.fresh("7")
    for number in range(0, len(lines), 500):
        chunk = LogChunk(job="7", producer="p", lines=lines[number : number + 500], time=1e9 + number, first_line=number + 1,
                         first_piece=number + 1, seq=number)  # fmt: skip
        for made in _JOB.process(state, Position("job-logs", 0, number), chunk):
            assert decode(type(made), encode(made)) == made


@target("processors/test_container_log.py")
def container_lines(data: bytes) -> None:
    """Lines of CRI and of Docker: as many come out as went in."""
    lines = text(data).split("\n")
    assert len(container_text(lines)) == len(lines)


@target("processors/diagnose/nodes", "processors/test_node.py")
def node_log_lines(data: bytes) -> None:
    """Lines of the kernel and of the system."""
    state = _NODE.fresh("n1")
    chunk = NodeLogChunk(node="n1", producer="p", lines=text(data).split("\n")[:500], time=1e9)
    for made in _NODE.process(state, Position("node-logs", 0, 1), chunk):
        assert decode(type(made), encode(made)) == made


def _otlp_requests() -> list[bytes]:
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    request = ExportLogsServiceRequest()
    of_resource = request.resource_logs.add()
    attribute = of_resource.resource.attributes.add()
    attribute.key, attribute.value.string_value = "k8s.job.name", "7"
    record = of_resource.scope_logs.add().log_records.add(time_unix_nano=10**18)
    record.body.string_value = "step 3 loss 0.5"
    return [request.SerializeToString()]


@target("streams/otlp", raises=InvalidRecord, more=_otlp_requests)
def otlp_request(data: bytes) -> None:
    """A request of OpenTelemetry as JSON or protobuf."""
    found = split(_message("job-logs", data))
    for record in found.chunks:
        assert encode(record)
