"""The lines around one that was quoted."""

from collections.abc import Iterator

import pytest
from starlette.exceptions import HTTPException

from processors.job import JobProcessor
from processors.state import JobState
from schedmate.web.lines import AFTER, BEFORE, LONGEST, NEAR, excerpt
from schedmate_records import Failure, LogChunk, NodeLogChunk, Position, encode
from streams.transport import Message

BAD = b'{"job": "7", "lines": 3}'


def chunk(job: str, *lines: str, rank: int = 0, first: int = 0) -> LogChunk:
    return LogChunk(job=job, rank=rank, time=1.0, lines=list(lines), first_line=first)


class Topic:
    """A partition's messages, as a broker gives them."""

    def __init__(self, *stored: LogChunk | NodeLogChunk | bytes, topic: str = "job-logs") -> None:
        self._messages = [
            Message(Position(topic, 0, offset), b"7", one if isinstance(one, bytes) else encode(one), time=1.0)
            for offset, one in enumerate(stored)
        ]

    def read(self, place: Position, count: int) -> Iterator[Message]:
        yield from self._messages[place.offset : place.offset + count]


def test_lines_of_the_same_stream_stand_around_the_cited_one() -> None:
    topic = Topic(
        chunk("7", "a", "b"), chunk("8", "other"), BAD, chunk("7", "c", "d"), chunk("7", "rank", rank=1), chunk("7", "e")
    )  # fmt: skip
    found = excerpt(topic.read, Position("job-logs", 0, 3), index=1)
    assert [line.text for line in found.lines] == ["a", "b", "c", "d", "e"]
    assert [line.text for line in found.lines if line.cited] == ["d"]
    assert (found.job, found.source) == ("7", "stdout of rank 0, attempt 0")


def test_only_so_many_are_shown_and_only_so_much_of_each() -> None:
    topic = Topic(chunk("7", *(f"{number} {'x' * 3000}" for number in range(500))))
    found = excerpt(topic.read, Position("job-logs", 0, 0), index=250)
    assert len(found.lines) == BEFORE + 1 + AFTER
    assert found.lines[BEFORE].cited
    assert len(found.lines[0].text) == LONGEST + 1


def test_lines_are_found_among_the_messages_of_many_other_jobs() -> None:
    others = [chunk(str(job), "other") for job in range(10, 60)]
    topic = Topic(*(each for number in range(8) for each in (chunk("7", f"line {number}"), *others)))
    found = excerpt(topic.read, Position("job-logs", 0, 4 * 51))
    assert [line.text for line in found.lines] == [f"line {number}" for number in range(8)]


def test_no_more_is_read_than_is_shown() -> None:
    asked: list[int] = []
    topic = Topic(*(chunk("7", *("a line" for _ in range(100))) for _ in range(700)))

    def read(place: Position, count: int) -> Iterator[Message]:
        for message in topic.read(place, count):
            asked.append(message.position.offset)
            yield message

    excerpt(read, Position("job-logs", 0, 300), index=50)
    assert set(asked) == set(range(300 - NEAR[0], 302))


def test_from_an_excerpt_one_goes_on_to_the_lines_before_and_after_it() -> None:
    topic = Topic(
        *(chunk("7", *(f"line {number}" for number in range(first, first + 10))) for first in range(0, 400, 10))
    )
    shown = excerpt(topic.read, Position("job-logs", 0, 20))
    seen = [line.text for line in shown.lines]
    for way in ("earlier", "later"):
        found = shown
        while (to := getattr(found, way)) is not None:
            found = excerpt(topic.read, to.place, index=to.index)
            seen += [line.text for line in found.lines]
    assert set(seen) == {f"line {number}" for number in range(400)}


def test_what_was_kept_no_longer_is_passed_over() -> None:
    topic = Topic(*(chunk("7", str(number)) for number in range(30)))

    def kept(place: Position, count: int) -> Iterator[Message]:
        """Read as a broker does that begins at offset 12."""
        yield from topic.read(Position(place.topic, place.partition, max(place.offset, 12)), count)

    found = excerpt(kept, Position("job-logs", 0, 15))
    assert [line.text for line in found.lines] == [str(number) for number in range(12, 30)]


def test_a_nodes_log() -> None:
    topic = Topic(NodeLogChunk(node="n1", time=1.0, lines=["NVRM: Xid 79"]), topic="node-logs")
    found = excerpt(topic.read, Position("node-logs", 0, 0))
    assert (found.job, found.source) == ("", "kernel log of node n1")


def test_a_line_is_asked_for_by_its_number_in_the_stream() -> None:
    topic = Topic(chunk("7", "a", "b", first=500), chunk("7", "1%\r", "2%\r", "3%", "end", first=502))
    for number, cited in ((500, "a"), (501, "b"), (502, "3%"), (503, "end")):
        found = excerpt(topic.read, Position("job-logs", 0, number > 501), number)
        assert [line.text for line in found.lines if line.cited] == [cited], "of a bar its last state"
    assert [line.number for line in found.lines] == [500, 501, 502, 502, 502, 503]


def test_the_line_that_a_verdict_cites_is_the_one_that_is_shown() -> None:
    lines = [f"step {number} loss {9 / number:.3f}" for number in range(1, 700)]
    lines += ["Traceback (most recent call last):", '  File "train.py", line 3, in <module>', "KeyError: 'x'"]
    chunks = [chunk("7", *lines[first : first + 100], first=first + 1) for first in range(0, len(lines), 100)]
    processor, state, verdict = JobProcessor(), JobState(job="7"), None
    for offset, each in enumerate(chunks):
        for record in processor.process(state, Position("job-logs", 0, offset), each):
            verdict = record if isinstance(record, Failure) else verdict
    assert verdict is not None
    assert verdict.root is not None
    place = Position(verdict.root.topic, verdict.root.partition, verdict.root.offset)
    found = excerpt(Topic(*chunks).read, place, verdict.root.line)
    assert [line.text for line in found.lines if line.cited] == [verdict.root.text] == ["KeyError: 'x'"]


@pytest.mark.parametrize(("offset", "line", "index"), [(9, 1, None), (1, 1, None), (0, 2, None), (0, 0, 1)])
def test_what_is_gone_is_said(offset: int, line: int, index: int | None) -> None:
    topic = Topic(chunk("7", "a", first=1), BAD)
    with pytest.raises(HTTPException, match="no longer stored"):
        excerpt(topic.read, Position("job-logs", 0, offset), line, index)
