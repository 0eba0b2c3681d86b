"""One verdict from the opinions of the rules and of a language model, or nothing where the model's opinion does not count.

An opinion counts if it is consistent in itself and the lines that it cites bear it out. The table then decides whose cause and whose
`restartable` the verdict takes. A model that finds no failure never hides one that the exit code or the scheduler states.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from schedmate_records import (
    RULES,
    Component,
    ErrorType,
    Evidence,
    Failure,
    FailureAnswer,
    FailureSource,
    ModelAnswer,
    Opinion,
    identified,
)

from ..ending import Ending
from .question import opinion_of_rules
from .table import CONFIDENCE, Table, band, shipped
from .words import ABOUT, ERROR, HEALTH

DOUBTED = 0.8
"""Share of their confidence that the rules keep where the model contradicts them."""
EVIDENCE = 6
"""Maximum number of lines that a verdict cites."""
SURVIVED = 3
"""Number of different reports of progress after a line that show that the job survived it."""
MESSAGE = 300
"""Maximum length of a verdict's message, in characters."""


def combined(
    verdict: Failure | None, answer: ModelAnswer, ending: Ending, revision: int, table: Table | None = None
) -> Failure | None:
    """Return the verdict on both opinions; None where the answer does not count or changes nothing.

    Args:
        verdict: The verdict of the rules and the nodes' evidence; None where there is none.
        answer: The model's answer.
        ending: How the attempt ended.
        revision: Revision of the new verdict.
        table: Who decides; the table that ships where not given.
    """
    if verdict is not None and verdict.error_type is ErrorType.NONE:
        verdict = None
    given = answer.failure
    if given is None or not answer.trusted or objection(given, answer.lines, verdict, ending):
        return None
    row = (table or shipped())[band(verdict)][given.certainty]
    if verdict is None:
        if not given.failed or row.cause == RULES:
            return None
        verdict = _without_cause(answer, ending)
        opinions = [Opinion(by=RULES, error_type=ErrorType.NONE)]
    else:
        opinions = [opinion_of_rules(verdict)]
    opinions.append(opinion_of_model(given, answer.model))
    agree = given.error_type is verdict.error_type
    changes: dict[str, Any] = {}
    if row.cause == "model":
        changes = _cause(verdict, given, answer.lines) | {"confidence": row.confidence}
    elif agree:
        changes = {"confidence": max(verdict.confidence, row.confidence)}
    else:
        changes = {"confidence": round(verdict.confidence * DOUBTED, 3)}
    may_decide = agree or row.cause == "model" or verdict.restartable is None
    if row.restartable == "model" and may_decide and given.failed and given.restartable is not None:
        changes["restartable"] = given.restartable
    summary = given.summary if agree or row.cause == "model" else ""
    return identified(
        msgspec.structs.replace(verdict, revision=revision, summary=summary, opinions=opinions, **changes)
    )


def objection(given: FailureAnswer, lines: Sequence[Evidence], verdict: Failure | None, ending: Ending) -> str:
    """Return why an answer does not count; empty where it does."""
    if given.error_type is ErrorType.UNKNOWN:
        return "it does not know the error type"
    if not _consistent(given):
        return "its fields contradict each other"
    if not given.failed:
        return _health_objection(lines, verdict, ending)
    if given.root is None or given.root not in lines:
        return "the root line is not among its evidence"
    if verdict is None and not ending.is_known and given.progress_after >= SURVIVED:
        return "the job went on after the root line"
    known = verdict.evidence if verdict else ()
    about = ABOUT.get(given.faulty_component)
    shows = any(ERROR.search(each.text) or each in known for each in lines)
    return (
        ""
        if shows and (about is None or any(about.search(each.text) for each in lines))
        else "the cited lines do not show it"
    )


def grounded(given: FailureAnswer, lines: Sequence[Evidence]) -> bool:
    """Return whether an answer that states a failure is consistent and names its root line among its evidence."""
    return _consistent(given) and given.failed and given.root is not None and given.root in lines


def _consistent(given: FailureAnswer) -> bool:
    infrastructure = given.error_type is ErrorType.INFRASTRUCTURE
    return given.failed == (given.error_type is not ErrorType.NONE) and infrastructure == (
        given.faulty_component is not Component.NONE
    )


def _health_objection(lines: Sequence[Evidence], verdict: Failure | None, ending: Ending) -> str:
    """Return why an answer that finds no failure does not count."""
    if ending.is_known and not ending.well:
        return "the exit code or the scheduler states a failure"
    root = verdict.root if verdict else None
    after = [each for each in lines if root is None or _follows(each, root)]
    return "" if any(HEALTH.search(each.text) for each in after) else "no line shows that the job went on"


def _follows(line: Evidence, root: Evidence) -> bool:
    return (line.rank, line.stream) == (root.rank, root.stream) and line.line > root.line


def _cause(verdict: Failure, given: FailureAnswer, lines: Sequence[Evidence]) -> dict[str, Any]:
    """Return the fields of a verdict whose cause a model decides. The evidence of nodes supports the rules' cause alone."""
    same_cause = (given.error_type, given.faulty_component) == (verdict.error_type, verdict.faulty_component)
    changes: dict[str, Any] = {
        "error_type": given.error_type,
        "faulty_component": given.faulty_component,
        "source": FailureSource.MODEL,
    }
    if not given.failed:
        return changes | {
            "root": None, "rank": None, "node": "", "restartable": None, "signature": "", "evidence": list(lines[:EVIDENCE]),
            "message": "a language model finds that the attempt did not fail",
        } | _NO_NODE_EVIDENCE  # fmt: skip
    assert given.root is not None
    same_line = given.root == verdict.root
    others = [each for each in (*lines, *verdict.evidence) if each != given.root]
    changes |= {
        "root": given.root,
        "rank": given.root.rank,
        "message": verdict.message if same_line else given.root.text.strip()[:MESSAGE],
        "evidence": [given.root, *others][:EVIDENCE],
    }
    if not same_cause:
        changes |= {"signature": ""} | _NO_NODE_EVIDENCE
    return changes if same_line else changes | {"node": "" if given.root.rank != verdict.rank else verdict.node}


_NO_NODE_EVIDENCE: dict[str, Any] = {
    "node_evidence": False, "drain": None, "recovery_action": None, "confirmed_by": [], "contradicted_by": [],
}  # fmt: skip


def _without_cause(answer: ModelAnswer, ending: Ending) -> Failure:
    """Return a verdict without a cause on an attempt about which the rules have none."""
    return Failure(
        id="",
        job=answer.job,
        attempt=answer.attempt,
        incarnation=answer.incarnation,
        time=ending.time,
        message="",
        error_type=ErrorType.UNKNOWN,
        final=ending.is_known,
        exit_code=ending.exit_code,
        signal=ending.killed_by or None,
    )


def opinion_of_model(given: FailureAnswer, model: str) -> Opinion:
    """Return the opinion that an answer of `model` states."""
    return Opinion(
        by=model,
        error_type=given.error_type,
        faulty_component=given.faulty_component,
        restartable=given.restartable,
        confidence=CONFIDENCE[given.certainty],
        root=given.root,
        summary=given.summary,
    )
