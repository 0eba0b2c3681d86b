"""Runs benchmarks and prints one table: `make bench`, or `python -m benchmarks processors memory` for some."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from benchmarks import active, estimates, eviction, hostile, latency, memory, neighbour, pipeline, processors, state
from benchmarks.schedulers import SITES
from tests.servers.clickhouse import ClickHouseServer, clickhouse_server
from tests.servers.kafka import Kafka, start_kafka

ALONE = {
    "processors": (processors.measure, "processors alone, on one core"),
    "state": (state.measure, "states of many ranks and of many jobs"),
    "search": (estimates.measure, "past jobs that a new one is like"),
    "hostile": (hostile.measure, "text that no training prints"),
    "memory": (memory.measure, "memory of the processors over two million lines"),
}
ON_SERVERS = {
    "active": "many jobs that print a little",
    "neighbour": "a verdict behind the text of others",
    "pipeline": "Kafka to ClickHouse rows",
    "estimates": "from a submission to its estimate",
}
ON_SCHEDULERS = {
    "eviction": (eviction.measure, "from the submission of an urgent job to its start in the place of another"),
    "latency": (latency.measure, "from a printed line to a verdict and an action"),
}
LONG = {"memory"}
"""Those that run only where they are named."""


def main() -> None:
    """Measure what the command line names, or all that is not long; print each as it is done."""
    known = {name: about for name, (_, about) in (ALONE | ON_SCHEDULERS).items()} | ON_SERVERS
    chosen = sys.argv[1:] or [name for name in known if name not in LONG]
    if unknown := set(chosen) - set(known):
        sys.exit(f"expected some of {', '.join(known)}; got {', '.join(sorted(unknown))}")
    console, failed = Console(), []
    for name in (name for name in known if name in chosen):
        try:
            with console.status(known[name]):
                rows = _measure(name)
        except Exception:  # noqa: BLE001  # what one could not measure, the others may
            console.print_exception()
            failed.append(name)
        else:
            table = Table("what", "figure", title=known[name], title_justify="left", box=None, pad_edge=False)
            for row in rows:
                table.add_row(*row)
            console.print(table)
    if failed:
        sys.exit(f"not measured: {', '.join(failed)}")


def _measure(name: str) -> list[tuple[str, str]]:
    if name in ALONE:
        return ALONE[name][0]()
    if name in ON_SCHEDULERS:
        return [(f"{site}: {what}", figure) for site in SITES for what, figure in _on_scheduler(name, site)]
    with _broker() as (kafka, scratch), clickhouse_server(scratch) as clickhouse:
        return _on_servers(name, kafka, clickhouse, scratch)


@contextmanager
def _broker() -> Iterator[tuple[Kafka, Path]]:
    """Start a broker of its own for each measurement: what one wrote is no input of the next."""
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        kafka = start_kafka(Path(directory))
        try:
            kafka.create_topics()
            yield kafka, Path(directory)
        finally:
            kafka.kill()


def _on_scheduler(name: str, site: str) -> list[tuple[str, str]]:
    """Measure on one scheduler; where it is not built, a row says so."""
    try:
        with _broker() as (kafka, scratch), SITES[site]() as scheduler:
            return ON_SCHEDULERS[name][0](kafka, scratch, scheduler)
    except pytest.skip.Exception as absent:
        return [("not measured", str(absent))]


def _on_servers(name: str, kafka: Kafka, clickhouse: ClickHouseServer, scratch: Path) -> list[tuple[str, str]]:
    match name:
        case "active":
            return active.measure(kafka, scratch)
        case "estimates":
            return estimates.on_kafka(kafka, scratch)
        case "neighbour":
            return neighbour.measure(kafka, scratch)
        case _:
            return pipeline.measure(kafka, clickhouse, scratch)


if __name__ == "__main__":
    main()
