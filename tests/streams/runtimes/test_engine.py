"""The engine: repeats change nothing, poison does not stop it, states come back."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import pytest

from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import (
    Component,
    DeadLetter,
    ErrorType,
    EventKind,
    Evidence,
    JobEvent,
    JobMetric,
    LogChunk,
    NodeFinding,
    Placement,
    Position,
    Record,
    Severity,
    decode,
    encode,
)
from streams.partition import partition_of
from streams.runtimes.engine import Engine
from streams.runtimes.results import Results
from streams.transport import Message
from tests.metric_values import value


def steps(first: int, count: int) -> list[str]:
    return [f"step {number} | loss {1 / number:.4f} | step_time 0.25 s" for number in range(first, first + count)]


def logs(offset: int, lines: list[str], first: int = 1, job: str = "j", attempt: int = 0) -> Message:
    chunk = LogChunk(
        job=job, attempt=attempt, producer="p", lines=lines, time=100.0 + offset, first_line=first, first_piece=first
    )
    return Message(Position("job-logs", 0, offset), job.encode(), encode(chunk), 100.0)


def metrics(results: Results) -> list[JobMetric]:
    return [decode(JobMetric, each.value or b"") for each in results.records if each.topic == "job-metrics"]


def letters(results: Results) -> list[DeadLetter]:
    return [decode(DeadLetter, each.value or b"") for each in results.records if each.topic == "dead-letters"]


def test_a_metric_follows_from_progress_lines_with_an_id_from_the_input() -> None:
    results = Engine(JobProcessor()).handle([logs(5, steps(1, 30))])
    (metric,) = metrics(results)
    assert (metric.step, metric.step_time_s, metric.id) == (30, 0.25, "metric/j/job-logs/0/5/30")
    assert metric.evidence[0].text == steps(30, 1)[0]
    assert not results.states, "it can be read again"


def test_messages_that_a_state_includes_change_nothing() -> None:
    engine = Engine(JobProcessor())
    engine.handle([logs(5, steps(1, 30)), logs(6, steps(31, 30), 31)])
    again = engine.handle([logs(5, steps(1, 30)), logs(6, steps(31, 30), 31)])
    assert again.records == []
    assert value(engine.metrics.repeated) == 2


def eager() -> Engine[JobState]:
    """Return an engine that stores everything at once."""
    return Engine(JobProcessor(), checkpoint_s=0.0, replay_work_s=0.0)


def stored(results: Sequence[Results]) -> list[Message]:
    written = [each for result in results for stage in (result.states, result.parts, result.markers) for each in stage]
    return [
        Message(Position(JobProcessor.state_topic, 0, at), each.key, each.value or b"", 0.0)
        for at, each in enumerate(written)
    ]


def restored(messages: Sequence[Message], committed: int, replay: Sequence[Message] = ()) -> Engine[JobState]:
    engine = Engine(JobProcessor())
    engine.load(0, messages)
    found = engine.restore(0, dict.fromkeys(JobProcessor().inputs, committed))
    begin, end = found.replay.get("job-logs", (committed, committed))
    engine.replay([each for each in replay if begin <= each.position.offset < end])
    return engine


def values(results: Sequence[Results]) -> list[bytes | None]:
    return [each.value for result in results for each in result.records]


@pytest.mark.parametrize("order", [1, -1])
def test_a_restored_engine_goes_on_as_if_it_had_never_stopped(order: int) -> None:
    messages = [logs(offset, steps(offset * 10 + 1, 10), offset * 10 + 1) for offset in range(6)]
    through, first = Engine(JobProcessor()), eager()
    expected = [through.handle([message]) for message in messages]
    saved = stored([first.handle([message]) for message in messages[:3]])
    second = restored(saved[::order], 3)
    assert values([second.handle(messages)]) == values(expected[3:]), (
        "the state with the most input wins, wherever it stands"
    )


def test_states_that_were_not_stored_follow_from_the_input() -> None:
    messages = [logs(offset, steps(offset * 10 + 1, 10), offset * 10 + 1) for offset in range(6)]
    through = Engine(JobProcessor())
    expected = [through.handle([message]) for message in messages]
    begun = Engine(JobProcessor())
    begin = begun.restore(0, dict.fromkeys(JobProcessor().inputs, 0)).writes
    lost = [begun.handle([message]) for message in messages[:4]]
    assert stored(lost) == [], "nothing was stored before the worker died"
    second = restored(stored([Results(markers=begin)]), 4, messages)
    assert value(second.metrics.replayed) == 4
    assert values([second.handle(messages)]) == values(expected[4:])


def test_what_an_event_changed_is_stored_at_once_and_its_streams_are_made_up_for() -> None:
    messages = [logs(offset, steps(offset * 10 + 1, 10), offset * 10 + 1) for offset in range(8)]
    packed = JobEvent(id="p", job="j", kind=EventKind.PACKED, time=104.5, packed_with="k", scheduler="slurm")
    event = Message(Position("job-events", 0, 0), b"j", encode(packed), 104.5)
    through, first = Engine(JobProcessor()), Engine(JobProcessor())
    expected = [through.handle([message]) for message in [*messages[:4], event, *messages[4:]]]
    begin = first.restore(0, dict.fromkeys(JobProcessor().inputs, 0)).writes
    done = [Results(markers=begin), *(first.handle([message]) for message in [*messages[:4], event, *messages[4:6]])]
    (written,) = [each for result in done for each in result.states]
    assert written.key is not None
    assert written.key.startswith(b"j\x00\x00")
    second = Engine(JobProcessor())
    second.load(0, stored(done))
    found = second.restore(0, {**dict.fromkeys(JobProcessor().inputs, 1), "job-logs": 6})
    assert found.replay == {"job-logs": (0, 6)}
    second.replay(messages[:6])
    assert values([second.handle([event, *messages[6:]])]) == values(expected[7:])


def test_a_late_write_of_a_worker_that_lost_the_partition_does_no_harm_after_compaction() -> None:
    messages = [logs(offset, steps(offset * 10 + 1, 10), offset * 10 + 1) for offset in range(6)]
    through, lost, owner = Engine(JobProcessor()), eager(), eager()
    expected = [through.handle([message]) for message in messages]
    begun = dict.fromkeys(JobProcessor().inputs, 0)
    log = stored([Results(markers=lost.restore(0, begun).writes)])
    late = stored([lost.handle(messages[:1])])
    owner.load(0, log)
    log += stored([Results(markers=owner.restore(0, begun).writes), *(owner.handle([each]) for each in messages[:4])])
    compacted = {each.key: each for each in [*log, *late]}
    second = restored([each for each in compacted.values() if each.value], 4, messages)
    assert value(second.metrics.replayed) == 0
    assert values([second.handle(messages)]) == values(expected[4:])


def test_messages_that_nobody_needs_are_deleted_at_a_restart() -> None:
    first, second = eager(), eager()
    begun = dict.fromkeys(JobProcessor().inputs, 0)
    log = stored([Results(markers=first.restore(0, begun).writes), first.handle([logs(0, steps(1, 5))])])
    second.load(0, log)
    (marker, *deleted) = second.restore(0, {**begun, "job-logs": 1}).writes
    assert marker.value
    assert [each.value for each in deleted] == [None], "the marker of the worker before"
    log += stored([Results(markers=[marker, *deleted]), second.handle([logs(1, steps(6, 5), 6)])])
    newest = {each.key: each.value for each in log}
    assert sum(bool(value) for value in newest.values()) == 3, "a state, a stream, a marker"


def test_only_what_changed_is_stored() -> None:
    engine = eager()
    engine.handle([rank(offset, offset) for offset in range(50)])
    results = engine.handle([rank(50, 7, 2)])
    assert [each.key for each in results.parts] == [b"j\x000/7/stdout\x000"]
    assert [each.key for each in results.states] == [b"j\x00\x000"]


def rank(offset: int, number: int, first: int = 1) -> Message:
    chunk = LogChunk(
        job="j", rank=number, producer="p", lines=steps(first, 5), time=100.0, first_line=first, first_piece=first
    )
    return Message(Position("job-logs", 0, offset), b"j", encode(chunk), 100.0)


def test_the_states_of_jobs_that_ended_are_deleted_an_hour_later() -> None:
    engine = Engine(JobProcessor(), checkpoint_s=0.0, replay_work_s=0.0)
    ended = JobEvent(id="e", job="j", kind=EventKind.ENDED, time=1e9, exit_code=0)
    engine.handle([logs(0, steps(1, 5)), Message(Position("job-events", 0, 0), b"j", encode(ended), 1e9)])
    engine.handle([logs(1, steps(1, 5), job="other")])
    assert value(engine.metrics.states) == 2
    results = engine.handle([replace(logs(2, steps(6, 5), 6, job="other"), time=1e9 + 4000)])
    assert [(each.key, each.value) for each in results.parts if each.value is None] == [
        (b"j\x000/0/stdout\x000", None),
        (b"j\x00\x000", None),
    ]
    assert value(engine.metrics.states) == 1
    late = engine.handle([logs(3, ["a last word"], 6)])
    assert late.records == []


@pytest.mark.parametrize("ahead", [-7200, 7200])
def test_a_worker_whose_clock_is_wrong_forgets_no_state_of_another(ahead: float) -> None:
    ended = JobEvent(id="e", job="j", kind=EventKind.ENDED, time=1e9, exit_code=0)
    first = Engine(JobProcessor(), clock=lambda: 1e9, checkpoint_s=0.0, replay_work_s=0.0)
    results = first.handle([Message(Position("job-events", 0, 0), b"j", encode(ended), 1e9)])
    second = Engine(
        JobProcessor(), clock=lambda: 1e9 + ahead, steady=lambda: ahead, checkpoint_s=0.0, replay_work_s=0.0
    )
    stored = [*results.states, *results.parts, *results.markers]
    second.load(
        0, [Message(Position("job-state", 0, at), each.key, each.value or b"", 1e9) for at, each in enumerate(stored)]
    )
    second.restore(0, {"job-logs": 0, "job-events": 1})
    made = [
        second.handle([replace(logs(offset, steps(1 + 5 * offset, 5), 1 + 5 * offset), time=1e9)])
        for offset in range(3)
    ]
    assert value(second.metrics.forgotten) == 0
    assert len([each for results in made for each in results.records if each.topic == "job-metrics"]) == 3


def test_workers_that_end_soon_do_not_begin_ever_further_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each message is a second of work; each worker handles twenty and ends, ten short of those after which states are stored."""
    monkeypatch.setattr("time.thread_time", count().__next__)
    stored: list[Message] = []
    handled, reread = 0, []
    for _ in range(12):
        engine = Engine(JobProcessor(), checkpoint_s=0.0, replay_work_s=30.0)
        engine.load(0, stored)
        restored = engine.restore(0, {"job-logs": handled})
        made = list(restored.writes)
        begin, end = restored.replay.get("job-logs", (handled, handled))
        reread.append(end - begin)
        for offset in range(begin, end):
            engine.replay([logs(offset, steps(1, 5), job=f"job-{offset}")])
        for offset in range(handled, handled + 20):
            results = engine.handle([logs(offset, steps(1, 5), job=f"job-{offset}")])
            made += [*results.states, *results.parts, *results.markers]
        handled += 20
        stored += [
            Message(Position("job-state", 0, len(stored) + at), each.key, each.value or b"", 1e9)
            for at, each in enumerate(made)
        ]
    assert max(reread) <= 60


