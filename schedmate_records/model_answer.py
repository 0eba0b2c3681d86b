"""Topic `model-answers`: answers of language models about jobs. Input of the workers, like the lines of a job."""

from enum import StrEnum

import msgspec

from .base import Evidence, Record
from .failure import Component, ErrorType


class Certainty(StrEnum):
    """Certainty that a model states."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class FailureAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a `failure` question.

    Attributes:
        failed: Whether the attempt failed.
        error_type: Error type; `none` for an attempt that did not fail.
        faulty_component: Faulty component; `none` unless the type is infrastructure.
        restartable: Whether starting the unchanged job again helps; null where the model does not know.
        certainty: Certainty that the model states.
        root: The line that explains the failure; null for none, or where the model named a line that it was not shown.
        progress_after: Number of lines that report progress after the root line, of those that the model was shown.
        summary: One plain sentence for the operator.
    """

    failed: bool
    error_type: ErrorType
    faulty_component: Component = Component.NONE
    restartable: bool | None = None
    certainty: Certainty = Certainty.LOW
    root: Evidence | None = None
    progress_after: int = 0
    summary: str = ""


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a stream, and its arrival in seconds since 1970."""

    line: Evidence
    time: float


class ModelAnswer(Record, frozen=True, kw_only=True):
    """An answer of a language model about a failure. Key: the job. A worker decides how it is used.

    Attributes:
        id: Follows from what was asked about, the model and the prompt.
        job: The scheduler's job id.
        attempt: Restart count.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        about: Id of the verdict that was asked about; empty where there was none.
        revision: Revision of that verdict; 0 for none.
        time: When it was answered, in seconds since 1970.
        model: Name of the model.
        prompt: Version of the prompt.
        failure: The answer to a `failure` question.
        lines: Lines that it cites, of those that the model was shown.
        trusted: Whether at least half of the model's answers agree with the rules where these are likely right. An untrusted answer
            decides nothing.
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
    failure: FailureAnswer | None = None
    lines: list[Evidence] = []
    trusted: bool = True
    node: str = ""
    rank: int = 0
    stream: str = "stdout"
