"""What a message leaves that a processor fails at: nothing, whatever was taken, copied or stored before it."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import LogChunk, Position, Record, encode
from streams.runtimes import parts, state_entry
from streams.runtimes.engine import Engine
from streams.runtimes.results import Results
from streams.runtimes.state_entry import KEPT, KEPT_BYTES
from streams.transport import Message

POISON = "poison"


class Fragile(JobProcessor):
    """Fails once a message was taken in."""

    def process(self, state: JobState, position: Position, record: Record) -> list[Record]:
        made = super().process(state, position, record)
        if isinstance(record, LogChunk) and POISON in record.lines:
            raise ZeroDivisionError("half-way")
        return made


SOUND, FRAGILE = JobProcessor(), Fragile()
"""Neither holds anything of a job."""


def printed(number: int, rank: int = 0, *, poison: bool = False, padding: int = 0) -> Message:
    """Return the chunk `number` of a job: two steps of one rank, as if nothing had gone wrong before."""
    first = 2 * number + 1
    lines = [f"step {step} | loss {1 / step:.4f} | step_time 0.25 s{' ' * padding}" for step in (first, first + 1)]
    chunk = LogChunk(
        job="j", rank=rank, producer="p", time=100.0 + 2 * number, first_line=first, first_piece=first,
        lines=[POISON, *lines] if poison else lines,
    )  # fmt: skip
    return Message(Position("job-logs", 0, number), b"j", encode(chunk), 100.0)


def engine(processor: JobProcessor, *, storing: bool) -> Engine[JobState]:
    return Engine(processor, checkpoint_s=0.0, replay_work_s=0.0) if storing else Engine(processor)


def published(results: list[Results]) -> list[tuple[str, bytes | None]]:
    return [(each.topic, each.value) for made in results for each in made.records if each.topic != "dead-letters"]


@pytest.mark.parametrize("storing", [False, True])
@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    "place", [0, 1, KEPT // 2, *(copy + beside for copy in (KEPT, 2 * KEPT) for beside in (-1, 0, 1))]
)
def test_poison_leaves_no_trace_wherever_it_comes(place: int, ranks: int, storing: bool) -> None:
    count = 3 * KEPT
    sound = [printed(number, number % ranks) for number in range(count)]
    expected = engine(SOUND, storing=storing)
    wanted = published([expected.handle([each]) for each in sound if each.position.offset != place])
    fragile = engine(FRAGILE, storing=storing)
    mixed = [*sound[:place], printed(place, place % ranks, poison=True), *sound[place + 1 :]]
    found = [fragile.handle([each]) for each in mixed]
    assert published(found) == wanted
    letters = [each for made in found for each in made.records if each.topic == "dead-letters"]
    assert len(letters) == 1


def test_many_small_messages_are_taken_between_two_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    copies = 0

    def counted(state: msgspec.Struct) -> bytes:
        nonlocal copies
        copies += 1
        return msgspec.msgpack.encode(state)

    monkeypatch.setattr(state_entry, "copied", counted)
    small = engine(SOUND, storing=False)
    for number in range(10 * KEPT):
        small.handle([printed(number)])
    assert copies == 10


def test_what_is_kept_to_be_taken_again_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []
    keep = state_entry.StateEntry.keep

    def watched(entry: state_entry.StateEntry[Any], messages: Sequence[Message]) -> None:
        keep(entry, messages)
        seen.append((len(entry.kept), sum(len(each.value) for each in entry.kept)))

    monkeypatch.setattr(state_entry.StateEntry, "keep", watched)
    large = engine(SOUND, storing=False)
    for number in range(3 * KEPT):
        large.handle([printed(number, padding=KEPT_BYTES // 2)])
    assert len(seen) == 3 * KEPT
    assert all(messages <= KEPT and size <= 2 * KEPT_BYTES for messages, size in seen)


def test_what_a_message_costs_to_copy_does_not_grow_with_the_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[int] = []

    def counted(part: msgspec.Struct) -> bytes:
        made = msgspec.msgpack.encode(part)
        copied.append(len(made))
        return made

    monkeypatch.setattr(parts, "_encode", counted)
    spent = {}
    for ranks in (1, 8, 64):
        many = engine(SOUND, storing=False)
        for number in range(128):
            many.handle([printed(number, number % ranks)])
        copied.clear()
        for number in range(128, 192):
            many.handle([printed(number, number % ranks)])
        spent[ranks] = len(copied)
    assert spent == {1: 64 // KEPT, 8: 64, 64: 64}, "one of each stream between two copies of the state"