def test_a_state_that_grows_too_large_is_trimmed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streams.runtimes.states.LARGEST", 2000)
    engine = eager()
    for offset in range(60):
        text = "".join(f"{offset * 7919 + each * 104729:x}" for each in range(30))
        results = engine.handle(
            [logs(offset, [f"step {offset + 1} | loss 0.5 | step_time 0.25 s | {text}"], offset + 1)]
        )
        assert all(len(each.value or b"") <= 2000 for each in (*results.states, *results.parts))
    assert value(engine.metrics.trimmed)


def test_batches_of_any_size_make_the_same_records() -> None:
    messages = [logs(offset, steps(offset * 10 + 1, 10), offset * 10 + 1) for offset in range(6)]
    one_by_one = Engine(JobProcessor())
    single = [record for message in messages for record in one_by_one.handle([message]).records]
    assert Engine(JobProcessor()).handle(messages).records == single


class Fragile(JobProcessor):
    def process(self, state: JobState, position: Position, record: Record) -> list[Record]:
        made = super().process(state, position, record)
        if isinstance(record, LogChunk) and "poison" in record.lines:
            raise ZeroDivisionError("half-way")
        return made


def test_poison_becomes_a_dead_letter_and_leaves_no_trace() -> None:
    poison = logs(1, ["poison", *steps(500, 5)], 11)
    sound: Sequence[Message] = [logs(0, steps(1, 10)), logs(2, steps(11, 10), 17)]
    results = Engine(Fragile()).handle([sound[0], poison, sound[1]])
    (letter,) = letters(results)
    assert (letter.stage, letter.offset, letter.value) == ("process", 1, poison.value)
    assert "ZeroDivisionError" in letter.reason
    assert [metric.step for metric in metrics(results)] == [10, 20]


