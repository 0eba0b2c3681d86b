"""What is kept to ask with, and what is asked: bounded, of the right stream, and nothing twice."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from processors.classify.template import templates
from processors.models.inquirer import FIRST_LOOK, PER_JOB, Inquirer
from processors.models.language_model import Answer
from processors.models.recent_lines import RecentLines, StreamName
from processors.view import QUOTE, ChunkView
from records import ErrorType, Evidence, Failure, Position
from tests.metric_values import value


def view(lines: list[str], offset: int = 0, first: int = 1, **changes: Any) -> ChunkView:
    fields: dict[str, Any] = {
        "job": "j", "attempt": 0, "node": "n1", "rank": 0, "stream": "stdout",
        "position": Position("job-logs", 3, offset), "time": 100.0 + first,
        "lines": lines, "numbers": range(first, first + len(lines)), "times": [100.0 + first + at for at in range(len(lines))],
        "classes": "o" * len(lines), "templates": templates(lines),
    }  # fmt: skip
    return ChunkView(**fields | changes)


def verdict(line: int, **changes: Any) -> Failure:
    root = Evidence(topic="job-logs", partition=3, offset=0, line=line, text="x", rank=changes.pop("rank", 0))
    fields: dict[str, Any] = {
        "id": f"v{line}", "job": "j", "time": 1.0, "root": root, "message": "", "error_type": ErrorType.OTHER,
    }  # fmt: skip
    return Failure(**fields | changes)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 40)), max_size=60))
def test_what_is_kept_is_bounded_and_is_the_newest(sizes: list[tuple[int, int]]) -> None:
    recent = RecentLines(lines=50, in_all=120)
    for offset, (rank, size) in enumerate(sizes):
        recent.add(view([f"{offset} {number}" for number in range(size)], offset, rank=rank))
    kept = {}
    for rank in range(6):
        if stream := recent.of(StreamName("j", 0, rank, "stdout")):
            kept[rank] = [each.lines[index] for each, index in stream.lines()]
            assert len(kept[rank]) == stream.kept < 50 + 40
            said = [
                f"{offset} {number}"
                for offset, (one, size) in enumerate(sizes)
                if one == rank
                for number in range(size)
            ]
            assert kept[rank] == said[len(said) - len(kept[rank]) :]
    assert recent.kept == sum(map(len, kept.values()))
    assert recent.kept <= 120 or len(kept) == 1


def test_long_lines_are_cut_and_of_a_huge_chunk_the_end_is_kept() -> None:
    recent = RecentLines(lines=50)
    stream = recent.add(view(["x" * 10_000] * 3000))
    assert stream is not None
    assert (stream.kept, recent.kept, stream.seen) == (50, 50, 3000)
    assert {len(each.lines[index]) for each, index in stream.lines()} == {QUOTE}
    assert [each.numbers[index] for each, index in stream.lines()] == list(range(2951, 3001))


def test_a_batch_that_is_run_again_is_kept_once() -> None:
    recent = RecentLines()
    assert recent.add(view(["a"], 4)) is not None
    assert recent.add(view(["a"], 4)) is None
    assert recent.kept == 1


def test_a_verdict_is_asked_about_with_lines_of_its_own_stream() -> None:
    inquirer = Inquirer()
    inquirer.read(view([f"rank zero says {word}" for word in "abc"], 0))
    inquirer.read(view([f"rank one says {word}" for word in "abc"], 1, rank=1))
    inquirer.said(verdict(2, rank=1), partition=3)
    (inquiry,) = inquirer.take()
    assert "rank one says b" in inquiry.question.data
    assert "rank zero" not in inquiry.question.data
    assert (inquiry.partition, inquiry.draft.about, inquiry.draft.revision) == (3, "v2", 1)
    content = {
        "lines": [1, 3], "root_line": 2, "error_type": "other", "component": "none", "restartable": "no", "confidence": "low",
    }  # fmt: skip
    record = inquiry.record(Answer("m", "1", content), 9.0)
    assert [(each.line, each.rank, each.offset, each.text) for each in record.lines] == [
        (number, 1, 1, f"rank one says {word}") for number, word in ((1, "a"), (2, "b"), (3, "c"))
    ]
    assert record.review is not None
    assert (record.review.restartable, record.review.root) == (False, 2)


def test_redraws_of_a_line_are_shown_once() -> None:
    inquirer = Inquirer()
    inquirer.read(view(["10%\r", "20%\r", "Error: gone"], numbers=[7, 7, 7]))
    inquirer.said(verdict(7), partition=3)
    (inquiry,) = inquirer.take()
    assert "7: Error: gone" in inquiry.question.data
    assert "%" not in inquiry.question.data


def test_what_a_verdict_cites_stands_in_for_lines_that_are_gone() -> None:
    """After a restart nothing is kept; of the lines of other ranks and of nodes none has the same numbers."""
    first = verdict(40)
    others = [Evidence(topic="node-logs", partition=0, offset=0, line=7, text="node"), first.root]
    inquirer = Inquirer()
    inquirer.said(verdict(40, evidence=others), partition=3)
    inquirer.read(view(["later"], 9, 90))
    inquirer.said(verdict(40, evidence=others), partition=3)
    alone, beside = inquirer.take()
    assert (list(alone.shown), list(beside.shown)) == ([40], [40, 90])


def test_a_root_that_a_node_printed_is_no_line_of_the_job() -> None:
    inquirer = Inquirer()
    inquirer.read(view(["a", "b"]))
    of_node = Evidence(topic="node-logs", partition=0, offset=0, line=1, text="the link is down", rank=None)
    inquirer.said(verdict(1, root=of_node, evidence=[of_node]), partition=3)
    (inquiry,) = inquirer.take()
    assert [each.text for each in inquiry.shown.values()] == ["a", "b"]


def test_nothing_is_asked_about_what_is_taken_back_or_without_lines() -> None:
    inquirer = Inquirer()
    inquirer.said(verdict(1), partition=3)
    inquirer.read(view(["a"]))
    inquirer.said(verdict(1, error_type=ErrorType.NONE), partition=3)
    assert inquirer.take() == []
    assert value(inquirer.metrics.without_lines) == 1


def test_a_job_has_few_questions_about_templates_and_none_twice() -> None:
    inquirer = Inquirer()
    words = ["zig", "zag", "zug", "zog", "zeg"]
    for round_, word in enumerate(words * 2):
        lines = [f"{word} {round_ * 100 + at} tick 1.00" for at in range(1, FIRST_LOOK + 1)]
        chunk = view(lines, round_, 1 + round_ * FIRST_LOOK)
        inquirer.read(chunk)
        inquirer.left_open(chunk)
    made = inquirer.take()
    assert len({each.question.key for each in made}) == len(made) == PER_JOB
