"""Messages to records, foreign forms included.

Topics of ours hold records as JSON. `job-logs` takes two more forms, so that a job can be piped in with any tool: a bare
line of text under the job's id as key, and the JSON objects that Vector (`message`) and Fluent Bit (`log`) send. Both become
chunks of one line. OpenTelemetry's requests hold lines of many jobs: the engine splits them (`otlp`).
What cannot be read at all is for `dead-letters`, whole.
"""

import hashlib
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from schedmate_records import (
    BY_NAME,
    NOT_JSON,
    PRODUCER_EVENTS,
    DeadLetter,
    EventKind,
    InvalidRecord,
    JobEvent,
    LogChunk,
    Record,
    check,
    decode,
    derived_id,
)
from schedmate_records.bounds import LATEST, NAME, RANKS, is_name

from .otlp import is_otlp
from .transport import Message

CUT = 1 << 20
"""Number of bytes that it holds of a larger one: enough to see what it was. The topic has the rest for as long as it keeps it."""
_KEY = 1024
"""Bytes of a key that a dead letter holds: longer than any job's id."""
_STREAMS = ("stdout", "stderr")


def accept(message: Message, report: Callable[[str], None] | None = None) -> Record:
    """Return the record that `message` holds.

    Args:
        message: What was read.
        report: Called with the reason for each field of another tool's object that cannot be read. The line is kept without it.

    Raises:
        InvalidRecord: It holds none, or one with a field out of bounds; the message states what was expected and what came.
    """
    topic = message.position.topic
    if topic not in BY_NAME:
        raise InvalidRecord(f"expected one of SchedMate's topics, got {topic!r}")
    if topic == "job-logs":
        record: Record = _log_chunk(message, report or (lambda _: None))
    elif topic == "pipe-events":
        record = _pipe_event(message)
    else:
        record = decode(BY_NAME[topic].record, message.value)
    check(record)
    return record


def refuse(message: Message, reason: str, stage: str = "decode") -> DeadLetter:
    """Return the dead letter of `message`: whole where it fits into one, else its beginning and a checksum. It always fits."""
    place, key, value = message.position, message.key, message.value
    # A value of up to 4 MB is kept whole: base64 adds a third, and the topic takes 8 MB.
    cut = len(value) > (4 << 20)
    # Errors of decoders may quote long input: cut to 2,000 characters.
    return DeadLetter(
        id=derived_id("dead", (key or b"")[:_KEY].decode(errors="backslashreplace"), place),
        topic=place.topic,
        partition=place.partition,
        offset=place.offset,
        time=message.time,
        reason=reason[:2000],
        stage=stage,
        key=None if key is None else key[:_KEY],
        value=value[:CUT] if cut else value,
        size=len(value),
        sha256=hashlib.sha256(value).hexdigest(),
        truncated=cut or len(key or b"") > _KEY,
    )


def _pipe_event(message: Message) -> JobEvent:
    """Return what a producer of logs reports. Every user can write there, so nothing is accepted that only a scheduler may report."""
    event = decode(JobEvent, message.value)
    if event.kind not in PRODUCER_EVENTS.get(event.scheduler, ()):
        allowed = "; ".join(f"{', '.join(sorted(kinds))} of {name!r}" for name, kinds in PRODUCER_EVENTS.items())
        raise InvalidRecord(
            f"expected one of {allowed}, got {event.kind} of {event.scheduler!r}: only schedulers' watchers report that, on job-events"
        )
    if _key(message) != event.job:
        raise InvalidRecord(f"expected an event of job {_key(message)!r}, the message's key, got one of {event.job!r}")
    identity = f"{event.scheduler}/{event.job}/{event.attempt}/{event.kind}/"
    # Under the id of another job's event it would be stored, and that one be taken for a repeat.
    if not event.id.startswith(identity):
        raise InvalidRecord(f"expected an id that begins with {identity}, got {event.id[:200]!r}")
    if len(event.nodes) > 1:
        raise InvalidRecord(
            f"expected one node, the one that the pipe runs on, got {len(event.nodes)}: only schedulers' watchers name all nodes of a job"
        )
    # What a pipe may report: the identity of the event, and either the lines that were lost or its own command.
    reported = ["id", "job", "attempt", "incarnation", "kind", "time", "scheduler", "nodes", "detail"]
    if event.kind is EventKind.LINES_LOST:
        reported += ["lines"]
    else:
        reported += ["command", "directory", "user", "branch", "name", "exit_code", "signal"]
    if event.kind in (EventKind.RANK_STARTED, EventKind.RANK_ENDED):
        reported += ["rank"]
    return JobEvent(**{name: getattr(event, name) for name in reported})