class Careless(JobProcessor):
    def process(self, state: JobState, position: Position, record: Record) -> list[Record]:
        made = super().process(state, position, record)
        assert isinstance(record, LogChunk)
        return [*made, *(Placement(job="j", node=line, since=1.0, seen=1.0) for line in record.lines)]


def test_results_that_their_readers_refuse_are_not_written() -> None:
    engine = Engine(Careless())
    results = engine.handle([logs(0, ["n1"]), logs(1, ["n1\x1b[31m", "n2", ""], 2), logs(2, ["n3"], 5)])
    (letter,) = letters(results)
    assert (letter.stage, letter.offset) == ("process", 1)
    assert "printable characters in node" in letter.reason
    assert [decode(Placement, each.value or b"").node for each in results.records if each.topic == "placements"] == [
        "n1",
        "n3",
    ]


def test_unreadable_messages_become_dead_letters_with_their_place() -> None:
    bad = Message(Position("job-events", 0, 3), b"j", b"{nonsense", 5.0)
    engine = Engine(JobProcessor())
    (letter,) = letters(engine.handle([bad, logs(0, steps(1, 5))]))
    assert (letter.topic, letter.offset, letter.value) == ("job-events", 3, b"{nonsense")
    assert value(engine.metrics.dead_letters) == 1


