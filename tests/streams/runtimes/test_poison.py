"""Messages that halt a worker which is not careful, on a real broker: each is put aside, and other jobs' results come."""

import os
import signal
from pathlib import Path

import pytest

from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import DeadLetter, JobMetric, LogChunk, Position, Record, decode, encode
from streams.kafka import KafkaProducer, read_back
from streams.runtimes.trial import Trial
from streams.transport import Message, Outgoing
from tests.servers.kafka import Kafka, refusing

from .workers import command, send, start, training, until, wait_for

NESTED = b'{"a":' * 1200 + b"1" + b"}" * 1200
DEADLY = "the line at which the process dies"


class Mortal(JobProcessor):
    """Dies without a word at one line, as native code does."""

    def process(self, state: JobState, position: Position, record: Record) -> list[Record]:
        if isinstance(record, LogChunk) and DEADLY in record.lines:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().process(state, position, record)


def message(offset: int, lines: list[str]) -> Message:
    chunk = LogChunk(job="j", producer="p", lines=lines, time=100.0, first_line=offset + 1, first_piece=offset + 1)
    return Message(Position("job-logs", 0, offset), b"j", encode(chunk), 100.0)


@pytest.mark.slow
def test_a_trial_finds_the_message_at_which_a_process_dies() -> None:
    messages = [message(0, ["step 1"]), message(1, [DEADLY]), message(2, ["step 2"])]
    trial = Trial(Mortal, 0, [], dict.fromkeys(JobProcessor().inputs, 0), [])
    assert trial.deadly(messages) == messages[1]
    assert trial.deadly([messages[0], messages[2]]) is None


def wait_for_letters(broker: Kafka, count: int, log: Path, seconds: float = 60) -> list[DeadLetter]:
    return [decode(DeadLetter, each.value) for each in wait_for(broker, ["dead-letters"], count, log, seconds)]


@pytest.mark.kafka
def test_no_message_halts_a_partition(own_kafka: Kafka, tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    producer = KafkaProducer(own_kafka.connection)
    bad = [
        Outgoing("job-events", b"j", NESTED, 0),
        Outgoing("job-events", b"j", b"\x81" * (13 << 19), 0),  # larger than a dead letter may be
        Outgoing("job-events", b"j", b'{"id":"1","job":"' + b"j" * 300 + b'","kind":"ended","time":1.0}', 0),
        Outgoing("job-logs", b"\xff\xfe", b'{"job":"a\\u0000b","lines":["x"],"time":1.0}', 0),
        Outgoing("job-logs", b"j", b'{"job":"j","lines":["x"],"time":1e300}', 0),
        Outgoing("job-logs", b"j", b'{"job":"j","rank":-5,"lines":["x"],"time":1.0}', 0),
        Outgoing("node-findings", b"j", NESTED, 0),
        Outgoing("gpu-metrics", b"n1", NESTED, 0),
    ]
    for written in [producer.send(each) for each in bad]:
        written.result(30)
    text = Outgoing("job-logs", b"nested-text", NESTED, 0)  # any text is a line of a log
    producer.send(text).result(30)
    send(own_kafka, training(jobs=4, chunks=3))
    with command(own_kafka, "worker", log=log) as worker:
        letters = wait_for_letters(own_kafka, len(bad), log)
        measured = lambda: read_back(own_kafka.connection, ["job-metrics"])  # noqa: E731  # read anew each time
        until(lambda: len({decode(JobMetric, each.value).job for each in measured()}) == 4, log)
        assert worker.poll() is None
    assert len(letters) == len(bad)
    (large,) = [letter for letter in letters if letter.truncated]
    assert large.size == 13 << 19
    producer.close()


@pytest.mark.kafka
@pytest.mark.slow
def test_a_worker_waits_for_a_broker_that_is_away_and_says_so_once(own_kafka: Kafka, tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    send(own_kafka, training(jobs=2, chunks=2))
    own_kafka.kill()
    with refusing(own_kafka.address) as tries:
        worker = start(own_kafka, "worker", log=log)
        until(lambda: "dependency_unavailable" in log.read_text() and len(tries) > 1, log)
    try:
        assert worker.poll() is None, log.read_text()
        assert len(log.read_text().splitlines()) <= 2, log.read_text()
        own_kafka.start()
        wait_for(own_kafka, ["job-metrics"], 1, log, seconds=120)
    finally:
        worker.kill()
        worker.wait()
