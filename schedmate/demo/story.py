"""One line for a person about what just happened."""

from dataclasses import dataclass

from schedmate_records import (
    Checkpoint,
    CheckpointState,
    Decision,
    DecisionResult,
    ErrorType,
    EventKind,
    Failure,
    JobEvent,
    Outcome,
    Record,
    Slowdown,
)

from ..report.report import seconds

NEUTRAL, GOOD, WARN, BAD = "default", "green", "yellow", "red"


@dataclass(frozen=True)
class Moment:
    """An event of a job with its colour and the time of its report, in seconds since 1970."""

    job: str
    text: str
    style: str = NEUTRAL
    time: float = 0.0


def moment_of(record: Record) -> Moment | None:  # noqa: PLR0911  # one a kind of record
    """Return what is worth telling of a record."""
    match record:
        case JobEvent():
            return _event(record)
        case Failure():
            return _failure(record)
        case Slowdown() if record.recovered is not None:
            text = f"at {record.recovered:.0%} of its speed again, without {record.packed_job}"
            return Moment(record.job, text, GOOD)
        case Slowdown():
            text = (
                f"slowed by {record.packed_job}: {seconds(record.before_s)} a step before, {seconds(record.after_s)} "
                f"packed, {record.ratio:.0%} of its speed"
            )
            return Moment(record.job, text, WARN)
        case Checkpoint() if record.state is CheckpointState.DURABLE and record.path:
            return Moment(record.job, f"saved {record.path.rpartition('/')[2]} (durable)", GOOD)
        case Decision():
            what = f"{_words(record.action)} {record.node}".rstrip()
            return Moment(record.job, f"decision: {what} ({record.mode})", WARN)
        case DecisionResult() if record.outcome is Outcome.AWAITING_APPROVAL:
            return Moment(record.job, f"{_words(record.action)}: waits for an approval", WARN)
        case DecisionResult() if record.outcome.final:
            style = GOOD if record.outcome is Outcome.DONE else BAD
            detail = f": {record.detail}" if record.detail else ""
            return Moment(record.job, f"{_words(record.action)}: {record.outcome}{detail}", style)
    return None


def _words(action: str) -> str:
    return action.replace("_", " ")


def _event(event: JobEvent) -> Moment | None:
    where = event.nodes[0] if event.nodes else ""
    match event.kind:
        case EventKind.STARTED:
            again = f", attempt {event.attempt + 1}" if event.attempt else ""
            return Moment(event.job, f"started on {where}{again}")
        case EventKind.PACKED if event.newcomer:
            return Moment(event.job, f"packed with {event.packed_with} on {where}", WARN)
        case EventKind.REQUEUED:
            return Moment(event.job, "back in the queue")
        case EventKind.ENDED:
            return Moment(event.job, *_end(event))
    return None


def _end(event: JobEvent) -> tuple[str, str]:
    if event.state == "COMPLETED":
        return "completed", GOOD
    how = f"signal {event.signal}" if event.signal else f"exit code {event.exit_code}"
    return f"{event.state.lower()} ({how})", BAD


def _failure(failure: Failure) -> Moment:
    if failure.error_type is ErrorType.NONE:
        return Moment(failure.job, f"verdict retracted: {failure.message}")
    return Moment(failure.job, f"verdict: {kind(failure)}: {failure.message}", BAD)


def kind(failure: Failure) -> str:
    """Return whose fault it is, and what is faulty."""
    part = f" ({failure.faulty_component})" if failure.faulty_component != "none" else ""
    return f"{failure.error_type.replace('_', ' ')}{part}"
