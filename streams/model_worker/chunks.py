"""Reads the chunks that a question cites."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from schedmate_records import InvalidRecord, LogChunk, ModelQuestion

from ..accept import accept
from ..transport import Message

TOPIC = "job-logs"


class MessageReader(Protocol):
    """Reads single messages by their places."""

    def read_at(self, topic: str, partition: int, offsets: Sequence[int]) -> list[Message]:
        """Return the messages at `offsets`, in ascending order; those that are no longer kept are left out.

        Raises:
            TransportError: They cannot be read now.
        """


def chunks_by_offset(reader: MessageReader) -> Callable[[ModelQuestion], Mapping[int, LogChunk]]:
    """Return what reads the chunks that a question cites from `job-logs`."""

    def chunks_of(question: ModelQuestion) -> Mapping[int, LogChunk]:
        # Read 80 chunks of a question at most: ordinary ones cite fewer.
        offsets = sorted({each.offset for each in question.chunks[:80] if each.offset >= 0})
        found: dict[int, LogChunk] = {}
        for message in reader.read_at(TOPIC, question.partition, offsets):
            try:
                chunk = accept(message)
            except InvalidRecord:
                continue  # a dead letter already
            if isinstance(chunk, LogChunk):
                found[message.position.offset] = chunk
        return found

    return chunks_of
