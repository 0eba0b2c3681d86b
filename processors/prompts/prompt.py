"""A prompt for a language model, and the record that its answer becomes.

An answer is never trusted. It lies inside the prompt's closed schema, and that is all that is known of it; whoever asked holds it
against what the log and the clock say.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from schedmate_records import ModelAnswer

Schema = Mapping[str, Any]
"""A closed JSON schema, of the parts that `schema.problem` knows."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a language model is asked.

    Attributes:
        kind: What is asked: `template`, `failure` or `workload`.
        version: Version of the prompt; answers to another one are not reused.
        key: What tells this prompt from others of its kind: a checksum of what it is about.
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
class PreparedQuestion:
    """A question whose lines are here.

    Attributes:
        prompt: What a model is asked.
        draft: The answer's record, without what the model says.
        read: Returns the fields of the record that an answer inside the schema fills.
    """

    prompt: Prompt
    draft: ModelAnswer
    read: Callable[[Mapping[str, Any]], Mapping[str, Any]]

    def answer(self, content: Mapping[str, Any], model: str, time: float) -> ModelAnswer:
        """Return the record of what `model` answered at `time` (seconds since 1970); `content` lies inside the prompt's schema."""
        draft, version = self.draft, self.prompt.version
        return msgspec.structs.replace(
            draft,
            id=f"model-answer/{draft.job}/{draft.attempt}/{draft.about}/{draft.revision}/{model}/{version}",
            time=time,
            model=model,
            prompt=version,
            **self.read(content),
        )
