"""Which question a verdict raises, and what a model is shown of it."""

from typing import Any

from processors.diagnose.review import prepare, review_question
from schedmate_records import ChunkReference, ErrorType, Evidence, Failure, ModelQuestion, Sample


def evidence(line: int, text: str, rank: int | None = 0, offset: int = 5) -> Evidence:
    return Evidence(topic="job-logs", partition=3, offset=offset, line=line, text=text, rank=rank)


def verdict(root: Evidence | None, **changes: Any) -> Failure:
    fields: dict[str, Any] = {
        "id": "v", "job": "j", "time": 1.0, "root": root, "message": "", "error_type": ErrorType.OTHER, "revision": 2,
        "evidence": [root] if root else [],
    }  # fmt: skip
    return Failure(**fields | changes)


def asked(about: Failure) -> ModelQuestion:
    question = review_question(about)
    assert question is not None
    return question


def printed(lines: list[str], first: int = 1) -> list[Sample]:
    return [Sample(line=evidence(number, text), time=1.0) for number, text in enumerate(lines, start=first)]


def test_a_question_is_about_one_revision_and_cites_the_root_chunk() -> None:
    question = asked(verdict(evidence(7, "boom", rank=3)))
    assert (question.id, question.about, question.revision) == ("model-question/v/2", "v", 2)
    assert (question.chunks, question.partition, question.rank) == ([ChunkReference(5)], 3, 3)
    assert (question.root_line, question.stream) == (7, "stdout")


def test_a_root_that_a_node_printed_is_no_line_of_the_job() -> None:
    node = Evidence(topic="node-logs", partition=0, offset=0, line=1, text="the link is down", rank=None)
    for root in (node, None):
        question = asked(verdict(root))
        assert (question.stream, question.chunks, question.root_line, question.cited) == ("", [], 0, [])


def test_nothing_is_asked_about_a_verdict_that_is_taken_back() -> None:
    assert review_question(verdict(None, error_type=ErrorType.NONE)) is None


def test_the_window_holds_lines_of_the_log_and_what_the_verdict_cites_of_them() -> None:
    root = evidence(40, "Error: gone")
    others = [root, evidence(41, "of another rank", rank=1)]
    prepared = prepare(asked(verdict(root, evidence=others)), printed(["later", "still later"], 90))
    assert prepared is not None
    assert [line.split(": ")[0] for line in prepared.prompt.data.split("\n")[1:-1]] == ["40", "90", "91"]
    content = {
        "lines": [40, 91, 7], "root_line": 40, "error_type": "other", "component": "none", "restartable": "no", "confidence": "low",
    }  # fmt: skip
    record = prepared.answer(content, "m", 9.0)
    assert (record.id, record.time) == ("model-answer/j/0/v/2/m/1", 9.0)
    assert [(each.line, each.text) for each in record.lines] == [(40, "Error: gone"), (91, "still later")]
    assert record.review is not None
    assert (record.review.restartable, record.review.root) == (False, 40)


def test_redraws_of_a_line_are_shown_once() -> None:
    lines = [Sample(line=evidence(7, text), time=1.0) for text in ("10%", "20%", "Error: gone")]
    prepared = prepare(asked(verdict(evidence(7, "Error: gone"))), lines)
    assert prepared is not None
    assert "7: Error: gone" in prepared.prompt.data
    assert "%" not in prepared.prompt.data


def test_without_a_line_nothing_is_asked() -> None:
    assert prepare(asked(verdict(evidence(7, "boom"))), []) is None
