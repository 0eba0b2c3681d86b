"""A question about a job, and the record that its answer becomes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from records import Evidence, ModelAnswer

from .failure_review import cited, review
from .language_model import Answer, Question
from .template_reading import numbers


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question, with all that its answer's record needs.

    Attributes:
        question: What is asked.
        partition: Of the job's state, where the answer belongs.
        draft: The record, without what the model says.
        shown: The lines of a window, by number; empty for a template.
    """

    question: Question
    partition: int
    draft: ModelAnswer
    shown: Mapping[int, Evidence] = field(default_factory=dict)

    def record(self, answer: Answer, time: float) -> ModelAnswer:
        """Return the record of `answer`, which came at `time` (seconds since 1970) and lies inside the question's schema."""
        draft = self.draft
        known = msgspec.structs.replace(
            draft,
            id=f"model-answer/{draft.job}/{draft.attempt}/{draft.about}/{draft.revision}/{answer.model}/{answer.version}",
            time=time,
            model=answer.model,
            prompt=answer.version,
        )
        if self.question.kind == "template":
            return msgspec.structs.replace(known, numbers=numbers(answer.content))
        return msgspec.structs.replace(known, review=review(answer.content), lines=cited(answer.content, self.shown))
