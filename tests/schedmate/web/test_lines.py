"""The lines around one that was quoted."""

from collections.abc import Iterator

import pytest
from starlette.exceptions import HTTPException

from records import LogChunk, NodeLogChunk, Position, encode
from schedmate.web.lines import AFTER, BEFORE, LONGEST, excerpt
from streams.transport import Message

BAD = b'{"job": "7", "lines": 3}'


def chunk(job: str, *lines: str, rank: int = 0) -> LogChunk:
    return LogChunk(job=job, rank=rank, time=1.0, lines=list(lines))


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
    found = excerpt(topic.read, Position("job-logs", 0, 3), 1)
    assert [line.text for line in found.lines] == ["a", "b", "c", "d", "e"]
    assert [line.text for line in found.lines if line.cited] == ["d"]
    assert (found.job, found.source) == ("7", "stdout of rank 0, attempt 0")


def test_only_so_many_are_shown_and_only_so_much_of_each() -> None:
    topic = Topic(chunk("7", *(f"{number} {'x' * 3000}" for number in range(500))))
    found = excerpt(topic.read, Position("job-logs", 0, 0), 250)
    assert len(found.lines) == BEFORE + 1 + AFTER
    assert found.lines[BEFORE].cited
    assert len(found.lines[0].text) == LONGEST + 1


def test_a_nodes_log() -> None:
    topic = Topic(NodeLogChunk(node="n1", time=1.0, lines=["NVRM: Xid 79"]), topic="node-logs")
    found = excerpt(topic.read, Position("node-logs", 0, 0), 0)
    assert (found.job, found.source) == ("", "kernel log of node n1")


@pytest.mark.parametrize(("offset", "line"), [(9, 0), (1, 0), (0, 1)])
def test_what_is_gone_is_said(offset: int, line: int) -> None:
    topic = Topic(chunk("7", "a"), BAD)
    with pytest.raises(HTTPException, match="not on record any more"):
        excerpt(topic.read, Position("job-logs", 0, offset), line)
