"""Common parts of records: version, position, evidence."""

import msgspec

VERSION = 1
"""The newest version of any record that this code can read."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A structure on the wire. Unknown fields are ignored; a higher version than `VERSION` is refused."""

    v: int = VERSION


class Position(msgspec.Struct, frozen=True, order=True, gc=False):
    """Place of one message in the input: topic, partition and offset, as Kafka counts them."""

    topic: str
    partition: int
    offset: int


class Evidence(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A line that supports a result, with its position.

    Attributes:
        topic: The topic (or, for a stored file, its name) that holds the line.
        partition: Kafka partition.
        offset: Kafka offset of the chunk.
        line: Line number in the job's stream, counted from 1 and split on newlines only.
        text: The line itself, cut to a few hundred characters.
        rank: Rank that printed it; null where not known.
        stream: `stdout` or `stderr`.
    """

    topic: str
    partition: int
    offset: int
    line: int
    text: str
    rank: int | None = None
    stream: str = "stdout"
