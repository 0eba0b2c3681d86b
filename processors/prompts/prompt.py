"""A prompt for a language model, and the record that its answer becomes.

An answer is untrusted. It matches the prompt's closed schema, and the caller checks it against the log and the clock.
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
    """A question to a language model, as text.

    Attributes:
        kind: What is asked: `template`, `failure` or `workload`.
        version: Version of the prompt; answers to another one are not reused.
        key: Identifies this prompt among those of its kind: a checksum of its subject.
        instructions: What the model is to do. Holds nothing from any log.
        data: Lines of a log, quoted (`quoting.quoted`).
        schema: Closed JSON schema of the answer. Follows from the kind and from numbers alone, never from text of a log.
        job: Id of the job whose budget it uses; empty for none.
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
        draft: The answer's record, without the fields from the model.
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
