"""New keys that only users' records name are limited, and a worker that takes over refuses the same ones."""

from random import Random
from typing import TypeVar

import pytest

from processors.job import JobProcessor
from processors.placements import Placements
from schedmate_records import DeadLetter, EventKind, JobEvent, LogChunk, Placement, Position, Record, decode
from streams.runtimes import new_keys
from streams.runtimes.engine import Engine
from streams.runtimes.results import Results
from streams.transport import Message, Outgoing, outgoing
from tests.metric_values import value

LOGS, EVENTS = "job-logs", "job-events"
KEYS, LIMITED = 5, 3
R = TypeVar("R", bound=Record)


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new_keys, "KEYS", KEYS)
    monkeypatch.setattr(new_keys, "LIMITED_KEYS", LIMITED)


def printed(offset: int, job: str, time: float = 1e9) -> Message:
    """Return a chunk of a job; it came from a node of its own, so that a placement shows that it was processed."""
    sent = outgoing(LogChunk(job=job, node=f"n{offset}", lines=["x"], time=time))
    return Message(Position(LOGS, 0, offset), sent.key, sent.value or b"", time)


def started(offset: int, job: str, time: float = 1e9) -> Message:
    event = JobEvent(id=f"slurm/{job}", job=job, kind=EventKind.STARTED, time=time, scheduler="slurm")
    sent = outgoing(event)
    return Message(Position(EVENTS, 0, offset), sent.key, sent.value or b"", time)


def processed(results: Results) -> set[int]:
    return {int(one.node[1:]) for one in _made(results, "placements", Placement)}


def refused(results: Results) -> list[DeadLetter]:
    return _made(results, "dead-letters", DeadLetter)


def _made(results: Results, topic: str, kind: type[R]) -> list[R]:
    return [decode(kind, each.value or b"") for each in results.records if each.topic == topic]


def test_one_new_key_too_many_is_a_dead_letter_and_known_keys_go_on() -> None:
    engine = Engine(JobProcessor())
    results = engine.handle([printed(offset, f"job-{offset}") for offset in range(KEYS + 3)])
    assert processed(results) == set(range(KEYS))
    assert [(one.offset, one.stage) for one in refused(results)] == [(KEYS + each, "limit") for each in range(3)]
    assert "run the scheduler's watcher" in refused(results)[0].reason
    assert value(engine.metrics.refused_keys) == 3
    assert value(engine.metrics.states) == KEYS
    again = engine.handle([printed(20, "job-0"), printed(21, f"job-{KEYS}")])
    assert (processed(again), len(refused(again))) == ({20}, 1)


def test_keys_that_a_scheduler_reports_are_taken_without_limit() -> None:
    engine = Engine(JobProcessor())
    jobs = [f"job-{number}" for number in range(3 * KEYS)]
    engine.handle([printed(offset, f"made-up-{offset}") for offset in range(2 * KEYS)])
    engine.handle([started(offset, job) for offset, job in enumerate(jobs)])
    results = engine.handle([printed(100 + offset, job) for offset, job in enumerate(jobs)])
    assert processed(results) == {100 + offset for offset in range(3 * KEYS)}


def test_new_keys_come_again_with_the_brokers_time() -> None:
    engine = Engine(JobProcessor())
    engine.handle([printed(offset, f"job-{offset}") for offset in range(2 * KEYS)])
    later = 1e9 + 2 / new_keys.A_SECOND
    results = engine.handle([printed(50 + offset, f"late-{offset}", later) for offset in range(4)])
    assert processed(results) == {50, 51}


