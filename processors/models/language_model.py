"""What answers questions about lines: a language model behind a narrow protocol.

An answer is never trusted. It lies inside the question's closed schema, and that is all that is known of it; whoever asked holds it
against what the log and the clock say.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from records import Explained

Schema = Mapping[str, Any]
"""A closed JSON schema, of the parts that `schema.problem` knows."""


class ModelError(Explained):
    """A model server could not be asked, or its answer was of no use; the message says what was expected and what came."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question to a language model.

    Attributes:
        kind: What is asked: `template` or `review`.
        version: Version of the prompt; answers to another one are not reused.
        key: What tells this question from others of its kind: a checksum of what it is about.
        instructions: What the model is to do. Holds nothing from any log.
        data: Lines of a log, quoted (`quoting.quoted`).
        schema: Closed JSON schema of the answer. Follows from the kind and from numbers alone, never from text of a log.
        job: Whose budget pays for it; empty for nobody's.
        max_tokens: Tokens that the longest answer inside the schema may take.
    """

    kind: str
    version: str
    key: str
    instructions: str
    data: str
    schema: Schema
    job: str = ""
    max_tokens: int = 512


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model answered.

    Attributes:
        model: Name of the model.
        version: Version of the prompt.
        content: The answer, inside the question's schema.
        seconds: How long it took; 0 for one that was remembered.
    """

    model: str
    version: str
    content: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


class LanguageModel(Protocol):
    """Answers questions. May take seconds: never call it where a verdict waits."""

    def ask(self, question: Question) -> Answer | None:
        """Return the answer, inside the question's schema; None where there is none to be had. Never raises for what a server does."""
