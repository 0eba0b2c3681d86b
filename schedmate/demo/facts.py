"""What the end of the demo rests on: the topics, the jobs' own clocks, the database."""

from dataclasses import dataclass, field
from pathlib import Path

from clickhouse_connect.driver.client import Client

from schedmate_records import EventKind, JobMetric, Slowdown
from sinks.clickhouse import TABLE_OF, ask
from streams.accept import accept
from streams.memory import MemoryBroker

from .board import Board, JobLine
from .jobs import clock
from .jobs.clock import Typical
from .programs import NEIGHBOUR, PROGRAMS, VICTIM, Program


@dataclass(frozen=True)
class DemoReading:
    """One rank's step time: what SchedMate read, and what the job clocked in the same seconds; null where there is none."""

    program: Program
    rank: int
    metric: JobMetric | None = None
    clocked: Typical | None = None
    first_loss: float | None = None

    @property
    def measured(self) -> float | None:
        """Seconds a step, as read from the log."""
        return self.metric.step_time_s if self.metric else None

    @property
    def label(self) -> str:
        """The job, with its rank where there are several."""
        return f"{self.program.name}/{self.rank}" if self.program.ranks > 1 else self.program.name


@dataclass(frozen=True)
class Phase:
    """The victim's step time in one phase: as SchedMate measured it, and as the job clocked it. Null where unknown.

    `delay`: seconds between the end of the packing and the end of the reports that `after` rests on.
    """

    name: str
    measured: float | None = None
    clocked: Typical | None = None
    delay: float | None = None


@dataclass(frozen=True)
class DemoFacts:
    """Everything that the checks and the summary look at.

    Attributes:
        board: The records of the topics.
        readings: Every rank's step time.
        phases: The victim before, during and after the packing; empty where the packing was never found slow.
        gpus: Where GPU samples are from.
        pieces_shipped: Pieces of text handed to the shipper.
        pieces_read: Pieces that the processors classified.
        pieces_lost: Pieces that the shipper gave up.
        written: Distinct records in each topic.
        stored: Rows of each of their tables in ClickHouse.
    """

    board: Board
    readings: tuple[DemoReading, ...] = ()
    phases: tuple[Phase, ...] = ()
    gpus: str = ""
    pieces_shipped: int = 0
    pieces_read: int = 0
    pieces_lost: int = 0
    written: dict[str, int] = field(default_factory=dict)
    stored: dict[str, int] = field(default_factory=dict)

    def job(self, program: Program) -> JobLine:
        """Return what is known of a job; an empty line where it was never submitted."""
        return self.board.jobs.get(program.name, JobLine(program.name, state="never submitted"))


def readings(board: Board, clocks: Path) -> tuple[DemoReading, ...]:
    """Return the newest step time of every rank with the one that it clocked over the same reports."""
    found = []
    for program in PROGRAMS:
        for rank in range(program.ranks):
            line = board.jobs.get(program.name)
            metric = line.newest(rank) if line else None
            if line is None or metric is None:
                found.append(DemoReading(program, rank))
                continue
            series = line.metrics[metric.attempt, rank]
            first = next((each.loss for each in series if each.loss is not None), None)
            found.append(DemoReading(program, rank, metric, _clocked(program, metric, clocks), first))
    return tuple(found)


def phases(board: Board, clocks: Path) -> tuple[Phase, ...]:
    """Return the victim's step time before, during and after the packing."""
    line = board.jobs.get(VICTIM.name)
    slowdown = next((each for each in board.slowdowns if each.job == VICTIM.name), None)
    if line is None or slowdown is None:
        return ()
    series = line.metrics.get((slowdown.attempt, 0), [])
    unpacked = [event.time for event in line.events_of(EventKind.UNPACKED) if event.packed_with == NEIGHBOUR.name]
    after = _after(series, unpacked[0], slowdown) if unpacked else None
    return (
        _phase("before", slowdown.before_s, _before(series, slowdown), clocks),
        _phase("packed", slowdown.after_s, next((m for m in series if m.time == slowdown.time), None), clocks),
        _phase("after", after.step_time_s if after else None, after, clocks, unpacked[0] if unpacked else None),
    )


def _before(series: list[JobMetric], slowdown: Slowdown) -> JobMetric | None:
    """Return the metric that the monitor took for the speed before the packing."""
    return next((m for m in series if m.step_time_s == slowdown.before_s and m.time < slowdown.time), None)


def _after(series: list[JobMetric], separated: float, slowdown: Slowdown) -> JobMetric | None:
    """Return the first metric after the packing that is above the monitor's threshold again; the last one where none is."""
    later = [m for m in series if m.since is not None and m.since > separated and m.step_time_s]
    fast = (m for m in later if slowdown.before_s >= slowdown.threshold * (m.step_time_s or 0.0))
    return next(fast, later[-1] if later else None)


def _phase(
    name: str, measured: float | None, metric: JobMetric | None, clocks: Path, separated: float | None = None
) -> Phase:
    clocked = _clocked(VICTIM, metric, clocks) if metric else None
    return Phase(name, measured, clocked, metric.time - separated if metric and separated else None)


def _clocked(program: Program, metric: JobMetric, clocks: Path) -> Typical | None:
    """Return the job's own clocking of the steps that a metric's reports cover."""
    clocked = clock.read(clocks / program.name, metric.attempt, metric.rank)
    if metric.step is None or metric.since_step is None or not program.numbers:
        since = metric.since if metric.since is not None else 0.0
        return clocked.between(since, metric.time, metric.reports - 1)
    # The oldest report covers the steps between it and the one before.
    stride = (metric.step - metric.since_step) // max(1, metric.reports - 1)
    return clocked.numbered(metric.since_step - stride + 1, metric.step, metric.reports)


def written(broker: MemoryBroker) -> dict[str, int]:
    """Return the number of distinct records that each table should hold."""
    ids: dict[str, set[str]] = {table: set() for table in TABLE_OF.values()}
    for topic, table in TABLE_OF.items():
        ids[table] |= {accept(message).id for message in broker.read(topic)}  # type: ignore[attr-defined]
    return {table: len(found) for table, found in ids.items()}


def stored(client: Client) -> dict[str, int]:
    """Return the rows of each table."""
    tables = dict.fromkeys(TABLE_OF.values())
    counts = " UNION ALL ".join(f"SELECT '{table}', count() FROM {table}" for table in tables)  # noqa: S608 - names of ours
    return {str(table): int(count) for table, count in ask(client, counts).rows}
