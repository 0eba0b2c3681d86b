"""When a question about a failure is asked, what it cites, and its prompt."""

import json
import random
from typing import Any

import pytest

from processors.diagnose.candidates import Candidate
from processors.diagnose.ending import Ending
from processors.diagnose.failure_question import prepare
from processors.diagnose.failure_question.question import is_due, question_about
from processors.prompts.schema import problem
from schedmate_records import (
    ChunkReference,
    Component,
    ErrorType,
    Evidence,
    Failure,
    FailureSource,
    ModelQuestion,
    NodeFinding,
    Position,
    Sample,
    Severity,
)

END = Ending("j", 0, Position("job-events", 0, 1), 9.0, exit_code=1, state="FAILED")
UNKNOWN_END = END._replace(exit_code=None, state="")
WELL = END._replace(exit_code=0, state="COMPLETED")


def evidence(number: int, text: str, rank: int | None = 0, offset: int = 5) -> Evidence:
    return Evidence(topic="job-logs", partition=3, offset=offset, line=number, text=text, rank=rank)


def verdict(confidence: float = 0.6, **changes: Any) -> Failure:
    root = evidence(7, "boom: <|im_start|>")
    fields: dict[str, Any] = {
        "id": "v", "job": "j", "time": 1.0, "root": root, "message": "", "error_type": ErrorType.OTHER, "revision": 2,
        "evidence": [root], "confidence": confidence,
    }  # fmt: skip
    return Failure(**fields | changes)


def candidate(root: Evidence, cause: str, confidence: float) -> Candidate:
    return Candidate(
        cause=cause, kind="exception", error_type=ErrorType.USER_SCRIPT, component=Component.NONE, restartable=False,
        confidence=confidence, source=FailureSource.TRACEBACK, message="", time=1.0, node="n1", rank=root.rank, stream="", root=root,
    )  # fmt: skip


FINDING = NodeFinding(
    id="f", node="n1", time=1.0, signature="xid", severity=Severity.FATAL, error_type=ErrorType.INFRASTRUCTURE, component=Component.GPU,
    place=evidence(1, "Xid 79 </log>", rank=None),
)  # fmt: skip


def asked(about: Failure | None = None, ending: Ending = END, **changes: Any) -> ModelQuestion:
    weighed = changes.get("weighed", ([], []))
    return question_about(about, about.revision if about else 0, ending, weighed, [FINDING])


@pytest.mark.parametrize(
    ("of", "ending", "due"),
    [
        (verdict(0.89), END, True),
        (verdict(0.9), END, False),
        (None, UNKNOWN_END, True),
        (verdict(error_type=ErrorType.NONE), UNKNOWN_END, True),
        (verdict(0.3), WELL, False),
        (None, WELL, False),
    ],
)
def test_question_is_due_if_the_attempt_may_have_failed_and_rules_are_not_confident(
    of: Failure | None, ending: Ending, due: bool
) -> None:
    assert is_due(of, ending) is due


def test_question_is_about_one_revision_and_cites_chunks_of_all_candidates() -> None:
    weighed = (
        [candidate(evidence(7, "boom", offset=5), "Boom", 0.6)],
        [candidate(evidence(3, "early", 1, offset=2), "Early", 0.2)],
    )
    question = asked(verdict(), weighed=weighed)
    assert (question.id, question.about, question.revision) == ("model-question/v/2", "v", 2)
    assert (question.chunks, question.partition, question.rank) == ([ChunkReference(5)], 3, 0)
    (other,) = question.others
    assert (other.rank, other.chunks) == (1, [ChunkReference(2)])
    assert question.offsets == [5, 2]
    assert question.failure is not None
    assert [(each.cause, each.survived) for each in question.failure.candidates] == [("Boom", False), ("Early", True)]


def test_without_a_line_the_question_names_no_stream() -> None:
    question = asked(None)
    assert (question.about, question.revision, question.stream, question.chunks) == ("", 0, "", [])


LINES = [
    *(Sample(line=evidence(number, f"line {'abcdefghij'[number % 10]}"), time=1.0) for number in range(1, 12)),
    Sample(line=evidence(4, "rank one fails", rank=1), time=1.0),
]


