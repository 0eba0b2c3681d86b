"""A directory of logs, a broker, and collectors on a clock of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from streams.producers.collector import Collector
from streams.producers.collector_settings import CollectorSettings

from .switchable import Switchable, wait_for

PATTERN = r"(?P<job>\d+)(_(?P<rank>\d+))?\.(?P<stream>out|err)"


class Site:
    """A directory of logs, a broker, and collectors on a clock of their own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.broker = Switchable()
        self.now = 0.0
        self.running: list[Collector] = []

    def start(self, **settings: object) -> Collector:
        chosen: dict[str, object] = {
            "globs": [str(self.directory / "logs" / "*")],
            "pattern": PATTERN,
            "node": "n1",
            "checkpoint": self.directory / "state" / "checkpoint",
        }
        collector = Collector(
            CollectorSettings(**{**chosen, **settings}),  # type: ignore[arg-type]
            self.broker.connect,
            clock=lambda: 1000.0 + self.now,
            monotonic=lambda: self.now,
        )
        self.running.append(collector)
        return collector

    def stop(self, collector: Collector) -> None:
        collector.close()
        self.running.remove(collector)

    def settle(self, collector: Collector, seconds: float = 6.0) -> None:
        """Let time go by until all that stands in the files was offered and acknowledged."""
        end = self.now + seconds
        while self.now < end:
            self.now += 0.25
            while collector.step():
                pass
        wait_for(lambda: collector.shipper.idle)
        self.now += 1.0
        collector.step()

    def write(self, name: str, data: bytes) -> Path:
        path = self.directory / "logs" / name
        path.parent.mkdir(exist_ok=True)
        with path.open("ab") as out:
            out.write(data)
        return path

    def numbered(self) -> list[tuple[str, int, int, str]]:
        """Every piece that arrived: producer, line number (where no piece is redrawn), piece number, text."""
        return [
            (chunk.producer, chunk.first_line + i, chunk.first_piece + i, line)
            for chunk in self.broker.chunks
            for i, line in enumerate(chunk.lines)
        ]

    def once(self) -> list[str]:
        """The lines as a reader sees them, who drops what repeats a number under one producer."""
        last: dict[str, int] = {}
        lines = []
        for producer, _, piece, line in self.numbered():
            if piece > last.get(producer, 0):
                last[producer] = piece
                lines.append(line)
        return lines


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    (tmp_path / "logs").mkdir()
    yield site
    for collector in site.running:
        collector.close()
