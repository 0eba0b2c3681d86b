"""The question about a stream whose lines tell no speed: when it is asked, and of which chunks."""

import msgspec

from processors.recent_chunks import RecentChunks
from records import LogChunk, ModelQuestion, Position, QuestionKind, derived_id

FIRST_LOOK = 40
"""Lines of a stream after which its job's first question is asked; twice as many for the second, and so on."""
QUESTIONS = 16
"""Of a job at most: the last one after a million lines."""
TEMPLATES = 3
"""Answers about templates of a job, after which nothing more is asked."""


class TemplateQuestions(msgspec.Struct):
    """What a job's questions about templates depend on.

    Attributes:
        asked: Questions so far.
        answered: Checksums of the templates that were answered.
    """

    asked: int = 0
    answered: list[str] = []

    def due(self, recent: RecentChunks) -> bool:
        """Return whether the stream with the newest chunks `recent` has enough lines for the next question."""
        more = self.asked < QUESTIONS and len(self.answered) < TEMPLATES
        return more and recent.lines >= FIRST_LOOK << self.asked

    def on_answer(self, template: str) -> None:
        """Note that a template was answered."""
        if template not in self.answered:
            self.answered = [*self.answered, template][-TEMPLATES:]


def template_question(chunk: LogChunk, position: Position, state: TemplateQuestions) -> ModelQuestion:
    """Return the question about the stream of `chunk`, whose lines tell no speed, and count it in its job's `state`."""
    state.asked += 1
    return ModelQuestion(
        id=derived_id("model-question", chunk.job, position),
        job=chunk.job,
        attempt=chunk.attempt,
        kind=QuestionKind.TEMPLATE,
        time=chunk.time,
        rank=chunk.rank,
        stream=chunk.stream,
        known=state.answered,
    )
