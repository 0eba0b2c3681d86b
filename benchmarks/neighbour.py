"""How long a job waits for its verdict behind the text of others in its partition, hostile and ordinary."""

import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import count, cycle
from pathlib import Path

import msgspec

from benchmarks import hostile
from benchmarks import lines as ordinary
from benchmarks.processes import command, processor_s, waited
from schedmate_records import Failure, LogChunk, decode
from streams.kafka import KafkaProducer, read_back
from streams.partition import partition_of
from streams.transport import outgoing
from tests.servers.kafka import Kafka

PARTITIONS = 4
SIZE = 8_000_000
"""Characters of the others' text: two batches of the worker's."""
JOBS = (1, 8)
ROUNDS = 5
KINDS = ("random printable characters", "k=v", "random words", "minified JSON", "URLs", "exceptions", "base64", "UUIDs")

_NAMES = (name for name in map("neighbour-{}".format, count()) if partition_of(name.encode(), PARTITIONS) == 0)


def measure(kafka: Kafka, scratch: Path) -> list[tuple[str, str]]:
    """Return (what, figure) rows."""
    environment = {"SCHEDMATE_KAFKA__BROKERS": kafka.address}
    rows = []
    with command(scratch, environment, "worker") as worker:
        for _ in range(2):  # until it runs, and knows ordinary text
            _delay(kafka, worker.pid, _texts(1, _ordinary))
        rows.append(
            ("a job's verdict with nobody before it", _median(_delay(kafka, worker.pid, []) for _ in range(ROUNDS)))
        )
        for jobs in JOBS:
            for name, kind in (("ordinary", _ordinary), ("hostile", _hostile)):
                about = f"behind {SIZE / 1e6:.0f} MB of {name} text of {jobs} job{'s' * (jobs > 1)} in its partition"
                rows.append((about, _median(_delay(kafka, worker.pid, _texts(jobs, kind)) for _ in range(ROUNDS))))
    return rows


def _median(found: Iterable[tuple[float, float]]) -> str:
    waits, used = zip(*found, strict=True)
    worker = f"{statistics.median(used):.2f} s of processor time (at most {max(used):.2f} s)"
    return f"{statistics.median(waits):.2f} s (at most {max(waits):.2f} s); {worker}"


def _ordinary(name: str, place: int) -> Iterator[LogChunk]:
    return ordinary.chunks(name, 1000, seed=place)


def _hostile(name: str, place: int) -> Iterator[LogChunk]:
    kind = KINDS[place % len(KINDS)]
    seed = int(name.rsplit("-", 1)[1])
    return (msgspec.structs.replace(each, job=name, producer=name) for each in hostile.chunks(kind, 1000, seed))


def _texts(jobs: int, kind: Callable[[str, int], Iterator[LogChunk]]) -> Iterable[LogChunk]:
    """Return chunks of new jobs by turns, up to `SIZE` characters together."""
    made = [kind(next(_NAMES), place) for place in range(jobs)]
    size = 0
    for each in cycle(made):
        chunk = next(each)
        size += sum(map(len, chunk.lines))
        if size > SIZE:
            return
        yield chunk


def _delay(kafka: Kafka, worker: int, before: Iterable[LogChunk]) -> tuple[float, float]:
    """Send chunks, then one of another job that fails; return the seconds to its verdict, and the processor time of `worker` for all."""
    name, made = next(_NAMES), [outgoing(each) for each in before]
    producer = KafkaProducer(kafka.connection)
    lines = [
        "Traceback (most recent call last):",
        '  File "train.py", line 3, in f',
        "torch.cuda.OutOfMemoryError: CUDA out of memory.",
    ]
    began, used = time.time(), processor_s(worker)
    for each in made:
        producer.send(each)
    sent = time.time()
    producer.send(outgoing(LogChunk(job=name, producer=name, lines=lines, time=sent, first_line=1, first_piece=1)))
    producer.flush(60)
    verdict = waited(lambda: _verdict(kafka, name, began), 120)
    producer.close()
    return verdict - sent, processor_s(worker) - used


def _verdict(kafka: Kafka, job: str, since: float) -> float | None:
    return next(
        (
            each.time
            for each in read_back(kafka.connection, ["failures"], since)
            if decode(Failure, each.value).job == job
        ),
        None,
    )
