"""The question about a verdict, and the revision that follows from a model's answer, if any: from the verdict and the answer alone."""

from collections.abc import Sequence

import msgspec
import structlog
from prometheus_client import Counter

from schedmate_records import (
    ChunkReference,
    ErrorType,
    Failure,
    ModelAnswer,
    ModelQuestion,
    Position,
    QuestionKind,
    Review,
)

from ..handler import HandlerState
from .revision import grounds, revised

CITED = 16
"""Lines of a verdict that its question holds."""


def review_question(verdict: Failure) -> ModelQuestion | None:
    """Return the question for a second look at `verdict`; None where there is nothing to look at.

    It cites the chunk of the root line, and no others yet. A root line that a node printed is none of the job's: then the question is
    about the stream that printed last, and names none.
    """
    if verdict.error_type is ErrorType.NONE:
        return None
    question = ModelQuestion(
        id=f"model-question/{verdict.id}/{verdict.revision}",
        job=verdict.job,
        attempt=verdict.attempt,
        kind=QuestionKind.REVIEW,
        about=verdict.id,
        revision=verdict.revision,
        time=verdict.time,
    )
    root = verdict.root
    if root is None or root.rank is None:
        return question
    cited = [each for each in verdict.evidence if (each.rank, each.stream) == (root.rank, root.stream)]
    return msgspec.structs.replace(
        question,
        topic=root.topic,
        partition=root.partition,
        chunks=[ChunkReference(root.offset)],
        node=verdict.node,
        rank=root.rank,
        stream=root.stream,
        root_line=root.line,
        cited=cited[:CITED],
    )


log = structlog.get_logger(__name__)

_EARLY = 8
"""Answers kept that came before the verdict that they are about: a replay may read them first."""


class ReviewMetrics:
    """What came of second looks."""

    def __init__(self) -> None:
        self.answered = Counter(
            "schedmate_reviewer_answered", "Answers about the newest verdict of an attempt.", registry=None
        )
        self.late = Counter(
            "schedmate_reviewer_late",
            "Answers about a verdict that another had followed; they change nothing.",
            registry=None,
        )
        self.agreed = Counter("schedmate_reviewer_agreed", "Of the same error type as the verdict.", registry=None)
        self.disagreed = Counter(
            "schedmate_reviewer_disagreed", "Of another error type than the verdict.", registry=None
        )
        self.revised = Counter(
            "schedmate_reviewer_revised", "Verdicts that were refined, or gained or lost confidence.", registry=None
        )
        self.groundless = Counter(
            "schedmate_reviewer_groundless",
            "Answers that named no line of the window, or lines that do not speak of what was answered.",
            registry=None,
        )


class FailureReviewer:
    """Holds answers against the verdicts that they are about. Holds no job's state."""

    def __init__(self) -> None:
        self.metrics = ReviewMetrics()

    def on_verdicts(self, verdicts: Sequence[Failure], state: HandlerState) -> list[Failure]:
        """Note the verdicts just said; return them and what answers that came before them make of the last."""
        if not verdicts:
            return []
        state.verdict = verdicts[-1]
        waiting, state.early = state.early, []
        revisions = [one for position, answer in waiting for one in self.on_answer(answer, position, state)]
        return [*verdicts, *revisions]

    def on_answer(self, answer: ModelAnswer, position: Position, state: HandlerState) -> list[Failure]:
        """Take an answer; return the revision that follows from it.

        It counts only while the verdict that it is about is the newest: so a second answer to one question changes nothing.
        """
        if answer.revision > state.revision:
            state.early = [*state.early, (position, answer)][-_EARLY:]
            return []
        verdict = state.verdict
        if verdict is None or answer.review is None or not _about(answer, verdict):
            self.metrics.late.inc()
            return []
        self._count(verdict, answer, answer.review)
        revision = revised(verdict, answer.review, answer.lines, position)
        if revision is None:
            return []
        self.metrics.revised.inc()
        state.revision, state.verdict = revision.revision, revision
        return [revision]

    def _count(self, verdict: Failure, answer: ModelAnswer, review: Review) -> None:
        self.metrics.answered.inc()
        self.metrics.groundless.inc(not grounds(answer.lines))
        if ErrorType.UNKNOWN in (review.error_type, verdict.error_type):
            return
        if review.error_type is verdict.error_type:
            self.metrics.agreed.inc()
            return
        self.metrics.disagreed.inc()
        log.info(
            "model_sees_another_cause",
            job=verdict.job,
            verdict=str(verdict.error_type),
            confidence=verdict.confidence,
            said=str(review.error_type),
            line=review.root,
            model=answer.model,
        )


def _about(answer: ModelAnswer, verdict: Failure) -> bool:
    return (answer.about, answer.revision, answer.attempt) == (verdict.id, verdict.revision, verdict.attempt)
