"""The state of the demo, from the topics alone: screens, checks and summary read it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from schedmate_records import (
    Checkpoint,
    CheckpointState,
    DeadLetter,
    Decision,
    DecisionResult,
    ErrorType,
    EventKind,
    Failure,
    GpuSample,
    JobEvent,
    JobMetric,
    Record,
    Slowdown,
)
from sinks.clickhouse.tables import STORED_TOPICS
from streams.accept import accept
from streams.memory import MemoryBroker

from .story import Moment, moment_of


@dataclass
class JobLine:
    """The current state of one job.

    Attributes:
        job: Its id.
        state: `queued`, `running`, or the scheduler's word for its end.
        slot: Where it runs or ran last.
        attempt: How often it was started before.
        events: The scheduler's events about it, in order.
        metrics: By attempt and rank, in order.
        failures: Verdicts, in order.
    """

    job: str
    state: str = "queued"
    slot: str = ""
    attempt: int = 0
    events: list[JobEvent] = field(default_factory=list)
    metrics: dict[tuple[int, int], list[JobMetric]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def newest(self, rank: int = 0) -> JobMetric | None:
        """Return the newest metric of a rank in the newest attempt that has one."""
        attempts = sorted(attempt for attempt, of in self.metrics if of == rank)
        return self.metrics[attempts[-1], rank][-1] if attempts else None

    def verdict(self, attempt: int) -> Failure | None:
        """Return the verdict in force on an attempt."""
        of = [failure for failure in self.failures if failure.attempt == attempt]
        newest = max(of, key=lambda failure: failure.revision, default=None)
        return None if newest is None or newest.error_type is ErrorType.NONE else newest

    def verdicts(self) -> list[Failure]:
        """Return the verdict in force on each attempt that has one."""
        attempts = sorted({failure.attempt for failure in self.failures})
        return [verdict for attempt in attempts if (verdict := self.verdict(attempt))]

    def slots(self) -> dict[int, str]:
        """Return where each attempt ran."""
        return {event.attempt: event.nodes[0] for event in self.events_of(EventKind.STARTED) if event.nodes}

    def events_of(self, kind: EventKind) -> list[JobEvent]:
        """Return the events of one kind."""
        return [event for event in self.events if event.kind is kind]


@dataclass
class Board:
    """Everything that was seen in the topics."""

    jobs: dict[str, JobLine] = field(default_factory=dict)
    slowdowns: list[Slowdown] = field(default_factory=list)
    recoveries: list[Slowdown] = field(default_factory=list)
    decisions: dict[str, Decision] = field(default_factory=dict)
    results: dict[str, list[DecisionResult]] = field(default_factory=dict)
    saved: dict[str, list[Checkpoint]] = field(default_factory=dict)
    """The durable checkpoints of each job's first attempt."""
    gpu: dict[tuple[str, int], GpuSample] = field(default_factory=dict)
    gpu_samples: int = 0
    dead: list[DeadLetter] = field(default_factory=list)
    story: list[Moment] = field(default_factory=list)

    def add(self, record: Record) -> None:
        """Add one record."""
        match record:
            case JobEvent():
                self._event(record)
            case JobMetric():
                series = self._job(record.job).metrics
                series.setdefault((record.attempt, record.rank), []).append(record)
            case Failure():
                self._job(record.job).failures.append(record)
            case Slowdown():
                (self.slowdowns if record.recovered is None else self.recoveries).append(record)
            case Decision():
                self.decisions[record.id] = record
            case DecisionResult():
                self.results.setdefault(record.decision_id, []).append(record)
            case Checkpoint() if record.state is CheckpointState.DURABLE and record.attempt == 0:
                self.saved.setdefault(record.job, []).append(record)
            case GpuSample():
                self.gpu[record.node, record.gpu] = record
                self.gpu_samples += 1
            case DeadLetter():
                self.dead.append(record)

    def outcome(self, decision: Decision) -> DecisionResult | None:
        """Return what became of a decision, once that is final."""
        return next((result for result in self.results.get(decision.id, []) if result.outcome.final), None)

    def _job(self, name: str) -> JobLine:
        return self.jobs.setdefault(name, JobLine(name))

    def _event(self, event: JobEvent) -> None:
        line = self._job(event.job)
        line.events.append(event)
        line.attempt = max(line.attempt, event.attempt)
        if event.nodes:
            line.slot = event.nodes[0]
        match event.kind:
            case EventKind.SUBMITTED | EventKind.REQUEUED:
                line.state = "queued"
            case EventKind.STARTED:
                line.state = "running"
            case EventKind.ENDED:
                line.state = event.state.lower()


class Watcher:
    """Keeps a board up to date with a broker. `clock` gives seconds since 1970."""

    def __init__(self, broker: MemoryBroker, clock: Callable[[], float] = time.time) -> None:
        self.board = Board()
        self._consumer = broker.consumer("screen", STORED_TOPICS)
        self._clock = clock

    def step(self) -> Sequence[Moment]:
        """Take in what is new, and return what is worth telling of it."""
        records: list[Record] = []
        while messages := self._consumer.poll(0.0):
            records += map(accept, messages)
        moments = []
        for record in sorted(records, key=attrgetter("time")):
            moment = None if self._repeats(record) else moment_of(record)
            if moment is not None:
                moments.append(replace(moment, time=self._clock()))
            self.board.add(record)
        self.board.story += moments
        return moments

    def _repeats(self, record: Record) -> bool:
        """True for a verdict that repeats an earlier one."""
        if not isinstance(record, Failure) or record.job not in self.board.jobs:
            return False
        verdict = self.board.jobs[record.job].verdict(record.attempt)
        return verdict is not None and (verdict.error_type, verdict.message) == (record.error_type, record.message)
