"""The advisor: the exact search among 100,000 past jobs, and the time from a submission to its estimate on the topic."""

import statistics
import tempfile
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.processes import command, waited
from processors.advise.past import MemoryHistory, PastEstimator, PastJob, SubmittedJob
from processors.advise.past.embedding import DIMENSIONS, Vector, embed_command
from processors.advise.past.vectors import MOST, VectorIndex
from schedmate.advisor.history_file import history_file
from schedmate_records import EventKind, JobEvent
from streams.kafka import KafkaProducer, read_back
from streams.transport import outgoing
from tests.servers.kafka import Kafka

SEARCHES = 200
HELD = 20_000
RATE, SUBMISSIONS = 50, 500


def measure() -> list[tuple[str, str]]:
    """Return (what, figure) rows of what needs no server."""
    generator, index = np.random.default_rng(1), VectorIndex()
    for _ in range(MOST):
        index.add(generator.normal(size=DIMENSIONS).astype(np.float32) / np.float32(DIMENSIONS**0.5))
    times, used = _searched(
        index,
        [generator.normal(size=DIMENSIONS).astype(np.float32) / np.float32(DIMENSIONS**0.5) for _ in range(SEARCHES)],
    )
    alike = VectorIndex()
    for number in range(MOST):
        alike.add(embed_command(job_like_many(number)))
    times_alike, used_alike = _searched(
        alike, [embed_command(job_like_many(MOST + number)) for number in range(SEARCHES)]
    )
    history = MemoryHistory()
    for past in _past(HELD):
        history.add(past)
    estimator, began = PastEstimator(history), time.perf_counter()
    for number in range(SEARCHES):
        estimator.estimate(job_like_many(HELD + number))
    return [
        (f"search among {MOST:,} past jobs of which none is alike", spread(times, "ms")),
        ("the same, in processor time", spread(used, "ms")),
        (f"search among {MOST:,} past jobs that are much alike", spread(times_alike, "ms")),
        ("the same, in processor time", spread(used_alike, "ms")),
        (
            f"estimates a second, one core, {HELD:,} past jobs, none the same",
            f"{SEARCHES / (time.perf_counter() - began):,.0f}",
        ),
    ]


def _searched(index: VectorIndex, vectors: Sequence[Vector]) -> tuple[list[float], list[float]]:
    """Return how long each search took, by the clock and in processor time (all threads), in seconds."""
    times, used = [], []
    for vector in vectors:
        began, before = time.perf_counter(), time.process_time()
        index.nearest(vector, 3, 0.9)
        times.append(time.perf_counter() - began)
        used.append(time.process_time() - before)
    return times, used


def on_kafka(kafka: Kafka, scratch: Path) -> list[tuple[str, str]]:
    """Return (what, figure) rows: submissions at a steady rate, and when Kafka took each and its estimate."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "history.db"
        with history_file(path) as history:
            history.add_all((past.about.job, past) for past in _past(HELD))
        environment = {"SCHEDMATE_KAFKA__BROKERS": kafka.address, "SCHEDMATE_ADVISOR__HISTORY": str(path)}
        with command(scratch, environment, "advisor"):
            producer = KafkaProducer(kafka.connection)
            _submit(producer, ["warm"])
            waited(lambda: list(read_back(kafka.connection, ["estimates"])), 60)
            began = time.monotonic()
            for number in range(SUBMISSIONS):
                time.sleep(max(0.0, began + number / RATE - time.monotonic()))
                _submit(producer, [f"{number}"])
            producer.flush(30)
            producer.close()
            waited(lambda: len(list(read_back(kafka.connection, ["estimates"]))) > SUBMISSIONS, 60)
    submitted = {message.key: message.time for message in read_back(kafka.connection, ["job-events"])}
    answered = {message.key: message.time for message in read_back(kafka.connection, ["estimates"])}
    waits = [answered[key] - submitted[key] for key in answered if key != b"warm"]
    return [(f"submitted → estimate on the topic, {RATE} submissions/s, {HELD:,} past jobs", spread(waits, "s"))]


def _submit(producer: KafkaProducer, jobs: Sequence[str]) -> None:
    for job in jobs:
        about = job_like_many(zlib.crc32(job.encode()) % HELD)
        event = JobEvent(
            id=f"submitted/{job}",
            job=job,
            kind=EventKind.SUBMITTED,
            time=time.time(),
            scheduler="slurm",
            command=about.command,
            directory=about.directory,
        )
        producer.send(outgoing(event))


def job_like_many(number: int) -> SubmittedJob:
    """Return a job whose command has many like it."""
    return SubmittedJob(
        job=f"{number}",
        command=f"python train_{number % 97}.py --data set{number % 53} --arch net{number % 31} --lr 0.{number}",
        directory=f"/home/u{number % 211}/p{number}",
    )


def _past(count: int) -> list[PastJob]:
    return [
        PastJob(about=job_like_many(number), ended=float(number), duration_s=60.0 + number % 5000)
        for number in range(count)
    ]


def spread(seconds: Sequence[float], unit: str) -> str:
    """Return the median and the 99th percentile, in `unit` (`ms` or `s`)."""
    scale = 1000 if unit == "ms" else 1
    p99 = sorted(seconds)[int(0.99 * (len(seconds) - 1))]
    return f"p50 {scale * statistics.median(seconds):.3g} {unit}, p99 {scale * p99:.3g} {unit}"
