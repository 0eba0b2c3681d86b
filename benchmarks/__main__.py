"""Runs benchmarks and prints one table: `make bench`, or `python -m benchmarks processors memory` for some."""

import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import hostile, latency, memory, pipeline, processors
from tests.servers.clickhouse import clickhouse_server
from tests.servers.kafka import start_kafka

ALL = ("processors", "pipeline", "latency")


def main() -> None:
    """Measure what the command line names, or all."""
    chosen = sys.argv[1:] or list(ALL)
    unknown = set(chosen) - {*ALL, "memory", "hostile"}
    if unknown:
        sys.exit(f"expected some of {', '.join(ALL)}, memory, hostile; got {', '.join(unknown)}")
    console, table = Console(), Table("what", "figure", box=None, pad_edge=False)
    rows: list[tuple[str, str]] = []
    if "processors" in chosen:
        with console.status("processors alone, on one core"):
            rows += processors.measure()
    if "memory" in chosen:
        with console.status("memory of the processors over two million lines"):
            rows += memory.measure()
    if "hostile" in chosen:
        with console.status("text that no training prints"):
            rows += hostile.measure()
    if {"pipeline", "latency"} & set(chosen):
        with tempfile.TemporaryDirectory(prefix="bench-") as directory:
            scratch = Path(directory)
            with console.status("starting Kafka and ClickHouse"), clickhouse_server(scratch) as clickhouse:
                kafka = start_kafka(scratch)
                try:
                    kafka.create_topics()
                    if "pipeline" in chosen:
                        with console.status("Kafka to ClickHouse rows"):
                            rows += pipeline.measure(kafka, clickhouse, scratch)
                    if "latency" in chosen:
                        with console.status("from a printed line to a verdict and an action"):
                            rows += latency.measure(kafka, scratch)
                finally:
                    kafka.kill()
    for row in rows:
        table.add_row(*row)
    console.print(table)


if __name__ == "__main__":
    main()
