"""The checker of chaos finds nothing where all is right, and each kind of wrong where it is not."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.chaos import run as chaos_run
from benchmarks.chaos.__main__ import main
from benchmarks.chaos.checker import Verdict, check
from benchmarks.chaos.faults import Window
from benchmarks.chaos.hostile import UNDECODABLE
from benchmarks.chaos.jobs import Job, Way
from benchmarks.chaos.observed import Observed
from benchmarks.chaos.planted import missed, plant
from benchmarks.chaos.replay import MADE, Replayed, identity, replay
from schedmate_records import TOPICS, DeadLetter, Decision, EventKind, JobEvent, LogChunk, Position, encode
from schedmate_records.decision import Action, Mode
from schedmate_records.decision_result import DecisionResult, Outcome
from sinks.clickhouse.tables import TABLE_OF
from streams.transport import Message, outgoing

JOB = Job("honest-0", Way.PIPE, "xid", 30, 0.0, printed_at=103.0)
DECISION = "restart/honest-0/0/xid"


def world() -> tuple[Observed, Replayed]:
    """Topics and tables after one job, all as it must be."""
    topics: dict[str, list[Message]] = {topic.name: [] for topic in TOPICS}

    def put(topic: str, key: bytes, value: bytes, time: float) -> None:
        topics[topic].append(Message(Position(topic, 0, len(topics[topic])), key, value, time))

    lines = JOB.lines
    for number, first in enumerate(range(0, len(lines), 10)):
        chunk = LogChunk(job=JOB.name, producer="p", seq=number, lines=lines[first : first + 10], time=100.0 + number,
                         first_line=first + 1, first_piece=first + 1)  # fmt: skip
        put("job-logs", b"honest-0", encode(chunk), 100.0 + number)
    put("job-events", UNDECODABLE, b"[", 100.0)
    letter = DeadLetter(id="dead", topic="job-events", partition=0, offset=0, time=100.0, reason="r")
    put("dead-letters", b"job-events", encode(letter), 100.0)
    replayed = replay(topics)
    for topic in MADE:
        for value in replayed.made[topic].values():
            put(topic, b"honest-0", value, 105.0)
    decision = Decision(id=DECISION, action=Action.RESTART, job=JOB.name, time=105.0, expires=999.0, mode=Mode.SHADOW, policy="p",
                        reason="r", cause="xid", cause_id="c")  # fmt: skip
    result = DecisionResult(id=f"{DECISION}/shadowed", decision_id=DECISION, action=Action.RESTART, job=JOB.name, time=105.0,
                            outcome=Outcome.SHADOWED)  # fmt: skip
    for record in (decision, result):
        made = outgoing(record)
        put(made.topic, b"honest-0", made.value or b"", 105.0)
    ids: dict[str, list[str]] = {table: [] for table in TABLE_OF.values()}
    for topic, table in TABLE_OF.items():
        ids[table] += [identity(topic, each.value) for each in topics[topic] if each.value != b"["]
    steps, results = {JOB.name: JOB.count}, [(DECISION, "shadowed")]
    return Observed(topics, ids, steps, results, {("job-events", 0, 0)}, []), replayed


def without_a_chunk(seen: Observed) -> Observed:
    return replace(seen, topics={**seen.topics, "job-logs": seen.topics["job-logs"][:1]})


def with_ids(table: str, change: Callable[[list[str]], list[str]]) -> Callable[[Observed], Observed]:
    return lambda seen: replace(seen, ids={**seen.ids, table: change(seen.ids[table])})


def with_topic(topic: str, change: Callable[[list[Message]], list[Message]]) -> Callable[[Observed], Observed]:
    return lambda seen: replace(seen, topics={**seen.topics, topic: change(seen.topics[topic])})


pytestmark = pytest.mark.slow


def test_all_is_well() -> None:
    observed, replayed = world()
    assert replayed.made["failures"], "the job's last line leads to a verdict"
    assert check([JOB], observed, replayed, [], 10.0).problems == []


@pytest.mark.parametrize(
    ("figure", "change"),
    [
        ("jobs with wrong lines", without_a_chunk),
        ("rows doubled", with_ids("failures", lambda ids: [*ids, ids[0]])),
        ("rows missing", with_ids("job_metrics", lambda ids: ids[1:])),
        ("rows of nothing", with_ids("job_metrics", lambda ids: [*ids, "made up"])),
        ("records missing", with_topic("failures", lambda messages: messages[1:])),
        ("records differing", with_topic("job-metrics", lambda seen: [replace(each, value=each.value + b" ") for each in seen])),
        ("verdicts missing", with_topic("failures", lambda messages: [])),
        ("verdicts late", with_topic("failures", lambda seen: [replace(each, time=150.0) for each in seen])),
        ("wrong last steps", lambda seen: replace(seen, steps={JOB.name: 29})),
        ("wrong decisions", lambda seen: replace(seen, results=[(DECISION, "started")])),
        ("wrong decisions", with_ids("decisions", lambda ids: [])),
        ("undecodable messages without a dead letter", lambda seen: replace(seen, buried=set())),
        ("records at which a processor failed", lambda seen: replace(seen, failed=["job-logs: KeyError"])),
    ],
)  # fmt: skip
def test_it_finds(figure: str, change: Callable[[Observed], Observed]) -> None:
    observed, replayed = world()
    found = check([JOB], change(observed), replayed, [], 10.0)
    assert found.figures[figure] >= 1, found.problems


def test_a_fault_explains_a_late_verdict() -> None:
    observed, replayed = world()
    late = with_topic("failures", lambda seen: [replace(each, time=150.0) for each in seen])(observed)
    assert check([JOB], late, replayed, [Window("kill", "worker-1", 101.0, 140.0)], 10.0).figures["verdicts late"] == 0


@pytest.mark.parametrize(
    ("kinds", "wrong"),
    [
        ((EventKind.SUBMITTED, EventKind.STARTED, EventKind.ENDED), 0),
        ((EventKind.SUBMITTED, EventKind.STARTED), 1),
        ((EventKind.SUBMITTED, EventKind.STARTED, EventKind.REQUEUED, EventKind.ENDED), 1),
    ],
)
def test_what_the_watcher_told_is_held_against_what_happened(kinds: tuple[EventKind, ...], wrong: int) -> None:
    observed, replayed = world()
    for kind in kinds:
        ended = {"exit_code": 1} if kind is EventKind.ENDED else {}
        event = JobEvent(id=f"slurm/{kind}", job=JOB.name, kind=kind, time=103.0, scheduler="slurm", **ended)
        messages = observed.topics["job-events"]
        messages.append(Message(Position("job-events", 0, len(messages)), b"honest-0", encode(event), 103.0))
    found = check([replace(JOB, way=Way.BATCH)], observed, replayed, [], 10.0)
    assert found.figures["batch jobs of which the watcher told wrongly"] == wrong


def test_the_checker_finds_all_that_is_planted() -> None:
    observed, replayed = world()
    assert list(missed([JOB], observed, replayed, [], 10.0)) == []
    assert check([JOB], observed, replayed, [], 10.0).problems == [], "the planted faults are in a copy"


def test_what_is_planted_is_one_lost_row_one_doubled_row_and_one_repeated_action() -> None:
    observed, replayed = world()
    found = check([JOB], plant(observed)[0], replayed, [], 10.0).figures
    assert [found[each] for each in ("rows missing", "rows doubled", "rows of nothing", "wrong decisions")] == [
        1,
        1,
        0,
        1,
    ]


@pytest.mark.parametrize(
    ("figure", "name"),
    [("rows missing", "a lost row"), ("rows doubled", "a doubled row"), ("wrong decisions", "a repeated action")],
)
def test_a_checker_that_misses_a_planted_fault_is_reported(
    figure: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def blind(self: Verdict, problems: Iterator[str], found: str) -> None:
        if found != figure:
            add(self, problems, found)

    add = Verdict.add
    monkeypatch.setattr(Verdict, "add", blind)
    observed, replayed = world()
    (problem,) = missed([JOB], observed, replayed, [], 10.0)
    assert name in problem


def test_an_output_in_which_nothing_can_be_planted_is_reported() -> None:
    observed, replayed = world()
    (problem,) = missed([JOB], replace(observed, results=[]), replayed, [], 10.0)
    assert "not tried" in problem


def test_a_run_ends_with_an_error_where_the_checker_misses_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "benchmarks.chaos.__main__.run",
        lambda *_: chaos_run.Outcome(chaos_run.Options(), problems=["the checker missed a lost row"]),
    )
    monkeypatch.setattr("sys.argv", ["chaos", "--keep", str(tmp_path / "kept")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
