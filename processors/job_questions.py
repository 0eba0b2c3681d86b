"""What a job's state has to do with questions to language models: when one is due, which chunks it cites, what an answer changes."""

from records import ModelAnswer, ModelQuestion, Position, Record

from .recent_chunks import cite
from .state import JobState, SourceState, StreamState, stream_name
from .track import learned


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
    stream = state.streams.get(stream_name(made.attempt, made.rank, made.stream) if made.stream else newest)
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
    stream = state.streams.get(stream_name(answer.attempt, answer.rank, answer.stream))
    return max(stream.sources.values(), key=lambda source: source.updated, default=None) if stream else None