def test_two_jobs_under_one_id_are_told() -> None:
    def by(producer: str, offset: int) -> Message:
        chunk = LogChunk(
            job="j", producer=producer, lines=["x"], time=1.0, first_line=offset + 1, first_piece=offset + 1
        )
        return Message(Position("job-logs", 0, offset), b"j", encode(chunk), 1.0)

    results = Engine(JobProcessor()).handle(
        [by("host-a", 0), by("host-b", 1), by("host-a", 2), by("host-b", 3), by("host-a", 4)]
    )
    (event,) = [decode(JobEvent, each.value or b"") for each in results.records if each.topic == "job-events"]
    assert event.kind is EventKind.ID_CONFLICT
    assert "host-a" in event.detail
    assert "host-b" in event.detail


def test_an_unreadable_state_is_passed_over(capsys: pytest.CaptureFixture[str]) -> None:
    engine = Engine(JobProcessor())
    engine.load(0, [Message(Position(JobProcessor.state_topic, 0, 0), b"j", b"{broken", 0.0)])
    assert engine.restore(0, dict.fromkeys(JobProcessor().inputs, 0)).states == 0
    assert metrics(engine.handle([logs(0, steps(1, 5))]))


def test_a_forgotten_partition_is_gone() -> None:
    engine = eager()
    engine.handle([logs(0, steps(1, 5))])
    assert engine.partitions == {0}
    assert value(engine.metrics.states) == 1
    engine.forget(0)
    assert engine.partitions == set()