class Cluster:
    """Workers that follow one another on one partition; each may die between any two writes."""

    def __init__(self, messages: list[Message], chance: Random) -> None:
        self.messages = {(each.position.topic, each.position.offset): each for each in messages}
        self.queue, self.chance = messages, chance
        self.held: list[Outgoing] = []
        self.committed = dict.fromkeys(JobProcessor().inputs, 0)
        self.processed, self.refused = set[int](), set[int]()
        self.engine = self.restarted()

    def run(self) -> None:
        while left := [each for each in self.queue if not self._is_handled(each)]:
            batch = left[: self.chance.randint(1, 8)]
            if not self.handle(batch):
                self.engine = self.restarted()

    def _is_handled(self, message: Message) -> bool:
        return message.position.offset < self.engine.handled(0).get(message.position.topic, 0)

    def handle(self, batch: list[Message]) -> bool:
        """Handle a batch; False where the worker dies on the way."""
        if self._dies():
            return False
        self.held += self.engine.plan(batch)
        results = self.engine.handle(batch)
        for stage in results.stages:
            if self._dies():
                return False
            if stage is results.records:
                self.processed |= processed(results)
                self.refused |= {one.offset for one in refused(results)}
            else:
                self.held += stage
        if self.chance.random() < 0.5:  # offsets are committed now and then
            self.committed |= self.engine.handled(0)
        return True

    def _dies(self) -> bool:
        return self.chance.random() < 0.05

    def restarted(self) -> Engine:  # type: ignore[type-arg]
        while True:
            engine = self.engine = Engine(
                JobProcessor(), checkpoint_s=0.0, replay_work_s=self.chance.choice((0.0, 1e9))
            )
            topic = engine.processor.state_topic
            engine.load(
                0,
                [
                    Message(Position(topic, 0, at), each.key, each.value or b"", 1.0)
                    for at, each in enumerate(self.held)
                ],
            )
            restored = engine.restore(0, dict(self.committed))
            self.held += restored.writes
            for name, (begin, end) in restored.replay.items():
                engine.replay([self.messages[name, offset] for offset in range(begin, end)])
            planned = [
                self.messages[name, offset] for name, begin, end in restored.planned for offset in range(begin, end)
            ]
            if all(self.handle([message]) for message in planned):
                return engine


@pytest.mark.parametrize("seed", range(30))
def test_a_worker_that_takes_over_refuses_the_same_keys(seed: int) -> None:
    chance = Random(seed)
    messages: list[Message] = []
    offsets, time = {LOGS: 0, EVENTS: 0}, 1e9
    jobs: dict[int, str] = {}
    for _ in range(150):
        time += chance.choice((0, 0, 0.1, 1, 10 if chance.random() < 0.05 else 0))
        if chance.random() < 0.05:
            time += 0.01
            messages.append(started(offsets[EVENTS], f"job-{chance.randrange(60)}", time))
            offsets[EVENTS] += 1
        else:
            jobs[offsets[LOGS]] = job = f"job-{chance.randrange(60)}"
            messages.append(printed(offsets[LOGS], job, time))
            offsets[LOGS] += 1
    cluster = Cluster(messages, chance)
    cluster.run()
    assert cluster.processed | cluster.refused == set(jobs)
    assert not cluster.processed & cluster.refused
    states = cluster.engine._partitions[0]  # noqa: SLF001
    for name in states:
        known = set(states.open(name).state.attempts[0].state_of(Placements()).claimed)
        assert known == {f"n{offset}" for offset in cluster.processed if jobs[offset] == name}


def test_the_limited_time_ends_once_nothing_refused_is_read_again() -> None:
    now = 0.0
    engine = Engine(JobProcessor(), steady=lambda: now, checkpoint_s=0.0, replay_work_s=0.0)
    engine.handle([printed(offset, f"job-{offset}") for offset in range(2 * KEYS)])
    assert engine.handle([printed(50, "job-0", 1e9 + 10)]).limits, "the next worker must know what was refused"
    engine.handle([printed(51, "later", 1e9 + 20)])
    assert engine.handle([printed(52, "job-0", 1e9 + 20)]).limits, "what was refused may not be committed yet"
    now = new_keys.COMMITTED_S + 1
    engine.handle([printed(53, "latest", 1e9 + 40)])
    assert not engine.handle([printed(54, "job-0", 1e9 + 40)]).limits
