"""Agreement of a model with the rules where these are likely right. A model that does not agree is not trusted."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

from schedmate_records import FailureFacts, ModelAnswer

from ...prompts import Prompt
from .combine import grounded, opinion_of_model
from .table import LIKELY, Band, band
from .trial import trial_questions

ENOUGH = 3
"""Equal answers that settle a trial of five questions. Random answers pass 3 % of trials."""

AskTrial = Callable[[Prompt], Mapping[str, Any] | None]
"""Returns a model's answer to a trial question; None where there is none."""


class TrackRecord:
    """The record of one model. Safe to be shared by threads.

    Args:
        tried: True for answers that need no trial, such as those that a person chose.

    Attributes:
        answers: Number of answers to trial questions, and about verdicts of which the rules are confident.
        agreed: Those that agree with the rules and that the lines support.
    """

    def __init__(self, *, tried: bool = False) -> None:
        self.answers = self.agreed = 0
        self._tried = tried
        self._lock, self._trial = threading.Lock(), threading.Lock()

    def judge(self, facts: FailureFacts | None, answer: ModelAnswer, ask: AskTrial) -> bool:
        """Take an answer to a question that stated `facts` into account; return whether the model is trusted with it.

        The first answer that can decide a verdict, because the rules are not confident, is preceded by a trial.
        """
        rules, given = facts.verdict if facts else None, answer.failure
        decides = given is not None and (given.failed or rules is not None)
        if decides and band(rules) is not Band.LIKELY:
            with self._trial:
                if not self._tried:
                    self._try(ask)
                self._tried = True
        with self._lock:
            if rules is not None and rules.confidence >= LIKELY:
                self._count(facts, answer)
            return not self.answers or 2 * self.agreed > self.answers  # random answers agree in a quarter

    def _try(self, ask: AskTrial) -> None:
        """Ask trial questions until the result is clear. A question without an answer does not count."""
        trial = TrackRecord()
        for facts, question in trial_questions():
            content = ask(question.prompt)
            if content is not None:
                trial._count(facts, question.answer(content, "", 0.0))
            if max(trial.agreed, trial.answers - trial.agreed) >= ENOUGH:
                break
        with self._lock:
            self.answers += trial.answers
            self.agreed += trial.agreed

    def _count(self, facts: FailureFacts | None, answer: ModelAnswer) -> None:
        rules, given = facts.verdict if facts else None, answer.failure
        if rules is not None and given is not None:
            self.answers += 1
            self.agreed += grounded(given, answer.lines) and rules.agrees(opinion_of_model(given, answer.model))
