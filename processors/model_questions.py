"""Questions to language models: when one about a format is due, which chunks and lines one about a verdict cites, and their prompts.

A question about a verdict holds no lines but those that the verdict cites, only the places of the newest chunks. Model workers read those.
A question about a format holds sample lines of a few streams of the job.
"""

from collections.abc import Mapping

from schedmate_records import (
    Evidence,
    JobEvent,
    LogChunk,
    ModelQuestion,
    Position,
    QuestionKind,
    Record,
    Sample,
    StreamReference,
    derived_id,
)

from .classified_chunk import QUOTE
from .diagnose import failure_question
from .formats.known import KnownFormats
from .formats.question import PreparedFormatQuestion
from .formats.question import prepare as prepare_format
from .new_lines import Numbering, deduplicate, strip_container_wrapping
from .prompts import PreparedQuestion
from .recent_chunks import cite, cite_others
from .state import JobState, SourceState
from .track.summary import in_words

SAMPLED_STREAMS = 6
"""Streams of an attempt whose lines are kept for a question about their format."""


def format_question(
    state: JobState,
    source: SourceState,
    known: KnownFormats,
    about: LogChunk | JobEvent,
    position: Position,
) -> ModelQuestion | None:
    """Return the question about the format of a stream where it is due, and count it; else None.

    Args:
        state: The job's state.
        source: The part of the stream's state that holds its newest lines.
        known: The known formats.
        about: What the question follows from: a chunk of the stream, or the end of the attempt. At the end rare templates count, too.
        position: Position of `about` in the input.
    """
    own = source.track.format
    due = own.survey.is_due if isinstance(about, LogChunk) else own.survey.is_due_at_end
    if own.fingerprint or not own.sampled or not due or state.format_questions >= 8:
        return None
    if known.covers(own.survey.counts()):
        return None
    question = own.survey.question(in_words(source.track.window))
    if question is None:
        return None
    state.format_questions += 1
    return ModelQuestion(
        id=derived_id("format-question", state.job, position, state.format_questions),
        job=state.job,
        attempt=about.attempt,
        kind=QuestionKind.FORMAT,
        about=question.fingerprint,
        time=about.time,
        format=question,
    )


def cited(made: Record, state: JobState) -> Record | None:
    """Return `made`; a question with the newest chunks of its stream, or None where there are none."""
    if not isinstance(made, ModelQuestion) or made.kind is QuestionKind.FORMAT:
        return made
    attempt = state.attempts.get(made.attempt)
    newest = attempt.newest_stream if attempt else ""
    name = state.stream_name(made.attempt, made.rank, made.stream) if made.stream else newest
    stream = state.streams.get(name)
    question = cite(made, stream.recent if stream else None)
    if question is None or question.kind is not QuestionKind.FAILURE:
        return question
    prefix = f"{made.attempt}/"
    others = [each.recent for key, each in state.streams.items() if key != name and key.startswith(prefix)]
    return cite_others(question, others)


def cited_lines(question: ModelQuestion, chunks: Mapping[int, LogChunk]) -> list[Sample]:
    """Return the lines of the chunks that `question` cites, stream by stream, with their arrival; repeats are left out.

    A chunk of another stream than the reference to it, or of lines whose numbers are not known, is passed over.

    Args:
        question: The question.
        chunks: The chunks that are still there, by offset.
    """
    own = StreamReference(rank=question.rank, stream=question.stream, chunks=question.chunks)
    return [line for stream in (own, *question.others) for line in _lines_of(question, stream, chunks)]


def _lines_of(question: ModelQuestion, stream: StreamReference, chunks: Mapping[int, LogChunk]) -> list[Sample]:
    found: list[Sample] = []
    numberings: dict[str, Numbering] = {}
    wanted = (question.job, question.attempt, stream.rank, stream.stream)
    for reference in stream.chunks:
        chunk = chunks.get(reference.offset)
        if chunk is None or (chunk.job, chunk.attempt, chunk.rank, chunk.stream) != wanted:
            continue
        if not (chunk.first_line or reference.line):
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
                    rank=stream.rank,
                    stream=stream.stream,
                ),
                time=time,
            )
            for text, number, time in zip(lines, fresh.numbers, times, strict=True)
        ]
    return found


def prepare(
    question: ModelQuestion, chunks: Mapping[int, LogChunk]
) -> PreparedQuestion | PreparedFormatQuestion | None:
    """Return `question` with its prompt; None where its lines leave nothing to ask.

    Args:
        question: The question.
        chunks: The chunks that it cites and that are still there, by offset.
    """
    if question.kind is QuestionKind.FORMAT:
        return prepare_format(question)
    return failure_question.prepare(question, cited_lines(question, chunks))
