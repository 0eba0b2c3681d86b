"""Jobs to feed the runtimes with, and worker processes on a real broker."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from schedmate_records import EventKind, JobEvent, LogChunk, NodeLogChunk, Record
from streams.kafka import KafkaProducer, read_back
from streams.kafka.admin import admin_client
from streams.kafka.consumer import open_consumer
from streams.transport import Message, outgoing
from tests import waiting
from tests.servers.kafka import Kafka

ROOT = Path(__file__).resolve().parents[3]


def chunk(job: str, number: int, lines: list[str], per_chunk: int) -> LogChunk:
    first = number * per_chunk + 1
    return LogChunk(
        job=job,
        node="n1",
        producer=f"{job}-p",
        seq=number,
        lines=lines,
        time=1000.0 + 2 * number,
        first_line=first,
        first_piece=first,
    )


def training(jobs: int, chunks: int, per_chunk: int = 10) -> list[Record]:
    """Chunks of several jobs by turns; some of them die."""
    made: list[Record] = []
    for number in range(chunks):
        for index in range(jobs):
            job = f"job-{index}"
            steps = range(number * per_chunk + 1, (number + 1) * per_chunk + 1)
            lines = [
                f"step {step}/{chunks * per_chunk} | loss {10 / step:.4f} | step_time 0.{index + 1}25 s"
                for step in steps
            ]
            if number == chunks - 1 and index % 3 == 0:
                lines[-1] = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus."
            made.append(chunk(job, number, lines, per_chunk))
    return made


def complaining(chunks: int) -> list[Record]:
    """Chunks of the kernel log of the node of those jobs: one GPU after the other is lost."""
    line = "NVRM: Xid (PCI:0000:{:02x}:00): 79, pid=1234, name=python, GPU has fallen off the bus."
    return [
        NodeLogChunk(
            node="n1", producer="k", seq=number, lines=[line.format(number)], time=1000.0 + number, first_line=number + 1,
            first_piece=number + 1,
        )
        for number in range(chunks)
    ]  # fmt: skip


def endings(jobs: int) -> list[Record]:
    """The ends of those jobs."""
    return [
        JobEvent(
            id=f"end-{index}",
            job=f"job-{index}",
            kind=EventKind.ENDED,
            time=5000.0,
            exit_code=0 if index % 3 else 1,
            state="COMPLETED" if index % 3 else "FAILED",
        )
        for index in range(jobs)
    ]


def send(broker: Kafka, records: list[Record]) -> None:
    producer = KafkaProducer(broker.connection)
    for written in [producer.send(outgoing(record)) for record in records]:
        written.result(30)
    producer.close()


@contextmanager
def command(
    broker: Kafka, *arguments: str, log: Path, python: str = sys.executable, **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Run `schedmate` with `arguments` on `broker` until the block ends."""
    process = start(broker, *arguments, log=log, python=python, **environment)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def start(
    broker: Kafka, *arguments: str, log: Path, python: str = sys.executable, **environment: str
) -> subprocess.Popen[bytes]:
    chosen = {"SCHEDMATE_KAFKA__BROKERS": broker.address, "SCHEDMATE_KAFKA__SESSION_TIMEOUT_S": "3", **environment}
    with log.open("ab") as output:
        return subprocess.Popen(
            [python, "-m", "schedmate", *arguments],
            env=os.environ | chosen,
            cwd=ROOT,
            stdout=output,
            stderr=output,
        )


def until(condition: Callable[[], bool], log: Path, seconds: float = 60.0) -> None:
    """Return once `condition` holds, or fail with the end of `log`."""
    waiting.until(condition, seconds, shown=lambda: log.read_text()[-3000:])


def values(broker: Kafka, topics: list[str]) -> int:
    """Return how many different values `topics` hold now."""
    return len({message.value for message in read_back(broker.connection, topics)})


def all_read(broker: Kafka, group: str) -> bool:
    """Has a group committed all that its topics hold now? It commits what it has written."""
    with admin_client(broker.connection, "read offsets") as admin:
        committed = admin.list_group_offsets([group])[group]
    consumer = open_consumer(broker.connection, group_id=None)
    ends = consumer.end_offsets(list(committed))
    consumer.close()
    return bool(committed) and all(committed[part].offset >= end for part, end in ends.items())


def wait_for(broker: Kafka, topics: list[str], count: int, log: Path, seconds: float = 60.0) -> list[Message]:
    """Read `topics` back until they hold `count` different values, or fail with the end of `log`."""
    deadline = time.monotonic() + seconds
    while True:
        found = list(read_back(broker.connection, topics))
        if len({message.value for message in found}) >= count:
            return found
        assert time.monotonic() < deadline, f"{len(found)} of {count} messages; {log.read_text()[-3000:]}"
        time.sleep(0.5)
