"""A prompt for tests of servers."""

from processors.prompts import Prompt
from processors.prompts.schema import closed, one_of

PROMPT = Prompt("check", "1", "k", "Say a or b.", "<log>\n1: x\n</log>", closed({"class": one_of(["a", "b"])}))
