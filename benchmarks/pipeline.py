"""From Kafka to acknowledged ClickHouse rows with one worker, beside a Faust worker that only decodes the same chunks."""

import subprocess
import sys
import time
from pathlib import Path

from benchmarks.lines import CHUNK, chunks
from benchmarks.processes import command, peak_mb, waited
from sinks.clickhouse.client import open_client
from streams.kafka import KafkaProducer
from streams.transport import outgoing
from tests.servers.clickhouse import ClickHouseServer
from tests.servers.kafka import Kafka

JOBS, CHUNKS = 16, 120


def measure(kafka: Kafka, clickhouse: ClickHouseServer, scratch: Path) -> list[tuple[str, str]]:
    """Return (what, figure) rows. Fills `job-logs` first, so that neither reader waits for a producer."""
    total = JOBS * CHUNKS
    _fill(kafka)
    idle = [sys.executable, "-m", "benchmarks.idle", kafka.address, "idle", str(total)]
    done = subprocess.run(idle, capture_output=True, text=True, timeout=300, check=True)
    decoding = float(done.stdout.split()[-1])
    environment = {
        "SCHEDMATE_KAFKA__BROKERS": kafka.address,
        "SCHEDMATE_CLICKHOUSE__URL": clickhouse.url,
        "SCHEDMATE_REDIS__URL": "",
    }
    with command(scratch, environment, "migrate") as migrating:
        migrating.wait(60)
    with command(scratch, environment, "sink"), command(scratch, environment, "worker") as worker:
        first = waited(lambda: _rows(clickhouse), 120)
        began = time.perf_counter()
        waited(lambda: _rows(clickhouse) >= total, 300)
        took = time.perf_counter() - began
        memory = peak_mb(worker.pid)
    return [
        ("lines measured", f"{total * CHUNK:,} of {JOBS} jobs, one worker, lz4"),
        ("Faust that decodes and does nothing", f"{total * CHUNK / decoding:,.0f} lines/s"),
        ("Kafka → worker → Kafka → sink → ClickHouse rows", f"{(total - first) * CHUNK / took:,.0f} lines/s"),
        ("memory of the worker (peak, no embedder)", f"{memory:.0f} MB"),
    ]


def _fill(kafka: Kafka) -> None:
    producer = KafkaProducer(kafka.connection)
    made = [chunks(f"bench-{index}", CHUNKS) for index in range(JOBS)]
    sent = [producer.send(outgoing(chunk)) for together in zip(*made, strict=True) for chunk in together]
    for written in sent:
        written.result(120)
    producer.close()


def _rows(clickhouse: ClickHouseServer) -> int:
    client = open_client(clickhouse.url)
    try:
        return int(client.query("SELECT count() FROM job_metrics").result_rows[0][0])
    finally:
        client.close()
