"""Topic `model-questions`: what language models are asked about jobs. Read by model workers, which fetch the lines themselves."""

from enum import StrEnum

import msgspec

from .base import Evidence, Record


class QuestionKind(StrEnum):
    """Kind of question."""

    REVIEW = "review"
    TEMPLATE = "template"


class ChunkReference(msgspec.Struct, array_like=True, frozen=True):
    """A chunk of lines, by its place.

    Attributes:
        offset: Its offset.
        line: Number of its first line; 0 where it is not known: the chunk itself may have it.
    """

    offset: int
    line: int = 0


class ModelQuestion(Record, frozen=True, kw_only=True):
    """A question to a language model about one stream of a job. Key: the job. It holds no lines but those that a verdict cites.

    Attributes:
        id: Follows from what is asked about.
        job: The scheduler's job id.
        attempt: Restart count.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        kind: `review`: a second look at a verdict; `template`: what the numbers of the most frequent template of the stream mean.
        about: The verdict's id; empty for a template.
        revision: Revision of that verdict; 0 for a template.
        time: Arrival of the newest line that it rests on, in seconds since 1970.
        topic: The topic (or, for a stored file, its name) that holds the chunks.
        partition: Their partition, and that of the job's state, where the answer belongs.
        chunks: The chunks to look at, oldest first.
        node: Host that printed them; empty where not known.
        rank: Rank that printed them.
        stream: `stdout` or `stderr`.
        root_line: Number of the line that the verdict calls the root; 0 for none.
        cited: Lines of the stream that the verdict cites: they replace chunks that are gone.
        known: Checksums of templates that were answered before.
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
    root_line: int = 0
    cited: list[Evidence] = []
    known: list[str] = []
