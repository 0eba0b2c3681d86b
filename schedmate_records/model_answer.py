"""Topic `model-answers`: answers of language models about jobs. Input of the workers, like the lines of a job."""

from enum import StrEnum

import msgspec

from .base import Evidence, Record
from .failure import Component, ErrorType


class Certainty(StrEnum):
    """How sure a model calls itself."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """A second look at a verdict.

    Attributes:
        error_type: Whose fault the model thinks it is.
        faulty_component: What it thinks is faulty.
        restartable: Whether it thinks that starting again helps; null where it does not know.
        certainty: How sure it calls itself.
        root: Number of the line that it thinks explains the failure; 0 for none. Counts only where that line is among the record's `lines`.
    """

    error_type: ErrorType
    faulty_component: Component = Component.NONE
    restartable: bool | None = None
    certainty: Certainty = Certainty.LOW
    root: int = 0


class NumberMeaning(msgspec.Struct, frozen=True):
    """What one number of a template means, and its unit, in the words of the closed lists that the model was given."""

    meaning: str
    unit: str


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a template, and its arrival in seconds since 1970."""

    line: Evidence
    time: float


class ModelAnswer(Record, frozen=True, kw_only=True):
    """An answer of a language model. Key: the job. It is a hint: what may follow from it is decided by the worker that reads it.

    Exactly one of `review` and `numbers` is there.

    Attributes:
        id: Follows from what was asked about, the model and the prompt.
        job: The scheduler's job id.
        attempt: Restart count.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        about: What was asked about: a verdict's id, or a template's checksum.
        revision: Revision of that verdict; 0 for a template.
        time: When it was answered, in seconds since 1970.
        model: Who answered.
        prompt: Version of the prompt.
        review: The second look at the verdict.
        lines: The lines that the review rests on, of those that the model was shown.
        numbers: What the numbers of the template mean, in order; empty for a review.
        samples: Lines of the template, oldest first; the newest of them were shown to the model.
        node: Host that printed them; empty where not known.
        rank: Rank that printed them.
        stream: `stdout` or `stderr`.
    """

    id: str
    job: str
    attempt: int = 0
    incarnation: str = ""
    about: str
    revision: int = 0
    time: float
    model: str
    prompt: str
    review: Review | None = None
    lines: list[Evidence] = []
    numbers: list[NumberMeaning] = []
    samples: list[Sample] = []
    node: str = ""
    rank: int = 0
    stream: str = "stdout"
