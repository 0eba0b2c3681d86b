"""Lines of jobs for search: chunks of `job-logs` to ClickHouse's table `job_lines`, up to a quota for each job and day."""

import copy
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from functools import partial

import msgspec

from processors.new_lines import line_numbers, strip_container_wrapping
from schedmate_records import LogChunk, Position, Record
from schedmate_records.metrics import MetricFactory
from sinks.clickhouse.lines import StoredSoFar, stored_so_far
from sinks.clickhouse.table_of_lines import LogLine
from sinks.clickhouse.writer import ClickHouseWriter
from streams.kafka import KafkaConsumer, KafkaProducer
from streams.resilience import Outage
from streams.runtimes.pump import Pump

from ..connections import permitted, wait_for_broker
from ..settings.settings import Settings
from .service import Service
from .sink import Sinks, StoreWriter, clickhouse_opener

MESSAGES = 200
"""Messages of a batch: 13 MB of text at most, as a chunk holds 64 KB."""


class JobLineMetrics:
    """Counts of stored and omitted lines."""

    def __init__(self) -> None:
        make = MetricFactory("schedmate_job")
        self.lines = make.counter("lines", "Lines of jobs handed to ClickHouse.")
        self.omitted = make.counter(
            "lines_omitted", "Lines not stored, since their job had reached its quota of the day."
        )
        self.lag = make.gauge("lines_lag_messages", "Messages of job-logs whose lines are not stored yet.")


class JobLineWriter:
    """Writes the lines of chunks, each once. A job that reached its quota gets one row for each further chunk, with the number of lines.

    Args:
        quota_mb: Megabytes of text that are stored of each job and day (UTC).
    """

    def __init__(self, writer: ClickHouseWriter, quota_mb: float, clock: Callable[[], float] = time.time) -> None:
        self.metrics = JobLineMetrics()
        # Bytes of a megabyte, the unit of the quota.
        self._writer, self._quota, self._clock = writer, quota_mb * 1_000_000, clock
        self._day = date.min
        self._jobs: dict[str, StoredSoFar] = {}

    def write(self, batch: Sequence[tuple[Position, Record]]) -> None:
        """Store the lines of `batch`; return once they are in the table. Raises as `ClickHouseWriter.write` does."""
        chunks = [(place, record) for place, record in batch if isinstance(record, LogChunk) and record.lines]
        self._look_up(chunks)
        # A batch that fails is written again, and counts once.
        jobs = {job: copy.deepcopy(self._jobs[job]) for job in {chunk.job for _, chunk in chunks}}
        rows: list[tuple[Position, Record]] = []
        stored = omitted = 0
        for place, chunk in chunks:
            lines = list(split(place, chunk, jobs[chunk.job].lines))
            jobs[chunk.job].size += sum(len(line.text.encode()) for line in lines)
            if jobs[chunk.job].size > self._quota:
                omitted += len(lines)
                lines = [msgspec.structs.replace(lines[0], text="", omitted=len(lines))]
            else:
                stored += len(lines)
            rows += [(place, line) for line in lines]
        self._writer.write(rows)
        self._jobs |= jobs
        self.metrics.omitted.inc(omitted)
        self.metrics.lines.inc(stored)

    def _look_up(self, chunks: Sequence[tuple[Position, LogChunk]]) -> None:
        """Find what the jobs of `chunks` have in the table from before these chunks."""
        today = datetime.fromtimestamp(self._clock(), UTC).date()
        # Jobs whose use is remembered: about 20 MB. Of others the table is asked again.
        if today != self._day or len(self._jobs) > 100_000:
            self._day, self._jobs = today, {}
        first: dict[str, Position] = {}
        for place, chunk in chunks:
            if chunk.job not in self._jobs:
                first.setdefault(chunk.job, place)
        if first:
            self._jobs |= stored_so_far(self._writer.client(), first, today)


def split(place: Position, chunk: LogChunk, counted: dict[tuple[int, str, int, str], int]) -> Iterator[LogLine]:
    """Yield the lines of `chunk`, which came at `place`: as the process printed them, and of a redrawn line its last state.

    Numbered pieces have one identity wherever they come again; others are identified by their place. `counted` holds the number of
    lines so far of streams whose lines are not numbered.
    """
    stream = (chunk.attempt, chunk.incarnation, chunk.rank, chunk.stream)
    numbers = line_numbers(chunk, chunk.first_line or counted.get(stream, 0) + 1)
    if not chunk.first_line:
        counted[stream] = numbers[-1]
    after = chunk.after_ms if len(chunk.after_ms) == len(chunk.lines) else [0] * len(chunk.lines)
    texts, _ = strip_container_wrapping(chunk.lines, [0.0] * len(chunk.lines))
    # Pieces of one message at most: a message holds 8 MB, and a piece rarely less than 8 bytes.
    first = chunk.first_piece or place.offset * (1 << 20)
    source = chunk.producer if chunk.first_piece else place.partition
    last = len(chunk.lines) - 1
    for index, text in enumerate(texts):
        if index < last and text.endswith("\r"):
            continue
        yield LogLine(
            id=f"{chunk.incarnation}/{chunk.attempt}/{chunk.rank}/{chunk.stream}/{source}/{first + index}",
            job=chunk.job,
            attempt=chunk.attempt,
            incarnation=chunk.incarnation,
            node=chunk.node,
            rank=chunk.rank,
            stream=chunk.stream,
            producer=chunk.producer,
            piece=first + index,
            line=numbers[index],
            time=chunk.time + after[index] / 1000,
            text=text.removesuffix("\r"),
        )


@contextmanager
def storing_lines(settings: Settings, running: Service) -> Iterator[None]:
    """Store the lines of jobs in a thread of its own, where `clickhouse.job_lines_days` is set, so that results never wait for lines.

    An error in the thread ends the service, and is raised at the end.
    """
    if not settings.clickhouse.job_lines_days:
        yield
        return
    writer = ClickHouseWriter(clickhouse_opener(settings.clickhouse))
    lines = JobLineWriter(writer, settings.clickhouse.job_lines_mb)
    running.telemetry.export(lines.metrics)
    failed: list[BaseException] = []

    def run() -> None:
        try:
            _pump(settings, lines, running.stop)
        except BaseException as error:  # noqa: BLE001 - raised again below
            if not running.stop.is_set():
                failed.append(error)
            running.stop.set()

    thread = threading.Thread(target=run, name="job-lines")
    thread.start()
    try:
        yield
    finally:
        running.stop.set()
        thread.join()
        writer.close()
    if failed:
        raise failed[0]


def _pump(settings: Settings, lines: JobLineWriter, stop: threading.Event) -> None:
    connection = permitted(settings.kafka, "sink-lines", stop)
    outage = Outage("ClickHouse", consequence="the lines of jobs wait in Kafka")
    sinks = Sinks([StoreWriter("ClickHouse", lines.write, outage)], stop)
    group = f"{settings.kafka.group}-lines"
    join = partial(KafkaConsumer, connection, group, ("job-logs",), settings.kafka.session_timeout_s)
    with wait_for_broker(join, stop) as consumer:
        producer = wait_for_broker(partial(KafkaProducer, connection), stop)
        # The workers read job-logs, too, and make dead letters of what cannot be read.
        # A batch waits for one second at most: `schedmate logs --follow` shows lines that late.
        pump = Pump(consumer, producer, sinks.write, MESSAGES, 1.0, dead_letters=False)
        lines.metrics.lag.set_function(lambda: sum(consumer.lag().values()))
        try:
            pump.run(stop)
        finally:
            producer.close()
