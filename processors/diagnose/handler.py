"""The failure handler: locates the line that explains a failure, and classifies it (SchedMate §3.3).

Lines of class `p` are skipped unless one holds a traceback's header or a traceback is open, so a chunk of progress costs a search for a few
words. Every other line is reduced to its template and looked up; only a new template is matched against the signatures. So a certain
signature makes a verdict whatever the class of its line. A line of class `e` that no signature and no traceback explains is a hint, which
counts only if the attempt is known to have ended badly. How lines are cut into chunks changes when records are made, not the final verdict.

A candidate after which the job prints several progress lines did not end the job. It is dropped, and a verdict that rested on it is
retracted.
"""

import copy
from collections.abc import Sequence

import msgspec
from prometheus_client import Counter

from schedmate_records import ErrorType, Failure

from ..classified_chunk import PROGRESS, ClassifiedChunk
from .candidates import Candidate, rank_candidates, revive
from .catalogue import Signature, load
from .ending import Ending, candidate_from_ending
from .kinds import Kind
from .line_reader import LineReader, StreamDiagnosisState, close_stream
from .survival import count_progress_elsewhere
from .verdict import PublishedVerdict, fill_unknown, make_retraction, make_verdict

PUBLISHED_EARLY = 0.4
"""Minimum confidence of a verdict before the end of the attempt."""
CERTAIN = 0.9
"""Minimum confidence of a verdict before the end, if the job survived its cause before."""
_SURVIVED_CAUSES = 16
"""Maximum number of survived causes that are remembered."""


class HandlerState(msgspec.Struct):
    """What is remembered of one attempt of a job; a few KB, next to nothing where nothing went wrong.

    Attributes:
        revision: Revision of the newest verdict.
        reported: True if any rank's progress could be read: silence shows nothing then.
        candidates: The candidates.
        streams: State of each stream.
        survived: Causes that the job survived.
        published: The newest verdict; null for none.
        ending: How the attempt ended; null before its end.
    """

    revision: int = 0
    reported: bool = False
    candidates: list[Candidate] = []
    streams: dict[str, StreamDiagnosisState] = {}
    survived: list[str] = []
    published: PublishedVerdict | None = None
    ending: Ending | None = None


class HandlerMetrics:
    """Counters of verdicts."""

    def __init__(self) -> None:
        self.verdicts = Counter("schedmate_failure_handler_verdicts", "Verdicts, revisions included.", registry=None)
        self.retracted = Counter(
            "schedmate_failure_handler_retracted",
            "Verdicts withdrawn because the job went on or succeeded.",
            registry=None,
        )


