"""Jobs that one worker serves while each prints two chunks a second: does it keep up, and what does it take?"""

import time
from pathlib import Path

from benchmarks.processes import command, peak_mb, processor_s, waited
from benchmarks.state import chunk
from schedmate_records import JobMetric, decode
from streams.kafka import KafkaProducer, read_back
from streams.transport import outgoing
from tests.servers.kafka import Kafka

JOBS = (500, 2000)
SECONDS = 12


def measure(kafka: Kafka, scratch: Path) -> list[tuple[str, str]]:
    """Return (what, figure) rows."""
    rows = []
    environment = {"SCHEDMATE_KAFKA__BROKERS": kafka.address}
    with command(scratch, environment, "worker") as worker:
        for jobs in JOBS:
            late, used, wall = _serve(kafka, worker.pid, jobs)
            each = used / (2 * SECONDS * jobs) * 1e6
            figure = (
                f"the last metric {late:.1f} s after the last chunk, {used / wall:.0%} of a core, {each:.0f} µs a chunk"
            )
            rows.append((f"{jobs:,} jobs, two chunks a second each, one worker", figure))
        rows.append(("memory of that worker (peak)", f"{peak_mb(worker.pid):.0f} MB"))
    return rows


def _serve(kafka: Kafka, pid: int, jobs: int) -> tuple[float, float, float]:
    """Send the chunks at their pace; return how late the last metric came, and the worker's processor and wall time."""
    producer = KafkaProducer(kafka.connection)
    made = [  # beforehand: this process is to leave the machine to the worker and the broker
        [outgoing(chunk(f"active-{jobs}-{job}", half, time_s=half * 0.5)) for job in range(jobs)]
        for half in range(2 * SECONDS)
    ]
    began, used = time.time(), processor_s(pid)
    for half, chunks in enumerate(made):
        for each in chunks:
            producer.send(each)
        time.sleep(max(0.0, began + (half + 1) / 2 - time.time()))
    producer.flush(60)
    sent = time.time()
    last = {f"active-{jobs}-{job}" for job in range(jobs)}
    final = 4 * SECONDS - 8  # reports of the last two seconds may wait for more

    def all_there() -> float:
        time.sleep(1.0)  # to read them all takes long
        found: dict[str, float] = {}
        for message in read_back(kafka.connection, ["job-metrics"], since=began):
            if (decode(JobMetric, message.value).step or 0) >= final:
                found.setdefault((message.key or b"").decode(), message.time)
        return max(found.values()) if last <= found.keys() else 0.0

    came = waited(all_there, 120)
    took = time.time() - began
    producer.close()
    return max(came - sent, 0.0), processor_s(pid) - used, took
