"""Which template of a stream a model is asked about: the most frequent one of which some answer could be confirmed."""

from collections.abc import Iterable, Sequence

from processors.prompts import PreparedQuestion
from records import ModelAnswer, ModelQuestion, Sample

from .prompt import MOST, SHOWN, numbers, prompt, texts_of
from .worth_asking import could_be_confirmed

LINES = 40
"""Newest lines of a template that are held against the clock before anybody is asked about it, and again once there is an answer."""


def prepare(question: ModelQuestion, lines: Sequence[Sample]) -> PreparedQuestion | None:
    """Return the question about a stream with its prompt; None where no template is worth a question.

    Args:
        question: The question.
        lines: The newest lines of the stream, oldest first.
    """
    for samples in _templates(lines):
        asked = prompt(samples, question.job)
        if asked is None or asked.key in question.known:
            continue
        draft = ModelAnswer(
            id="", job=question.job, attempt=question.attempt, about=asked.key, time=0.0, model="", prompt="",
            samples=list(samples), node=question.node, rank=question.rank, stream=question.stream,
        )  # fmt: skip
        return PreparedQuestion(asked, draft, lambda content: {"numbers": numbers(content)})
    return None


def _templates(lines: Sequence[Sample]) -> Iterable[Sequence[Sample]]:
    """Yield the newest lines of each template that could be confirmed as a report, the most frequent template first."""
    groups: dict[tuple[str, ...], list[Sample]] = {}
    for each in lines:
        texts = texts_of(each.line.text)
        if 2 <= len(texts) - 1 <= MOST:  # a step and a time
            groups.setdefault(texts, []).append(each)
    for samples in sorted(groups.values(), key=len, reverse=True):
        if len(samples) < SHOWN:
            return
        if could_be_confirmed(samples[-LINES:]):
            yield samples[-LINES:]
