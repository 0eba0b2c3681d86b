"""Questions to language models: when one about a job's lines is due, which chunks and lines it cites, its prompt, what an answer changes.

A job's state holds no lines for questions, only the places of its newest chunks. Model workers read those (`prepare`).
"""

from collections.abc import Mapping

from schedmate_records import Evidence, LogChunk, ModelAnswer, ModelQuestion, Position, QuestionKind, Record, Sample

from .classified_chunk import QUOTE
from .diagnose import review
from .new_lines import Numbering, deduplicate, strip_container_wrapping
from .prompts import PreparedQuestion
from .recent_chunks import cite
from .state import JobState, SourceState, StreamState
from .track import learned, template_reading


def speed_is_open(state: JobState, stream: StreamState, producer: str, new: int) -> bool:
    """Return whether it is time to ask a model about the lines of a stream, since they tell no speed; the last `new` have just come."""
    return state.template_questions.due(stream.recent.lines, new) and learned.tells_no_speed(
        stream.source_of(producer).track
    )


def cited(made: Record, state: JobState) -> Record | None:
    """Return `made`; a question with the newest chunks of its stream, or None where there are none."""
    if not isinstance(made, ModelQuestion):
        return made
    attempt = state.attempts.get(made.attempt)
    newest = attempt.newest_stream if attempt else ""
    stream = state.streams.get(state.stream_name(made.attempt, made.rank, made.stream) if made.stream else newest)
    return cite(made, stream.recent if stream else None)


def on_template_answer(state: JobState, position: Position, answer: ModelAnswer) -> list[Record]:
    """Take what a language model says of a template: all lines of it are read like that from now on."""
    state.template_questions.on_answer(answer.about)
    state.templates = learned.remember(answer, state.templates)
    source = _printed(state, answer)
    template = next((each for each in state.templates if each.key == answer.about), None)
    if source is None or template is None:
        return []
    newest = learned.recall(answer, position, template, source.track.followed)
    metric = learned.completed(None, newest, source.track)
    return [metric] if metric else []


def _printed(state: JobState, answer: ModelAnswer) -> SourceState | None:
    """Return the newest of the sources that printed the lines which `answer` explains."""
    stream = state.streams.get(state.stream_name(answer.attempt, answer.rank, answer.stream))
    return max(stream.sources.values(), key=lambda source: source.updated, default=None) if stream else None


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


_PREPARE = {QuestionKind.REVIEW: review.prepare, QuestionKind.TEMPLATE: template_reading.prepare}


def prepare(question: ModelQuestion, chunks: Mapping[int, LogChunk]) -> PreparedQuestion | None:
    """Return `question` with its prompt; None where its lines leave nothing to ask.

    Args:
        question: The question.
        chunks: The chunks that it cites and that are still there, by offset.
    """
    return _PREPARE[question.kind](question, cited_lines(question, chunks))
