"""The question about a verdict."""

import msgspec

from records import ChunkReference, ErrorType, Failure, ModelQuestion, QuestionKind

CITED = 16
"""Lines of a verdict that its question holds."""


def review_question(verdict: Failure) -> ModelQuestion | None:
    """Return the question for a second look at `verdict`; None where there is nothing to look at.

    It cites the chunk of the root line, and no others yet. A root line that a node printed is none of the job's: then the question is
    about the stream that printed last, and names none.
    """
    if verdict.error_type is ErrorType.NONE:
        return None
    question = ModelQuestion(
        id=f"model-question/{verdict.id}/{verdict.revision}",
        job=verdict.job,
        attempt=verdict.attempt,
        kind=QuestionKind.REVIEW,
        about=verdict.id,
        revision=verdict.revision,
        time=verdict.time,
    )
    root = verdict.root
    if root is None or root.rank is None:
        return question
    cited = [each for each in verdict.evidence if (each.rank, each.stream) == (root.rank, root.stream)]
    return msgspec.structs.replace(
        question,
        topic=root.topic,
        partition=root.partition,
        chunks=[ChunkReference(root.offset)],
        node=verdict.node,
        rank=root.rank,
        stream=root.stream,
        root_line=root.line,
        cited=cited[:CITED],
    )
