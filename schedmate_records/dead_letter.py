"""Topic `dead-letters`: unusable messages, in full if they fit into a message."""

from .base import Record


class DeadLetter(Record, frozen=True, kw_only=True):
    """An unusable message, with the reason and its position. Key: the topic that it came from.

    Attributes:
        id: Follows from the position.
        topic: Topic of the message.
        partition: Partition of the message.
        offset: Offset of the message.
        time: Timestamp of the message, in seconds since 1970.
        reason: What was expected, what came.
        stage: `decode` (not a record of its topic), `process` (a record that a processor could not take), `write` (a result that is
            larger than its topic allows), `limit` (one of too many new jobs) or `quarantine` (one at which workers
            died, or that an operator passed over).
        key: The message's key, bytes (base64 in JSON), cut to 1 KB.
        value: The message's value, bytes (base64 in JSON), whole; its beginning where it is too large for a message.
        size: Bytes of the whole value.
        sha256: Checksum of the whole value, in hexadecimal.
        truncated: Key or value are cut. The whole message remains at its offset, as long as that topic keeps it.
    """

    id: str
    topic: str
    partition: int
    offset: int
    time: float
    reason: str
    stage: str = "decode"
    key: bytes | None = None
    value: bytes = b""
    size: int = 0
    sha256: str = ""
    truncated: bool = False