class FailureHandler:
    """Reads a job's chunks and its ending; returns verdicts. Holds no state of a job, only the cache of templates.

    Args:
        signatures: The catalogue; the one that ships where not given.
    """

    def __init__(self, signatures: Sequence[Signature] | None = None) -> None:
        self.signatures = tuple(load() if signatures is None else signatures)
        self.metrics = HandlerMetrics()
        self._reader = LineReader(self.signatures)

    @property
    def remembered(self) -> int:
        """Templates that are remembered now."""
        return self._reader.remembered

    def is_quiet(self, lines: Sequence[str], classes: str) -> bool:
        """Return whether `lines`, whose classes are `classes`, hold no sign of a failure, not even of one survived."""
        return self._reader.is_quiet(lines, classes)

    def observe(self, view: ClassifiedChunk, state: HandlerState) -> list[Failure]:
        """Return the verdict that a chunk makes or improves, or one that retracts it because the job went on."""
        if not view.lines:
            return []
        name = f"{view.rank}/{view.stream}"
        state.reported = state.reported or PROGRESS in view.classes
        self._reader.read(view, name, state.streams, state.candidates)
        if not state.candidates and state.published is None:
            return []
        count_progress_elsewhere(view, name, state.candidates)
        if state.ending is not None:
            return self._conclude(state.ending, state)
        for one in state.candidates:
            full = one.cause in state.survived or len(state.survived) >= _SURVIVED_CAUSES
            if not full and not one.is_viable(state.reported):
                state.survived.append(one.cause)
        return self._early_verdict(view.job, view.attempt, view.newest, state)

    def conclude(self, ending: Ending, state: HandlerState) -> list[Failure]:
        """Return the final verdict of the attempt; nothing if it shows no failure and there is no verdict to retract.

        Lines may still come after it (a log that was spooled, or a faster event of the scheduler): they may improve the verdict.
        """
        state.ending = ending if ending.known else None
        return self._conclude(ending, state)

    def reopen(self, job: str, attempt: int, time: float, state: HandlerState) -> list[Failure]:
        """Return the verdict on an attempt that has not ended after all: on its lines so far, or a retraction."""
        state.ending, published = None, state.published
        state.published = None
        if made := self._early_verdict(job, attempt, time, state):
            return made
        return [] if published is None else [self._retract(state, job, attempt, time, None)]

    def weighed(self, ending: Ending, state: HandlerState) -> tuple[list[Candidate], list[Candidate]]:
        """Return the candidates that may explain the end of an attempt, the likeliest first, and those that the job survived."""
        kept = _closed(state)
        ranked = _rank_at_end(kept, candidate_from_ending(ending), state.reported)
        places = {(each.root.rank, each.root.stream, each.root.line) for each in ranked if each.root}
        others = [one for one in kept if one.root and (one.root.rank, one.root.stream, one.root.line) not in places]
        return ranked, sorted(others, key=lambda one: one.order)

    def _conclude(self, ending: Ending, state: HandlerState) -> list[Failure]:
        """Return the verdict on all lines so far, open tracebacks included, if it is new."""
        by_ending = candidate_from_ending(ending)
        ranked = [] if ending.well else _rank_at_end(_closed(state), by_ending, state.reported)
        if ending.cancelled and ranked and ranked[0].error_type is ErrorType.OTHER:
            ranked = []  # what a person cancelled did not fail, unless it shows a cause of its own
        if ranked:
            stated = by_ending or next((one for one in ranked if one.kind == Kind.EXIT), None)
            ranked[0] = fill_unknown(ranked[0], stated)
            made = make_verdict(ranked, ending.job, ending.attempt, state.revision + 1, ending)
            known = state.published is not None and state.published.id == made.id
            return [] if known else [self._publish(made, ranked[0], state)]
        if state.published is None or state.published.error_type is ErrorType.NONE:
            return []
        return [self._retract(state, ending.job, ending.attempt, ending.time, ending)]

    def _early_verdict(self, job: str, attempt: int, time: float, state: HandlerState) -> list[Failure]:
        """Return the verdict before the end of the attempt, if it is sure and new, or a retraction."""
        ranked, published = (
            rank_candidates(state.candidates, readable=state.reported, ended_badly=False),
            state.published,
        )
        if not ranked:
            if published is None or published.error_type is ErrorType.NONE:
                return []
            return [self._retract(state, job, attempt, time, None)]
        root = ranked[0]
        sure = root.confidence >= (CERTAIN if root.cause in state.survived else PUBLISHED_EARLY)
        if not sure or (published is not None and published == PublishedVerdict.from_root(root, published.id)):
            return []
        return [self._publish(make_verdict(ranked, job, attempt, state.revision + 1, None), root, state)]

    def _publish(self, made: Failure, root: Candidate, state: HandlerState) -> Failure:
        self.metrics.verdicts.inc()
        state.revision = made.revision
        state.published = PublishedVerdict.from_root(root, made.id)
        return made

    def _retract(self, state: HandlerState, job: str, attempt: int, time: float, ending: Ending | None) -> Failure:
        self.metrics.retracted.inc()
        state.revision += 1
        made = make_retraction(job, time, attempt, state.revision, ending)
        state.published = PublishedVerdict("", ErrorType.NONE, 0, None, made.id)
        return made


def _closed(state: HandlerState) -> list[Candidate]:
    """Return copies of all candidates, those of open tracebacks included."""
    kept, streams = copy.deepcopy((state.candidates, state.streams))
    for name, stream in streams.items():
        close_stream(stream, name, kept)
    return kept


def _rank_at_end(kept: list[Candidate], by_ending: Candidate | None, readable: bool) -> list[Candidate]:
    """Return the candidates of an attempt that did not end well, the root first; `by_ending` is None for a stored log."""
    ends = [by_ending] if by_ending else []
    ranked = rank_candidates(
        kept + ends, readable=readable, ended_badly=by_ending is not None, stopped=by_ending is None
    )
    if by_ending is not None and ranked[0] is by_ending and by_ending.error_type is ErrorType.UNKNOWN:
        return rank_candidates(revive(kept, readable) + ends, readable=readable, ended_badly=True)
    return ranked
