"""What the operators of a job are told of its log itself, as events of the job."""

from records import PRODUCER, EventKind, JobEvent, LogChunk, Position, derived_id

from .state import PRODUCERS, StreamState


def lines_passed_over(position: Position, chunk: LogChunk) -> JobEvent:
    """Return the event that a job prints more new text than is read."""
    return JobEvent(
        id=derived_id("lines_passed_over", chunk.job, position),
        job=chunk.job,
        attempt=chunk.attempt,
        kind=EventKind.LINES_PASSED_OVER,
        time=chunk.time,
        scheduler=PRODUCER,
        detail=(
            f"expected lines that repeat, got new text line after line from {chunk.stream} of rank {chunk.rank}: what is beyond the "
            "job's budget is not read, apart from some lines that tell of errors or progress; is it printing data?"
        ),
    )


def conflict(stream: StreamState, position: Position, chunk: LogChunk) -> list[JobEvent]:
    """Return an event, once a stream, where two producers write one stream of one rank by turns."""
    if chunk.producer in stream.writers[-1:] or not chunk.producer:
        return []
    if chunk.producer not in stream.writers:
        stream.writers = [*stream.writers, chunk.producer][-PRODUCERS:]
        return []
    if stream.conflict:
        return []
    stream.conflict = True
    return [
        JobEvent(
            id=derived_id("id_conflict", chunk.job, position),
            job=chunk.job,
            attempt=chunk.attempt,
            kind=EventKind.ID_CONFLICT,
            time=chunk.time,
            scheduler=PRODUCER,
            detail=(
                f"expected one producer for {chunk.stream} of rank {chunk.rank}, got lines by turns from "
                f"{' and '.join(stream.writers[-2:])}: are two jobs using one id? give each its own --job, or each process its own --rank"
            ),
        )
    ]
