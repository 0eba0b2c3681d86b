"""The model as a model worker asks it, with a note of each question: the pool's limits, retries and checks are the product's own."""

from dataclasses import dataclass, field
from pathlib import Path

from processors.prompts import Prompt
from schedmate_records import QuestionKind
from streams.model_worker.answers import AnswerStore
from streams.model_worker.http_server import HttpModelServer
from streams.model_worker.language_model import Answer, LanguageModel
from streams.model_worker.pool import ModelLimits, ModelPool

from .judged import Tally

PLENTY = 1_000_000


def pool(server: HttpModelServer, timeout_s: float, concurrency: int, answers: Path | None) -> ModelPool:
    """Return the model of `server`; no budget ends the measurement, and what the file `answers` holds is not asked again."""
    limits = ModelLimits(
        concurrency=concurrency, timeout_s=timeout_s, total_s=timeout_s, attempts=1, per_job_hour=PLENTY, per_hour=PLENTY
    )  # fmt: skip
    return ModelPool([server], limits, AnswerStore(PLENTY, answers), server.model(timeout_s))


@dataclass
class Noted:
    """Asks, and notes what came: one for each subject.

    Attributes:
        model: The model to ask; null notes that something was asked, and gives no answer.
        kind: Questions of this kind are asked; those of other kinds are not.
    """

    model: LanguageModel | None
    kind: str
    asked: int = 0
    answers: list[Answer] = field(default_factory=list)

    def ask(self, prompt: Prompt) -> Answer | None:
        """Return the answer, as the model's `ask` does. A trial question about failures, which belongs to no job, is not noted."""
        if prompt.kind != self.kind:
            return None
        if self.model and prompt.kind == QuestionKind.FAILURE and not prompt.job:
            return self.model.ask(prompt)
        self.asked += 1
        answer = self.model.ask(prompt) if self.model else None
        if answer is not None:
            self.answers.append(answer)
        return answer

    def count(self, tally: Tally) -> None:
        """Add what was asked and answered to a row."""
        tally.asked += self.asked
        tally.answered += len(self.answers)
        tally.seconds += [each.seconds for each in self.answers if each.seconds]
