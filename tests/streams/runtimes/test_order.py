"""The order in which messages were taken, told to the next worker."""

from hypothesis import given
from hypothesis import strategies as st

from processors.job import JobProcessor
from schedmate_records import Position
from streams.runtimes.engine import Engine
from streams.runtimes.order import MOST, Order, beyond, to_take_again, topic_by_topic
from streams.transport import Message, Outgoing, outgoing

from .workers import chunk, endings

LOGS, EVENTS = "job-logs", "job-events"


@given(st.lists(st.sampled_from([LOGS, EVENTS]), max_size=MOST))
def test_runs_give_the_order_back(topics: list[str]) -> None:
    places = [Position(topic, 0, topics[:at].count(topic)) for at, topic in enumerate(topics)]
    order = Order()
    for place in places:
        order.record([place])
    assert [Position(topic, 0, at) for topic, first, end in order.runs for at in range(first, end)] == places


def test_the_oldest_of_too_much_is_let_go() -> None:
    order = Order()
    order.record([Position(LOGS, 0, 2 * number) for number in range(2 * MOST)])
    assert order.runs == [(LOGS, 2 * number, 2 * number + 1) for number in range(MOST, 2 * MOST)]


def test_runs_that_were_dropped_are_taken_again_first() -> None:
    runs = [(EVENTS, 3, 5), (LOGS, 7, 8), (EVENTS, 5, 6), (LOGS, 8, 9)]
    assert to_take_again(runs, {LOGS: 4, EVENTS: 4}) == [(LOGS, 4, 7), (EVENTS, 4, 5), *runs[1:]]
    assert to_take_again(runs, {LOGS: 9, EVENTS: 5}) == [(EVENTS, 5, 6)]


def test_a_batch_is_taken_topic_by_topic() -> None:
    batch = [Message(Position(topic, at % 2, at), b"", b"", 1.0) for at in range(MOST) for topic in (EVENTS, LOGS)]
    order = Order()
    order.record(each.position for each in topic_by_topic(batch, (LOGS, EVENTS)) if each.position.partition == 1)
    taken = [(topic, at) for topic, first, end in order.runs for at in range(first, end)]
    assert taken == [(topic, at) for topic in (LOGS, EVENTS) for at in range(1, MOST, 2)]


def test_what_is_committed_is_not_taken_again() -> None:
    runs = [(LOGS, 0, 5), (EVENTS, 3, 4), (LOGS, 5, 9), ("gone", 0, 1)]
    assert beyond(runs, {LOGS: 4, EVENTS: 4}) == [(LOGS, 4, 5), (LOGS, 5, 9)]


LINE = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus."
CHUNKS = [
    Message(Position(LOGS, 0, at), b"job-0", outgoing(chunk("job-0", at, [line], 1)).value or b"", 1.0)
    for at, line in enumerate(["step 1 | loss 2.0 | step_time 0.1 s", LINE])
]
END = Message(Position(EVENTS, 0, 0), b"job-0", outgoing(endings(1)[0]).value or b"", 1.0)


def _worker(held: list[Outgoing], committed: dict[str, int]) -> tuple[Engine, list[tuple[str, int, int]]]:  # type: ignore[type-arg]
    engine = Engine(JobProcessor())
    state = engine.processor.state_topic
    engine.load(0, [Message(Position(state, 0, at), each.key, each.value or b"", 1.0) for at, each in enumerate(held)])
    restored = engine.restore(0, dict.fromkeys(engine.processor.inputs, 0) | committed)
    held += restored.writes
    return engine, restored.planned


def _ids(engine: Engine, batches: list[list[Message]], held: list[Outgoing]) -> set[bytes]:  # type: ignore[type-arg]
    made: set[bytes] = set()
    for batch in batches:
        held += engine.plan(batch)
        made |= {each.value or b"" for each in engine.handle(batch).records}
    return made


def test_a_worker_that_dies_before_its_commit_is_followed_in_its_order() -> None:
    """The first one takes the job's end before its last line, and so the records speak twice of the failure."""
    held: list[Outgoing] = []
    first, planned = _worker(held, {})
    assert not planned
    taken = [[CHUNKS[0], END], [CHUNKS[1]]]
    made = _ids(first, taken, held)
    other, _ = _worker([], {})
    assert made != _ids(other, [[*CHUNKS, END]], []), "another order would say something else"

    second, planned = _worker(held, {LOGS: 1})
    assert planned == [(EVENTS, 0, 1), (LOGS, 1, 2)], "the first chunk is committed"
    by_place = {(each.position.topic, each.position.offset): each for each in [*CHUNKS, END]}
    second.replay([CHUNKS[0]])
    again = _ids(second, [[by_place[topic, at]] for topic, low, high in planned for at in range(low, high)], held)
    assert again <= made
    assert again

    third, planned = _worker(held, {LOGS: 1})
    assert planned == [(EVENTS, 0, 1), (LOGS, 1, 2)], "who follows the second does as well"
    assert third.handled(0)[LOGS] == 1


def test_who_dies_on_the_way_leaves_the_rest_of_the_order() -> None:
    held: list[Outgoing] = []
    first, _ = _worker(held, {})
    _ids(first, [[CHUNKS[0], END], [CHUNKS[1]]], held)
    second, planned = _worker(held, {})
    assert planned == [(LOGS, 0, 1), (EVENTS, 0, 1), (LOGS, 1, 2)]
    _ids(second, [[CHUNKS[0]]], held)
    _, planned = _worker(held, {})
    assert planned == [(LOGS, 0, 1), (EVENTS, 0, 1), (LOGS, 1, 2)]


def test_nothing_is_lost_where_more_was_taken_than_the_order_keeps() -> None:
    lines = [f"step {step} | loss 2.0 | step_time 0.1 s" for step in range(1, MOST + 1)]
    chunks = [
        Message(Position(LOGS, 0, at), b"job-0", outgoing(chunk("job-0", at, [line], 1)).value or b"", 1.0)
        for at, line in enumerate(lines)
    ]
    others = [
        Message(Position(EVENTS, 0, at), each.key, each.value or b"", 1.0)
        for at, each in enumerate(map(outgoing, endings(MOST + 1)[1:]))
    ]
    batch = [message for pair in zip(chunks, others, strict=True) for message in pair]
    held: list[Outgoing] = []
    first, _ = _worker(held, {})
    made = _ids(first, [batch], held)
    second, planned = _worker(held, {})
    by_place = {(each.position.topic, each.position.offset): each for each in batch}
    again = _ids(second, [[by_place[topic, at]] for topic, low, high in planned for at in range(low, high)], held)
    assert again | _ids(second, [batch], held) == made