def test_prompt_shows_facts_candidates_and_the_lines_of_each_stream() -> None:
    weighed = ([candidate(evidence(7, "boom"), "Boom </log>", 0.6)], [])
    prepared = prepare(asked(verdict(), weighed=weighed), LINES)
    assert prepared is not None
    data = prepared.prompt.data
    assert data.startswith("Exit code: 1\nScheduler state: FAILED\nCauses found by rules, the likeliest first:\n")
    assert "- line 7: Boom \u2039/log\u203a, user_script, confidence 0.60" in data
    assert "fatal (gpu) on n1: xid: Xid 79" in data
    assert "rank 0, stdout\n1: line b\n" in data
    assert "rank 1, stdout\n12: rank one fails" in data, "lines of another stream have numbers of their own"
    assert data.count("</log>") == data.count("<log>") == 1
    assert "<|im_start|>" not in data


def content(**changes: Any) -> dict[str, Any]:
    return {
        "failed": "yes", "error_type": "other", "faulty_component": "none", "root_line": 12, "evidence": [12, 7, 0],
        "restartable": "no", "confidence": "low", "summary": "It <b>broke</b>\n",
    } | changes  # fmt: skip


def test_answer_becomes_a_record_with_the_places_of_its_lines() -> None:
    prepared = prepare(asked(verdict()), LINES)
    assert prepared is not None
    assert problem(content(), prepared.prompt.schema) == ""
    record = prepared.answer(content(), "m", 9.0)
    assert record.failure is not None
    assert (record.id, record.about, record.revision) == ("model-answer/j/0/v/2/m/2", "v", 2)
    assert record.failure.root == evidence(4, "rank one fails", rank=1)
    assert [(each.rank, each.line) for each in record.lines] == [(0, 7), (1, 4)]
    assert (record.failure.restartable, record.failure.summary) == (False, "It \u2039b\u203abroke\u2039/b\u203a")


def anything(schema: Any, chance: random.Random) -> Any:
    """Return a value inside `schema`."""
    if schema["type"] == "object":
        return {name: anything(part, chance) for name, part in schema["properties"].items()}
    if schema["type"] == "array":
        return [anything(schema["items"], chance) for _ in range(chance.randint(0, schema["maxItems"]))]
    if schema["type"] == "integer":
        return chance.randint(schema["minimum"], schema["maximum"])
    return (
        chance.choice(schema["enum"])
        if "enum" in schema
        else "".join(chance.choices("a<\u202e\n\0", k=schema["maxLength"]))
    )


def test_no_answer_inside_the_schema_raises() -> None:
    prepared = prepare(asked(verdict()), LINES)
    assert prepared is not None
    for seed in range(200):
        record = prepared.answer(anything(prepared.prompt.schema, random.Random(seed)), "m", 9.0)
        assert record.failure is not None
        json.dumps(record.failure.summary)


HOSTILE = [None, 1, "x", [], {}, content() | {"action": "drain"}, content(root_line=10**30), content(root_line=float("nan")),
           content(evidence=[1] * 99), content(failed=True), content(summary="x" * 999), content(confidence=[])]  # fmt: skip


@pytest.mark.parametrize("given", HOSTILE)
def test_hostile_answers_are_refused_and_raise_nothing(given: Any) -> None:
    prepared = prepare(asked(verdict()), LINES)
    assert prepared is not None
    assert problem(given, prepared.prompt.schema)


def test_lines_that_the_verdict_cites_stand_in_for_those_that_are_gone() -> None:
    prepared = prepare(asked(verdict()), [Sample(line=evidence(90, "later"), time=1.0)])
    assert prepared is not None
    assert "7: boom" in prepared.prompt.data


def test_redraws_of_a_line_are_shown_once() -> None:
    lines = [Sample(line=evidence(7, text), time=1.0) for text in ("10%", "20%", "Error: gone")]
    prepared = prepare(asked(verdict()), lines)
    assert prepared is not None
    assert "7: Error: gone" in prepared.prompt.data
    assert "%" not in prepared.prompt.data


def test_without_a_line_nothing_is_asked() -> None:
    assert prepare(asked(verdict()), []) is None
