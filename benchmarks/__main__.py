"""Runs benchmarks and prints one table: `make bench`, or `python -m benchmarks processors memory` for some."""

import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import active, hostile, latency, memory, neighbour, pipeline, processors, state
from tests.servers.clickhouse import clickhouse_server
from tests.servers.kafka import start_kafka

ALONE = {
    "processors": (processors.measure, "processors alone, on one core"),
    "state": (state.measure, "states of many ranks and of many jobs"),
    "hostile": (hostile.measure, "text that no training prints"),
    "memory": (memory.measure, "memory of the processors over two million lines"),
}
ON_SERVERS = ("active", "neighbour", "pipeline", "latency")
LONG = {"memory"}
"""Those that run only where they are named."""


def main() -> None:
    """Measure what the command line names, or all that is not long."""
    known = [*ALONE, *ON_SERVERS]
    chosen = sys.argv[1:] or [name for name in known if name not in LONG]
    if unknown := set(chosen) - set(known):
        sys.exit(f"expected some of {', '.join(known)}; got {', '.join(sorted(unknown))}")
    console, table = Console(), Table("what", "figure", box=None, pad_edge=False)
    rows: list[tuple[str, str]] = []
    for name, (measure, about) in ALONE.items():
        if name in chosen:
            with console.status(about):
                rows += measure()
    if set(ON_SERVERS) & set(chosen):
        rows += _on_servers(console, chosen)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _on_servers(console: Console, chosen: list[str]) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        scratch = Path(directory)
        with console.status("starting Kafka and ClickHouse"), clickhouse_server(scratch) as clickhouse:
            kafka = start_kafka(scratch)
            try:
                kafka.create_topics()
                if "active" in chosen:
                    with console.status("many jobs that print a little"):
                        rows += active.measure(kafka, scratch)
                if "neighbour" in chosen:
                    with console.status("a verdict behind the text of others"):
                        rows += neighbour.measure(kafka, scratch)
                if "pipeline" in chosen:
                    with console.status("Kafka to ClickHouse rows"):
                        rows += pipeline.measure(kafka, clickhouse, scratch)
                if "latency" in chosen:
                    with console.status("from a printed line to a verdict and an action"):
                        rows += latency.measure(kafka, scratch)
            finally:
                kafka.kill()
    return rows


if __name__ == "__main__":
    main()
