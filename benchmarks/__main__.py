"""Runs benchmarks and prints one table: `make bench`, or `python -m benchmarks processors memory` for some."""

import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import active, eviction, hostile, latency, memory, neighbour, pipeline, processors, state
from tests.servers.clickhouse import ClickHouseServer, clickhouse_server
from tests.servers.kafka import Kafka, start_kafka

ALONE = {
    "processors": (processors.measure, "processors alone, on one core"),
    "state": (state.measure, "states of many ranks and of many jobs"),
    "hostile": (hostile.measure, "text that no training prints"),
    "memory": (memory.measure, "memory of the processors over two million lines"),
}
ON_SERVERS = {
    "active": "many jobs that print a little",
    "neighbour": "a verdict behind the text of others",
    "pipeline": "Kafka to ClickHouse rows",
    "eviction": "from the submission of an urgent job to its start in the place of another",
    "latency": "from a printed line to a verdict and an action",
}
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
    """Measure each on a broker of its own: what one wrote is no input of the next."""
    rows: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        for name in (name for name in ON_SERVERS if name in chosen):
            scratch = Path(directory) / name
            scratch.mkdir()
            with console.status(ON_SERVERS[name]), clickhouse_server(scratch) as clickhouse:
                kafka = start_kafka(scratch)
                try:
                    kafka.create_topics()
                    rows += _measure(name, kafka, clickhouse, scratch)
                finally:
                    kafka.kill()
    return rows


def _measure(name: str, kafka: Kafka, clickhouse: ClickHouseServer, scratch: Path) -> list[tuple[str, str]]:
    match name:
        case "active":
            return active.measure(kafka, scratch)
        case "neighbour":
            return neighbour.measure(kafka, scratch)
        case "pipeline":
            return pipeline.measure(kafka, clickhouse, scratch)
        case "eviction":
            return eviction.measure(kafka, scratch)
        case _:
            return latency.measure(kafka, scratch)


if __name__ == "__main__":
    main()
