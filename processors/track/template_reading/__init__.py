"""What the numbers of a progress line mean, by a language model where grammar leaves it open: question, prompt, check by the clock."""

from .prepare import prepare
from .questions import TemplateQuestions, template_question

__all__ = ["TemplateQuestions", "prepare", "template_question"]
