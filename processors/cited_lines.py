"""The lines that a question to a language model cites, out of the chunks that hold them."""

from collections.abc import Mapping

from records import Evidence, LogChunk, ModelQuestion, Sample

from .classified_chunk import QUOTE
from .container_log import strip_container_wrapping
from .dedup import Numbering, deduplicate


def cited_lines(question: ModelQuestion, chunks: Mapping[int, LogChunk]) -> list[Sample]:
    """Return the lines of the chunks that `question` cites, in their order, with their arrival; repeats are left out.

    A chunk of another stream than the question's, or of lines whose numbers nobody knows, is passed over.

    Args:
        question: The question.
        chunks: The chunks that are still there, by offset.
    """
    found: list[Sample] = []
    numberings: dict[str, Numbering] = {}
    for reference in question.chunks:
        chunk = chunks.get(reference.offset)
        if chunk is None or _stream(chunk) != _stream(question) or not (chunk.first_line or reference.line):
            continue
        numbering = numberings.setdefault(chunk.producer, Numbering(next_piece=chunk.first_piece or 1))
        numbering.next_line = reference.line or numbering.next_line
        fresh = deduplicate(chunk, numbering)
        lines, times = strip_container_wrapping(fresh.lines, fresh.times)
        found += [
            Sample(
                line=Evidence(
                    topic=question.topic,
                    partition=question.partition,
                    offset=reference.offset,
                    line=number,
                    text=text.strip("\r\n")[:QUOTE],
                    rank=question.rank,
                    stream=question.stream,
                ),
                time=time,
            )
            for text, number, time in zip(lines, fresh.numbers, times, strict=True)
        ]
    return found


def _stream(of: LogChunk | ModelQuestion) -> tuple[str, int, int, str]:
    return of.job, of.attempt, of.rank, of.stream
