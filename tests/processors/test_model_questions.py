"""What a question cites: the newest chunks of a stream, bounded, and their lines with the numbers that the stream gave them."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from processors.classified_chunk import QUOTE
from processors.model_questions import cited_lines
from processors.recent_chunks import CHUNKS, LINES, RecentChunks, cite
from schedmate_records import ChunkReference, LogChunk, ModelQuestion, Position, QuestionKind


def chunk(lines: list[str], first: int = 1, **changes: Any) -> LogChunk:
    fields: dict[str, Any] = {
        "job": "j", "node": "n1", "rank": 2, "stream": "stdout", "producer": "p", "lines": lines, "time": 100.0 + first,
        "first_line": first, "first_piece": first,
    }  # fmt: skip
    return LogChunk(**fields | changes)


def question(*references: ChunkReference, **changes: Any) -> ModelQuestion:
    fields: dict[str, Any] = {
        "id": "q", "job": "j", "kind": QuestionKind.FAILURE, "time": 1.0, "topic": "job-logs", "partition": 3, "rank": 2,
        "stream": "stdout", "chunks": list(references),
    }  # fmt: skip
    return ModelQuestion(**fields | changes)


def read(asked: ModelQuestion, chunks: dict[int, LogChunk]) -> list[tuple[int, int, str]]:
    return [(each.line.offset, each.line.line, each.line.text) for each in cited_lines(asked, chunks)]


@given(st.lists(st.integers(1, 600), min_size=1, max_size=200))
def test_the_newest_chunks_reach_back_far_enough_and_no_further(sizes: list[int]) -> None:
    recent, line = RecentChunks(), 1
    for offset, size in enumerate(sizes):
        numbers = range(line, line + size)
        recent.add(chunk(["x"] * size, line), Position("job-logs", 3, offset), line, numbers)
        line += size
    kept = recent.chunks
    assert [each.offset for each in kept] == list(range(len(sizes) - len(kept), len(sizes)))
    assert len(kept) <= CHUNKS
    reach = line - kept[0].line
    assert reach >= LINES or len(kept) in (CHUNKS, len(sizes))
    assert len(kept) == 1 or line - kept[1].line <= LINES, "and no chunk more than that takes"
    assert recent.lines == sum(sizes)


def test_a_question_keeps_the_older_chunk_that_it_cites() -> None:
    recent = RecentChunks("job-logs", 3, "n1", 2, "stdout", [ChunkReference(8, 40), ChunkReference(9, 50)])
    older = cite(question(ChunkReference(1)), recent)
    assert older is not None
    assert [each.offset for each in older.chunks] == [1, 8, 9]
    among = cite(question(ChunkReference(9)), recent)
    assert among is not None
    assert [each.offset for each in among.chunks] == [8, 9]
    assert cite(question(ChunkReference(1)), None) == question(ChunkReference(1))
    assert cite(question(), RecentChunks()) is None, "it would cite nothing"


def test_lines_have_the_numbers_that_their_stream_gave_them() -> None:
    unnumbered = {"first_line": 0, "first_piece": 0}
    chunks = {4: chunk(["a"], **unnumbered), 6: chunk(["b", "c"], **unnumbered)}
    asked = question(ChunkReference(4, 17), ChunkReference(6, 18))
    assert read(asked, chunks) == [(4, 17, "a"), (6, 18, "b"), (6, 19, "c")]
    assert read(question(ChunkReference(4)), chunks) == [], "nobody knows the number"


def test_repeats_redraws_and_what_a_container_wrapped() -> None:
    chunks = {
        1: chunk(["a", "b"]),
        2: chunk(["b", "c"], 2),
        3: chunk(["10%\r", "20%\r", "done"], 4),
        4: chunk(["2027-01-15T08:00:00.5Z stdout F step 1"], 7),
    }
    asked = question(*(ChunkReference(offset) for offset in chunks))
    assert read(asked, chunks) == [
        *((1, 1, "a"), (1, 2, "b"), (2, 3, "c")),
        *((3, 4, "10%"), (3, 4, "20%"), (3, 4, "done")),
        (4, 7, "step 1"),
    ]


def test_chunks_that_are_gone_or_of_another_stream_are_left_out() -> None:
    chunks = {
        1: chunk(["a"]),
        2: chunk(["other job"], job="k"),
        3: chunk(["other rank"], rank=0),
        4: chunk(["x" * 9999], 2),
    }
    asked = question(*(ChunkReference(offset) for offset in range(1, 9)))
    assert read(asked, chunks) == [(1, 1, "a"), (4, 2, "x" * QUOTE)]
