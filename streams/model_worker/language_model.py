"""Protocol of a language model that answers prompts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from processors.prompts import Prompt
from schedmate_records import UserError


class ModelError(UserError):
    """A model could not be asked, or its answer was of no use; the message states what was expected and what came."""


class ServerBusy(ModelError):
    """The server asks to wait (429 or 503). `after` is how long, in seconds; 0 where it does not state that."""

    def __init__(self, message: str, after: float = 0.0) -> None:
        super().__init__(message)
        self.after = after


class PromptRefused(ModelError):
    """The model will never take this prompt (400, 401, 404, too long, …): asking again is useless."""


class UselessAnswer(ModelError):
    """The model answered, but not with JSON inside the schema."""


class ModelUnavailable(ModelError):
    """No model can be asked now: ask again later."""


def messages_of(prompt: Prompt) -> list[dict[str, str]]:
    """Return the conversation that puts `prompt` to a chat model."""
    closing = "Answer with one JSON object inside the given schema, and nothing else."
    return [
        {"role": "system", "content": f"{prompt.instructions}\n{closing}"},
        {"role": "user", "content": prompt.data},
    ]


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of a model.

    Attributes:
        model: Name of the model.
        version: Version of the prompt.
        content: The answer, inside the prompt's schema.
        seconds: How long it took; 0 for one that was remembered.
    """

    model: str
    version: str
    content: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


class LanguageModel(Protocol):
    """Answers prompts. May take seconds: never call it where a verdict waits."""

    def ask(self, prompt: Prompt) -> Answer | None:
        """Return the answer, inside the prompt's schema; None where there is none to be had.

        Raises:
            ModelUnavailable: No model can be asked now.
        """


class ModelServer(Protocol):
    """One model, over HTTP or in this process. Safe to be shared by threads.

    Attributes:
        url: What the log calls it.
    """

    url: str

    def model(self, timeout: float) -> str:
        """Return the name of the model. Raises `ModelError` where it is not known."""

    def complete(self, prompt: Prompt, timeout: float) -> Any:
        """Return what the model answers to `prompt`, parsed but not checked.

        Raises:
            ServerBusy: Ask later.
            PromptRefused: Do not ask again.
            UselessAnswer: The answer is not JSON.
            ModelError: Anything else: no answer within `timeout` seconds, an error.
        """
