"""A second look at a verdict by a language model: the question, the prompt, and what may follow from the answer."""

from .prompt import prepare
from .reviewer import FailureReviewer, ReviewMetrics, review_question

__all__ = ["FailureReviewer", "ReviewMetrics", "prepare", "review_question"]
