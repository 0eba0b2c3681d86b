"""The questions about an attempt and the answers to them: when one is asked, and which verdict follows from an answer.

The new verdict follows from the verdict that was asked about, the answer and the end of the attempt alone.
"""

from collections.abc import Sequence

import msgspec
import structlog
from prometheus_client import Counter

from schedmate_records import ErrorType, Failure, FailureSource, ModelAnswer, ModelQuestion, NodeFinding

from ..ending import Ending
from ..handler import FailureHandler, HandlerState
from .combine import combined, objection
from .question import PER_ATTEMPT, is_due, question_about
from .table import Table, shipped

log = structlog.get_logger(__name__)

EARLY = 8
"""Maximum number of answers that are kept until the verdict that they are about: a replay may read them first."""


class OpinionState(msgspec.Struct):
    """State of an attempt.

    Attributes:
        ending: How the attempt ended; None before its end.
        verdict: The newest verdict, combined or not; None where there is none.
        asked: Number of questions.
        early: Answers that came before the verdict that they are about, or before the end of the attempt.
    """

    ending: Ending | None = None
    verdict: Failure | None = None
    asked: int = 0
    early: list[ModelAnswer] = []


class OpinionMetrics:
    """Metrics of questions about failures."""

    def __init__(self) -> None:
        self.answered = Counter(
            "schedmate_opinions_answered", "Answers about the newest verdict of an attempt.", registry=None
        )
        self.late = Counter(
            "schedmate_opinions_late",
            "Answers about a verdict that was revised since. They are dropped.",
            registry=None,
        )
        self.agreed = Counter(
            "schedmate_opinions_agreed", "Answers with the same error type as the rules.", registry=None
        )
        self.disagreed = Counter(
            "schedmate_opinions_disagreed", "Answers with another error type than the rules.", registry=None
        )
        self.decided = Counter("schedmate_opinions_decided", "Verdicts whose cause a model decided.", registry=None)
        self.rejected = Counter(
            "schedmate_opinions_rejected",
            "Answers rejected: inconsistent, or not supported by the lines that they cite.",
            registry=None,
        )


class ModelOpinions:
    """Asks about attempts that have ended and combines the answers with the rules' verdicts. Holds no job's state.

    Args:
        handler: The rules.
        table: Who decides; the table that ships where not given.
    """

    def __init__(self, handler: FailureHandler, table: Table | None = None) -> None:
        self.handler = handler
        self.table = table or shipped()
        self.metrics = OpinionMetrics()

    def on_verdicts(self, verdicts: Sequence[Failure], state: OpinionState, rules: HandlerState) -> list[Failure]:
        """Note the newest verdict; return the verdicts that follow from answers that came before it."""
        if verdicts:
            state.verdict = verdicts[-1]
        if state.ending is None:
            return []
        early, state.early = state.early, []
        return [one for answer in early for one in self.on_answer(answer, state, rules)]

    def question(
        self, state: OpinionState, rules: HandlerState, findings: Sequence[NodeFinding]
    ) -> ModelQuestion | None:
        """Return the question about the newest verdict of an attempt that has ended; None where none is due."""
        if state.ending is None or state.asked >= PER_ATTEMPT or not is_due(state.verdict, state.ending):
            return None
        state.asked += 1
        weighed = self.handler.weighed(state.ending, rules)
        return question_about(state.verdict, rules.revision, state.ending, weighed, findings)

    def on_answer(self, answer: ModelAnswer, state: OpinionState, rules: HandlerState) -> list[Failure]:
        """Return the verdict that follows from an answer, if any.

        An answer counts only while the verdict that it is about is the newest, so a second answer to one question changes nothing.
        """
        if state.ending is None or answer.revision > rules.revision:
            state.early = [*state.early, answer][-EARLY:]
            return []
        verdict = state.verdict
        about = (verdict.id if verdict else "", rules.revision)
        if answer.failure is None or (answer.about, answer.revision) != about or (verdict and verdict.opinions):
            self.metrics.late.inc()
            return []
        self._count(verdict, answer, state.ending)
        new = combined(verdict, answer, state.ending, rules.revision + 1, self.table)
        if new is None:
            return []
        self.metrics.decided.inc(new.source is FailureSource.MODEL)
        rules.revision, state.verdict = new.revision, new
        return [new]

    def _count(self, verdict: Failure | None, answer: ModelAnswer, ending: Ending) -> None:
        given = answer.failure
        assert given is not None
        self.metrics.answered.inc()
        if reason := objection(given, answer.lines, verdict, ending):
            self.metrics.rejected.inc()
            log.debug("answer_rejected", job=answer.job, model=answer.model, reason=reason)
            return
        stated = verdict.error_type if verdict else ErrorType.NONE
        agree = stated is given.error_type
        (self.metrics.agreed if agree else self.metrics.disagreed).inc()
        if not agree:
            log.info(
                "model_sees_another_cause",
                job=answer.job,
                verdict=str(stated),
                confidence=verdict.confidence if verdict else 0.0,
                answer=str(given.error_type),
                line=given.root.line if given.root else None,
                model=answer.model,
            )
