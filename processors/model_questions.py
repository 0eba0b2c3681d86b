"""Makes a question to a language model ready to be asked: the prompt, out of the lines that it cites. What model workers run."""

from collections.abc import Mapping

from records import LogChunk, ModelQuestion, QuestionKind

from .cited_lines import cited_lines
from .diagnose import review
from .prompts import PreparedQuestion
from .track import template_reading

_PREPARE = {QuestionKind.REVIEW: review.prepare, QuestionKind.TEMPLATE: template_reading.prepare}


def prepare(question: ModelQuestion, chunks: Mapping[int, LogChunk]) -> PreparedQuestion | None:
    """Return `question` with its prompt; None where its lines leave nothing to ask.

    Args:
        question: The question.
        chunks: The chunks that it cites and that are still there, by offset.
    """
    return _PREPARE[question.kind](question, cited_lines(question, chunks))
