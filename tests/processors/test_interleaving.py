"""The last verdict on an attempt, its id included, does not depend on how the topics of lines and of events interleave.

How far the training had come does: as far as its log was read by then.
"""

from collections import Counter, deque
from collections.abc import Sequence

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import ErrorType, EventKind, Failure, JobEvent, LogChunk, Position, Record, topic_of

PROCESSOR = JobProcessor()
PROGRESS = [f"step {number} | loss {2.0 / number:.3f} | 12.5 it/s" for number in range(1, 60)]
BUG = [
    "Traceback (most recent call last):",
    '  File "/home/u/train.py", line 40, in <module>',
    "    main()",
    "KeyError: 'labels'",
]
PARTS: list[list[str]] = [
    PROGRESS[:4],
    PROGRESS[:12],
    BUG,
    BUG[:2],
    ["[rank1]: RuntimeError: NCCL communicator was aborted on rank 1."],
    ["NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=python, GPU has fallen off the bus."],
    ["ERROR something is off"],
    ["fetch: Read timed out", "retrying in 2 s"],
    ["fetch: Read timed out"],
    ["flushing a part of the queue"] * 30,
    ["train.py FAILED", "  exitcode  : 1 (pid: 4242)"],
    ["training complete, model saved"],
]
ENDS: list[dict[str, object]] = [
    {"exit_code": 0, "state": "COMPLETED"},
    {"exit_code": 1, "state": "FAILED"},
    {"exit_code": 0, "signal": 9, "state": "FAILED"},
    {"state": "CANCELLED by 1000", "signal": 15},
    {"state": "TIMEOUT"},
]


def chunks(parts: Sequence[tuple[int, list[str]]], attempt: int = 0) -> list[LogChunk]:
    """Return the parts (rank, lines) as chunks, five seconds apart; lines are counted within a rank."""
    lines: dict[int, int] = {}
    made = []
    for number, (rank, part) in enumerate(parts):
        first = lines.get(rank, 1)
        lines[rank] = first + len(part)
        made.append(
            LogChunk(
                job="j", attempt=attempt, rank=rank, node=f"n{rank}", producer=f"p{rank}", lines=part,
                time=1000.0 * (1 + attempt) + 5 * number,
                first_line=first, first_piece=first,
            )
        )  # fmt: skip
    return made


def ends(end: dict[str, object], attempt: int = 0) -> list[JobEvent]:
    """Return what the scheduler says of an attempt."""
    times = ((EventKind.STARTED, 990.0, {}), (EventKind.ENDED, 1500.0, end))
    return [
        JobEvent(
            id=f"{kind}{attempt}", job="j", attempt=attempt, kind=kind, time=1000.0 * attempt + time, nodes=["n0", "n1", "n2"],
            **more,  # type: ignore[arg-type]
        )
        for kind, time, more in times
    ]  # fmt: skip


def last(logs: Sequence[Record], events: Sequence[JobEvent], turns: Sequence[bool]) -> dict[int, Failure]:
    """Read both topics, each in its own order, by `turns`; return the verdicts in force, by attempt."""
    state, verdicts = JobState(job="j"), dict[int, Failure]()
    queues: list[deque[Record]] = [deque(logs), deque(events)]
    offsets, choices = Counter[str](), iter([*turns, *[False] * 1000])
    while any(queues):
        which = next(choices) if all(queues) else not queues[0]
        record = queues[which].popleft()
        topic = topic_of(record).name
        position = Position(topic, 0, offsets[topic])
        offsets[topic] += 1
        for made in PROCESSOR.process(state, position, record):
            if isinstance(made, Failure):
                assert made.attempt not in verdicts or made.revision > verdicts[made.attempt].revision
                verdicts[made.attempt] = made
        state = msgspec.json.decode(msgspec.json.encode(state), type=JobState)
    return {
        attempt: msgspec.structs.replace(verdict, revision=0, step=None, epoch=None)
        for attempt, verdict in verdicts.items()
        if verdict.error_type is not ErrorType.NONE
    }


@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(PARTS)), min_size=1, max_size=9),
    st.sampled_from(ENDS),
    st.lists(st.lists(st.booleans(), max_size=12), min_size=2, max_size=5),
)
def test_the_last_verdict_is_the_same_in_every_interleaving(
    parts: list[tuple[int, list[str]]], end: dict[str, object], orders: list[list[bool]]
) -> None:
    logs, events = chunks(parts), ends(end)
    first = last(logs, events, [])
    assert all(last(logs, events, order) == first for order in orders)


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 2), st.sampled_from(PARTS)), min_size=1, max_size=6), min_size=2, max_size=2
    ),
    st.lists(st.sampled_from(ENDS), min_size=2, max_size=2),
    st.lists(st.lists(st.booleans(), max_size=14), min_size=2, max_size=5),
)
def test_so_are_those_of_a_job_that_was_restarted(
    parts: list[list[tuple[int, list[str]]]], ended: list[dict[str, object]], orders: list[list[bool]]
) -> None:
    logs = [chunk for attempt, part in enumerate(parts) for chunk in chunks(part, attempt)]
    events = [event for attempt, end in enumerate(ended) for event in ends(end, attempt)]
    first = last(logs, events, [])
    assert all(last(logs, events, order) == first for order in orders)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(PARTS)), min_size=1, max_size=6),
    st.sampled_from([None, *ENDS]),
    st.lists(st.tuples(st.integers(0, 6), st.sampled_from(["pipe", "producer"]), st.sampled_from([0, 1, 137]))),
    st.lists(st.booleans(), max_size=12),
)
def test_ends_that_producers_report_change_no_verdict_on_a_job_that_a_scheduler_reports(
    parts: list[tuple[int, list[str]]],
    end: dict[str, object] | None,
    forged: list[tuple[int, str, int]],
    order: list[bool],
) -> None:
    logs: list[Record] = [*chunks(parts)]
    events = [msgspec.structs.replace(event, scheduler="slurm") for event in ends(end or {})]
    events = events if end else events[:1]
    with_ends = list(logs)
    for place, scheduler, code in forged:
        with_ends.insert(
            place,
            JobEvent(
                id=f"{scheduler}{place}",
                job="j",
                kind=EventKind.ENDED,
                time=1010.0,
                scheduler=scheduler,
                exit_code=code,
            ),
        )
    found = last(with_ends, events, order)
    if end:
        assert found == last(logs, events, [])
    else:
        assert not any(verdict.final for verdict in found.values())


def test_a_verdict_said_again_after_another_has_its_id_back() -> None:
    logs = chunks([(0, PROGRESS[:12]), (0, ["ERROR something is off"]), (0, PROGRESS[12:30])])
    end = JobEvent(id="e", job="j", kind=EventKind.ENDED, time=1500.0, exit_code=1, state="FAILED")
    early, late = last(logs, [end], [True]), last(logs, [end], [])
    assert early == late
    assert early[0].signature == "exit_1"
