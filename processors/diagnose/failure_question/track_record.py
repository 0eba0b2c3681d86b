"""How often a model agrees with the rules where these are likely right: a model that does not is not trusted elsewhere either."""

import threading

from schedmate_records import FailureFacts, ModelAnswer

from .combine import grounded, opinion_of_model
from .table import LIKELY


class TrackRecord:
    """The record of one model. Safe to be shared by threads.

    Attributes:
        answers: Number of answers about verdicts of which the rules are confident.
        agreed: Those that agree with the rules and that the lines bear out.
    """

    def __init__(self) -> None:
        self.answers = self.agreed = 0
        self._lock = threading.Lock()

    def add(self, facts: FailureFacts | None, answer: ModelAnswer) -> bool:
        """Take an answer to a question that stated `facts` into account; return whether the model is trusted with it."""
        rules, given = facts.verdict if facts else None, answer.failure
        with self._lock:
            if rules is not None and given is not None and rules.confidence >= LIKELY:
                self.answers += 1
                self.agreed += grounded(given, answer.lines) and rules.agrees(opinion_of_model(given, answer.model))
            return not self.answers or 2 * self.agreed > self.answers  # random answers agree in a quarter
