"""Start and end of a job without a scheduler, from what the pipes of its ranks report."""

import msgspec

from schedmate_records import EventKind, JobEvent

from .state import AttemptState


def rank_event(attempt: AttemptState, event: JobEvent) -> list[JobEvent]:
    """Note that a rank started or ended; return the start of the job with its first rank, and its end with the last.

    A job that fails has the exit code of the first rank that failed.
    """
    ranks, rank = attempt.open_ranks, event.rank or 0
    if event.kind is EventKind.RANK_STARTED:
        # An attempt of more than 4,096 ranks ends when these have ended.
        if rank in ranks or len(ranks) >= 4096:
            return []
        ranks.add(rank)
        return [_of_job(event, EventKind.STARTED)] if len(ranks) == 1 else []
    if rank not in ranks:
        return []
    ranks.discard(rank)
    if attempt.rank_exit == (0, 0):
        attempt.rank_exit = event.exit_code, event.signal
    if ranks:
        return []
    exit_code, signal = attempt.rank_exit
    attempt.rank_exit = 0, 0
    return [_of_job(msgspec.structs.replace(event, exit_code=exit_code, signal=signal), EventKind.ENDED)]


def _of_job(event: JobEvent, kind: EventKind) -> JobEvent:
    """Return the event of the whole job that follows from that of a rank."""
    made_of = event.id.rpartition("/")[2]
    name = f"{event.scheduler}/{event.job}/{event.attempt}/{kind}/{made_of}"
    return msgspec.structs.replace(event, id=name, kind=kind, rank=None)
