"""A question for tests of servers."""

from processors.models.language_model import Question
from processors.models.schema import closed, one_of

QUESTION = Question("check", "1", "k", "Say a or b.", "<log>\n1: x\n</log>", closed({"class": one_of(["a", "b"])}))