def _log_chunk(message: Message, report: Callable[[str], None]) -> LogChunk:
    value = message.value
    if is_otlp(value):
        raise InvalidRecord(
            "expected lines of one job, got an OpenTelemetry request: a worker writes its lines here again as chunks"
        )
    if value[:1] == b"{":
        try:
            return decode(LogChunk, value)
        except InvalidRecord:
            try:
                fields = msgspec.json.decode(value)
            except NOT_JSON:
                fields = {}
            if "lines" in fields:
                raise
        text = next((fields[name] for name in ("message", "log") if isinstance(fields.get(name), str)), None)
        if text is not None:
            return _foreign(message, text, fields, report)
    return _foreign(message, value.decode(errors="backslashreplace"), {}, report)


def _foreign(message: Message, text: str, fields: Mapping[str, Any], report: Callable[[str], None]) -> LogChunk:
    """Return a chunk of the lines of `text`. A field of `fields` that cannot be read is reported and gets its default."""
    job = _name(fields, ("job", "job_id", "slurm_job_id"), report) or _key(message)
    if not job:
        raise InvalidRecord(
            "expected the job's id as the message's key, or in a field `job` of the JSON object; got neither: "
            "set the key in the producer (Kafka's console producer: --property parse.key=true)"
        )
    rank, stream = fields.get("rank"), fields.get("stream")
    number = _rank(rank)
    if rank is not None and number is None:
        report(f"expected a number from 0 to {RANKS} in rank, got {_quoted(rank)}")
    if stream is not None and stream not in _STREAMS:
        report(f"expected {' or '.join(_STREAMS)} in stream, got {_quoted(stream)}")
    return LogChunk(
        job=job,
        node=_name(fields, ("host", "node"), report),
        rank=number or 0,
        stream=stream if stream in _STREAMS else "stdout",
        lines=text.rstrip("\n").split("\n"),
        time=_time(fields, message.time, report),
    )


def _name(fields: Mapping[str, Any], names: tuple[str, ...], report: Callable[[str], None]) -> str:
    """Return the first of the fields `names` that is a name; empty where none is."""
    for name in names:
        if not (value := fields.get(name)):
            continue
        if isinstance(value, str | int) and not isinstance(value, bool) and is_name(text := str(value)):
            return text
        report(f"expected at most {NAME} printable characters in {name}, got {_quoted(value)}")
    return ""


def _rank(value: object) -> int | None:
    """Return the rank that `value` gives: a whole number, or its digits as text, as parsers of log shippers write them."""
    # A number given as text has 20 characters at most.
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdecimal() and len(value) < 20:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    # A bool is an int, too. As a rank it would make a state that cannot be stored.
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= RANKS else None


def _quoted(value: object) -> str:
    return repr(value)[:80]


def _key(message: Message) -> str:
    return (message.key or b"").decode(errors="backslashreplace")


def _time(fields: Mapping[str, Any], otherwise: float, report: Callable[[str], None]) -> float:
    for name in ("timestamp", "date", "@timestamp", "time"):
        if (value := fields.get(name)) is None:
            continue
        if 0 < (time := _seconds(value)) <= LATEST:
            return time
        report(f"expected seconds since 1970 or an ISO 8601 time in {name}, got {_quoted(value)}")
    return otherwise


def _seconds(value: object) -> float:
    """Return a time in seconds since 1970; 0 for what is none."""
    try:
        if isinstance(value, str):
            return datetime.fromisoformat(value).timestamp()
        return float(value) if isinstance(value, int | float) else 0.0
    except (ValueError, OverflowError):
        return 0.0
