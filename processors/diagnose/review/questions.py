"""The question about a verdict."""

from processors.recent_chunks import RecentChunks
from records import ChunkReference, ErrorType, Evidence, Failure, ModelQuestion, QuestionKind

CITED = 16
"""Lines of a verdict that its question holds."""


def root_of(verdict: Failure) -> Evidence | None:
    """Return the root line of `verdict` where a rank of the job printed it; a line of a node's log is none of the job's."""
    return verdict.root if verdict.root is not None and verdict.root.rank is not None else None


def review_question(verdict: Failure, recent: RecentChunks | None) -> ModelQuestion | None:
    """Return the question for a second look at `verdict`; None where there is nothing to look at.

    Args:
        verdict: What was just said.
        recent: The newest chunks of the stream that printed the root line, or of the one that printed last where there is no such line;
            None where nothing is known of it.
    """
    if verdict.error_type is ErrorType.NONE or recent is None or not recent.chunks:
        return None
    root = root_of(verdict)
    cited = [each for each in verdict.evidence if root and (each.rank, each.stream) == (root.rank, root.stream)]
    chunks = recent.chunks
    if root and (root.topic, root.partition) == (recent.topic, recent.partition) and root.offset < chunks[0].offset:
        chunks = [ChunkReference(root.offset), *chunks]
    return ModelQuestion(
        id=f"model-question/{verdict.id}/{verdict.revision}",
        job=verdict.job,
        attempt=verdict.attempt,
        kind=QuestionKind.REVIEW,
        about=verdict.id,
        revision=verdict.revision,
        time=verdict.time,
        topic=recent.topic,
        partition=recent.partition,
        chunks=chunks,
        node=verdict.node,
        rank=recent.rank,
        stream=recent.stream,
        root_line=root.line if root else 0,
        cited=cited[:CITED],
    )
