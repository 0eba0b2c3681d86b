"""A second look at a verdict by a language model: the question, the prompt, and what may follow from the answer."""

from .prompt import prepare
from .questions import review_question
from .reviewer import FailureReviewer, ReviewMetrics

__all__ = ["FailureReviewer", "ReviewMetrics", "prepare", "review_question"]
