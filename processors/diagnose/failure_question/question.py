"""The question that an attempt raises when it has ended."""

from collections.abc import Sequence

from schedmate_records import (
    RULES,
    CandidateCause,
    ChunkReference,
    Component,
    ErrorType,
    Evidence,
    Failure,
    FailureFacts,
    ModelQuestion,
    NodeFinding,
    Opinion,
    QuestionKind,
    StreamReference,
)

from ...classified_chunk import QUOTE
from ..candidates import Candidate
from ..ending import Ending
from .table import ASKED_BELOW

PER_ATTEMPT = 3
"""Maximum number of questions about one attempt."""
CITED = 16
"""Maximum number of lines that a question holds."""
CANDIDATES = 8
"""Maximum number of candidates that a question states."""
STATE = 100
"""Maximum length of the scheduler's state, in characters."""
FINDINGS = 8
"""Maximum number of findings of nodes that a question states."""


def is_due(verdict: Failure | None, ending: Ending) -> bool:
    """Return whether a model is asked about an attempt that has ended: if it may have failed and the rules are not confident."""
    if ending.well or ending.cancelled:
        return False
    return verdict is None or verdict.error_type is ErrorType.NONE or verdict.confidence < ASKED_BELOW


def question_about(
    verdict: Failure | None,
    revision: int,
    ending: Ending,
    weighed: tuple[Sequence[Candidate], Sequence[Candidate]],
    findings: Sequence[NodeFinding],
) -> ModelQuestion:
    """Return the question about an attempt. It cites the chunks of the candidates, and no others yet.

    It is about the stream of the root line; without one it names no stream, and is about the stream that printed last.

    Args:
        verdict: The verdict in force; None where there is none.
        revision: Revision of the newest verdict, a retracted one included; 0 for none.
        ending: How the attempt ended.
        weighed: The candidates of the rules, the likeliest first, and those that the job survived.
        findings: What the nodes reported.
    """
    candidates = [
        *(_candidate(each, survived=False) for each in weighed[0]),
        *(_candidate(each, survived=True) for each in weighed[1]),
    ][:CANDIDATES]
    failed = verdict is not None and verdict.error_type is not ErrorType.NONE
    cited = [each for each in verdict.evidence if each.rank is not None] if verdict and failed else []
    lines = [*cited, *(each.line for each in candidates if each.line and each.line.rank is not None)]
    streams = list(dict.fromkeys((each.rank or 0, each.stream) for each in lines))
    chunks = [_chunks(lines, each) for each in streams]
    about = verdict.id if verdict else ""
    return ModelQuestion(
        id=f"model-question/{about or f'{ending.job}/{ending.attempt}'}/{revision}",
        job=ending.job,
        attempt=ending.attempt,
        kind=QuestionKind.FAILURE,
        about=about,
        revision=revision,
        time=verdict.time if verdict and failed else ending.time,
        topic=lines[0].topic if lines else "",
        partition=lines[0].partition if lines else 0,
        chunks=chunks[0] if chunks else [],
        node=verdict.node if verdict else "",
        rank=streams[0][0] if streams else 0,
        stream=streams[0][1] if streams else "",
        cited=cited[:CITED],
        others=[
            StreamReference(rank=rank, stream=stream, chunks=held)
            for (rank, stream), held in zip(streams[1:], chunks[1:], strict=True)
        ],
        failure=FailureFacts(
            exit_code=ending.exit_code,
            signal=ending.killed_by or None,
            state=ending.state[:STATE],
            verdict=opinion_of_rules(verdict) if verdict and failed else None,
            candidates=candidates,
            findings=[_finding(each) for each in findings[:FINDINGS]],
        ),
    )


def opinion_of_rules(verdict: Failure) -> Opinion:
    """Return the opinion of the rules and of the nodes' evidence that `verdict` states."""
    return Opinion(
        by=RULES,
        error_type=verdict.error_type,
        faulty_component=verdict.faulty_component,
        restartable=verdict.restartable,
        confidence=verdict.confidence,
        root=verdict.root,
    )


def _candidate(one: Candidate, *, survived: bool) -> CandidateCause:
    return CandidateCause(
        line=one.root,
        cause=one.cause,
        error_type=one.error_type,
        faulty_component=one.component,
        confidence=one.confidence,
        survived=survived,
    )


def _chunks(lines: Sequence[Evidence], stream: tuple[int, str]) -> list[ChunkReference]:
    """Return the chunks of the lines of one stream, in order."""
    offsets = {each.offset for each in lines if (each.rank or 0, each.stream) == stream}
    return [ChunkReference(each) for each in sorted(offsets)]


def _finding(one: NodeFinding) -> str:
    part = "" if one.component is Component.NONE else f" ({one.component})"
    return f"{one.severity}{part} on {one.node}: {one.signature}: {one.place.text}"[:QUOTE]
