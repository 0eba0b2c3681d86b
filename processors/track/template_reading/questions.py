"""The question about a stream whose lines tell no speed: when it is asked, and of which chunks."""

import msgspec

from schedmate_records import LogChunk, ModelQuestion, Position, QuestionKind, derived_id

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

    def due(self, lines: int, new: int) -> bool:
        """Return whether it is time to look at a stream of so many lines, the last `new` of which have just come.

        That is after 40, 80, 160 … lines, and only where they are enough for the job's next question.
        """
        more = self.asked < QUESTIONS and len(self.answered) < TEMPLATES
        return more and lines >= FIRST_LOOK << self.asked and _looks(lines) > _looks(lines - new)

    def on_answer(self, template: str) -> None:
        """Note that a template was answered."""
        if template not in self.answered:
            self.answered = [*self.answered, template][-TEMPLATES:]


def _looks(lines: int) -> int:
    """Return how many looks are due after so many lines of a stream."""
    return (lines // FIRST_LOOK).bit_length()


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