def test_a_message_in_a_wrong_partition_is_counted() -> None:
    engine = Engine(JobProcessor(), partitions=4)
    engine.handle([logs(0, steps(1, 5))])
    assert value(engine.metrics.misplaced) == (partition_of(b"j", 4) != 0)
    wrong = (partition_of(b"j", 4) + 1) % 4
    message = logs(1, steps(6, 5), 6)
    engine.handle([Message(Position("job-logs", wrong, 0), b"j", message.value, 1.0)])
    assert value(engine.metrics.misplaced) == 1 + (partition_of(b"j", 4) != 0)


def test_a_finding_about_no_job_does_not_take_the_markers_place() -> None:
    engine = eager()
    begin = engine.restore(0, dict.fromkeys(JobProcessor().inputs, 0)).writes
    alone = NodeFinding(
        id="f", job="", attempt=0, node="n1", time=1.0, since=1.0, signature="s", severity=Severity.INFO,
        error_type=ErrorType.NONE, component=Component.NONE, place=Evidence(topic="node-logs", partition=0, offset=0, line=1, text="x"),
    )  # fmt: skip
    results = engine.handle([Message(Position("node-findings", 0, 0), b"", encode(alone), 1.0), logs(0, steps(1, 5))])
    keys = [each.key for each in (*results.states, *results.parts)]
    assert begin[0].key not in keys


def test_a_silence_leaves_a_stream_as_it_was_when_it_is_read_again() -> None:
    """What waits is told in a silence; a worker that reads it again must keep to the same reports as the one before."""

    def at(offset: int, time: float, lines: list[str], first: int) -> Message:
        chunk = LogChunk(job="j", producer="p", lines=lines, time=time, first_line=first, first_piece=first)
        return Message(Position("job-logs", 0, offset), b"j", encode(chunk), 100.0)

    messages = [at(each, 100 + each / 2, steps(each + 1, 1), each + 1) for each in range(7)]
    messages.append(at(7, 103.4, [], 8))
    messages += [at(each, 100 + each / 2, steps(each, 1), each) for each in range(8, 20)]
    start = JobEvent(id="e", job="j", kind=EventKind.STARTED, time=100.0)
    event = Message(
        Position("job-events", 0, 0), b"j", encode(start), 100.0
    )  # has the job's own state stored, and no stream's
    for died in range(8, 19):
        first, second = Engine(JobProcessor()), Engine(JobProcessor())
        begin = first.restore(0, dict.fromkeys(JobProcessor().inputs, 0)).writes
        done = [first.handle([message]) for message in [*messages[:died], event]]
        expected = [first.handle([message]) for message in messages[died:]]
        second.load(0, stored([Results(markers=begin), *done]))
        second.restore(0, {**dict.fromkeys(JobProcessor().inputs, 0), "job-logs": died, "job-events": 1})
        second.replay(messages[:died])
        assert [len(each.records) for each in (second.handle([m]) for m in messages[died:])] == [
            len(each.records) for each in expected
        ], died


def test_what_is_acknowledged_is_measured_by_the_arrival_of_its_lines() -> None:
    engine = Engine(JobProcessor(), clock=lambda: 110.0)
    crash = ["Traceback (most recent call last):", '  File "a.py", line 1, in <module>', "ValueError: bad shape"]
    batch = [logs(5, steps(1, 30)), logs(6, ["torch.OutOfMemoryError: CUDA out of memory."], 31), logs(7, crash, 32)]
    results = engine.handle(batch)
    assert results.explained == [106.0], "only the first verdict of an attempt"
    assert value(engine.metrics.end_to_end) == 0, "nothing is acknowledged yet"
    engine.acknowledged(results)
    assert (value(engine.metrics.batch_duration), value(engine.metrics.end_to_end)) == (1, 1)
    assert value(engine.metrics.verdict_latency) == 1
    (family,) = engine.metrics.verdict_latency.collect()
    assert [sample.value for sample in family.samples if sample.name.endswith("_sum")] == [4.0]
    engine.acknowledged(engine.handle(batch))
    assert value(engine.metrics.verdict_latency) == 1, "a repeat says nothing new"
