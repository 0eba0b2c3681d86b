"""The newest chunks of a stream, by their places: what a question to a language model cites instead of lines."""

from collections.abc import Iterable, Sequence

import msgspec

from schedmate_records import ChunkReference, LogChunk, ModelQuestion, Position, StreamReference

LINES = 400
"""Lines that the chunks reach back: as many as a window holds."""
CHUNKS = 64
"""Chunks at most."""


class RecentChunks(msgspec.Struct, array_like=True):
    """The newest chunks of one stream.

    Attributes:
        topic: The topic that holds them.
        partition: Its partition.
        node: Host that printed the newest.
        rank: Rank that printed them.
        stream: `stdout` or `stderr`.
        chunks: Oldest first.
        lines: Pieces of text seen so far in the stream.
    """

    topic: str = ""
    partition: int = 0
    node: str = ""
    rank: int = 0
    stream: str = ""
    chunks: list[ChunkReference] = []
    lines: int = 0

    def add(self, chunk: LogChunk, position: Position, first_line: int, numbers: Sequence[int]) -> None:
        """Note `chunk`, whose first line is number `first_line`; `numbers` are those of its new lines."""
        self.topic, self.partition = position.topic, position.partition
        self.node, self.rank, self.stream = chunk.node, chunk.rank, chunk.stream
        self.lines += len(numbers)
        self.chunks = [*self.chunks, ChunkReference(position.offset, first_line)][-CHUNKS:]
        while len(self.chunks) > 1 and numbers[-1] - self.chunks[1].line >= LINES:
            del self.chunks[0]


def cite(question: ModelQuestion, recent: RecentChunks | None) -> ModelQuestion | None:
    """Return `question`, which may cite older chunks of the stream, with the newest ones too; None where it then cites nothing."""
    if recent is None or not recent.chunks:
        return question if question.chunks else None
    older = [each for each in question.chunks if each.offset < recent.chunks[0].offset]
    return msgspec.structs.replace(
        question,
        topic=recent.topic,
        partition=recent.partition,
        chunks=[*older, *recent.chunks],
        node=recent.node,
        rank=recent.rank,
        stream=recent.stream,
    )


def cite_others(question: ModelQuestion, others: Iterable[RecentChunks]) -> ModelQuestion:
    """Return `question` with the newest chunks of other streams of its attempt too, in the order of their ranks."""
    known = {(each.rank, each.stream): each.chunks for each in question.others}
    newest = {(each.rank, each.stream): each.chunks[-2:] for each in others if each.chunks}
    streams = [*known, *sorted(each for each in newest if each not in known)][:16]
    references = []
    for rank, stream in streams:
        recent = newest.get((rank, stream), [])
        offsets = {each.offset for each in recent}
        older = [each for each in known.get((rank, stream), []) if each.offset not in offsets]
        chunks = sorted([*older, *recent], key=lambda each: each.offset)
        references.append(StreamReference(rank=rank, stream=stream, chunks=chunks))
    return msgspec.structs.replace(question, others=references)
