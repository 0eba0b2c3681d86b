"""Topic `model-questions`: questions to language models about jobs. Model workers read it and fetch the lines."""

from enum import StrEnum

import msgspec

from .base import Evidence, Record
from .failure import Component, ErrorType, Opinion


class QuestionKind(StrEnum):
    """Kind of question."""

    FAILURE = "failure"
    FORMAT = "format"


class ChunkReference(msgspec.Struct, array_like=True, frozen=True):
    """Reference to a chunk of lines.

    Attributes:
        offset: Kafka offset.
        line: Number of its first line; 0 where only the chunk contains it.
    """

    offset: int
    line: int = 0


class StreamReference(msgspec.Struct, frozen=True, kw_only=True):
    """Chunks of one stream of the job, in the partition of the question.

    Attributes:
        rank: Rank that printed them.
        stream: `stdout` or `stderr`.
        chunks: Oldest first.
    """

    rank: int
    stream: str
    chunks: list[ChunkReference] = []


class CandidateCause(msgspec.Struct, frozen=True, kw_only=True):
    """A cause that the rules considered.

    Attributes:
        line: The line that shows it; null for the end of the attempt itself.
        cause: Name of the catalogue entry or of the exception class.
        error_type: Error type of the cause.
        faulty_component: Faulty component of the cause.
        confidence: 0 to 1.
        survived: Whether the job continued after it, according to the rules.
    """

    line: Evidence | None = None
    cause: str = ""
    error_type: ErrorType = ErrorType.UNKNOWN
    faulty_component: Component = Component.NONE
    confidence: float = 0.0
    survived: bool = False


class FailureFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a `failure` question states about an attempt in addition to its lines.

    Attributes:
        exit_code: Exit code of the attempt; null where not known.
        signal: Signal that ended it; null for none.
        state: The scheduler's final state; empty where not known.
        verdict: The opinion of the rules; null where they have no verdict.
        candidates: Causes that the rules considered, the most likely first.
        findings: What the nodes of the attempt reported, one finding each.
    """

    exit_code: int | None = None
    signal: int | None = None
    state: str = ""
    verdict: Opinion | None = None
    candidates: list[CandidateCause] = []
    findings: list[str] = []


class TemplateSamples(msgspec.Struct, frozen=True, kw_only=True):
    """A template of a stream, the number of its lines and some of them.

    Attributes:
        text: The template: a line without its prefix, with `{}` in place of each number.
        count: Number of its lines.
        lines: The first line, one from the middle and the newest.
    """

    text: str
    count: int
    lines: list[str]


class FormatQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """What a question about the format of a stream shows.

    Attributes:
        fingerprint: Checksum of the most frequent reports of the stream.
        templates: The frequent templates of the stream.
        head: Its first lines.
        tail: Its newest lines.
        reading: Progress that the rules read from it, in words.
    """

    fingerprint: str
    templates: list[TemplateSamples]
    head: list[str] = []
    tail: list[str] = []
    reading: str = ""


class ModelQuestion(Record, frozen=True, kw_only=True):
    """A question to a language model about a job. Key: the job, or the fingerprint of a format.

    A question about a failure holds the lines that the rules cite, and names the chunks that hold the others. A question about a format
    holds sample lines. Model workers read all questions about one format from one partition, so that the model is asked once.

    Attributes:
        id: Follows from what is asked about.
        job: The scheduler's job id.
        attempt: Restart count.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        kind: `failure`: why an attempt failed, if it did; `format`: what the lines of the stream mean.
        about: The id of the rules' verdict, empty where they have none; or the fingerprint of the format.
        revision: Revision of that verdict; 0 for none, and for a format.
        time: Arrival of the newest line in the question, in seconds since 1970.
        topic: The topic (or, for a stored file, its name) that holds the chunks.
        partition: Their partition, and that of the job's state, where the answer belongs.
        chunks: The chunks to look at, oldest first.
        node: Host that printed them; empty where not known.
        rank: Rank that printed them.
        stream: `stdout` or `stderr`.
        cited: Lines that the verdict of the rules cites: they replace chunks that are gone.
        others: Chunks of other streams of the attempt to look at.
        failure: What a `failure` question states about the attempt; null for a format.
        format: What is shown of the stream; null for a failure.
    """

    id: str
    job: str
    attempt: int = 0
    incarnation: str = ""
    kind: QuestionKind
    about: str = ""
    revision: int = 0
    time: float
    topic: str = ""
    partition: int = 0
    chunks: list[ChunkReference] = []
    node: str = ""
    rank: int = 0
    stream: str = ""
    cited: list[Evidence] = []
    others: list[StreamReference] = []
    failure: FailureFacts | None = None
    format: FormatQuestion | None = None

    @property
    def key(self) -> str:
        """Key of the message: the fingerprint of a format, else the job."""
        return self.about if self.kind is QuestionKind.FORMAT else self.job

    @property
    def offsets(self) -> list[int]:
        """Offsets of all chunks to look at, those of the question's own stream first."""
        chunks = [*self.chunks, *(chunk for other in self.others for chunk in other.chunks)]
        return list(dict.fromkeys(chunk.offset for chunk in chunks if chunk.offset >= 0))
