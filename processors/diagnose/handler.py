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
from typing import Any

import msgspec
from prometheus_client import Counter

from schedmate_records import ErrorType, Failure, identified

from ..classified_chunk import PROGRESS, ClassifiedChunk
from .candidates import Candidate, rank_candidates, revive
from .catalogue import Signature, load
from .ending import Ending, candidate_from_ending
from .kinds import Kind
from .line_reader import LineReader, StreamDiagnosisState, close_stream
from .survival import count_progress_elsewhere

PUBLISHED_EARLY = 0.4
"""Minimum confidence of a verdict before the end of the attempt."""
CERTAIN = 0.9
"""Minimum confidence of a verdict before the end, if the job survived its cause before."""
EVIDENCE = 6
"""Maximum number of lines that a verdict cites, the root among them."""
_SURVIVED_CAUSES = 16
"""Maximum number of survived causes that are remembered."""


class HandlerState(msgspec.Struct):
    """State of an attempt: a few KB, and almost nothing without errors.

    Attributes:
        revision: Revision of the newest verdict.
        reported: True if any rank's progress could be read: silence shows nothing then.
        candidates: The candidates.
        streams: State of each stream.
        survived: Causes that the job survived.
        verdict: The newest verdict; null for none.
        ending: How the attempt ended; null before its end.
    """

    revision: int = 0
    reported: bool = False
    candidates: list[Candidate] = []
    streams: dict[str, StreamDiagnosisState] = {}
    survived: list[str] = []
    verdict: Failure | None = None
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
        if not state.candidates and state.verdict is None:
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
        state.ending = ending if ending.is_known else None
        return self._conclude(ending, state)

    def reopen(self, job: str, attempt: int, time: float, state: HandlerState) -> list[Failure]:
        """Return the verdict on an attempt that has not ended after all: on its lines so far, or a retraction."""
        state.ending, published = None, state.verdict
        state.verdict = None
        if made := self._early_verdict(job, attempt, time, state):
            return made
        state.verdict = published
        return self._retract(state, job, attempt, time, None)

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
        if not ranked:
            return self._retract(state, ending.job, ending.attempt, ending.time, ending)
        stated = by_ending or next((one for one in ranked if one.kind == Kind.EXIT), None)
        ranked[0] = _fill_unknown(ranked[0], stated)
        made = _verdict(ranked, ending.job, ending.attempt, state.revision + 1, ending)
        known = state.verdict is not None and state.verdict.id == made.id
        return [] if known else self._publish(made, state)

    def _early_verdict(self, job: str, attempt: int, time: float, state: HandlerState) -> list[Failure]:
        """Return the verdict before the end of the attempt, if it is sure and new, or a retraction."""
        ranked = rank_candidates(state.candidates, readable=state.reported, ended_badly=False)
        if not ranked:
            return self._retract(state, job, attempt, time, None)
        root, made = ranked[0], _verdict(ranked, job, attempt, state.revision + 1, None)
        sure = root.confidence >= (CERTAIN if root.cause in state.survived else PUBLISHED_EARLY)
        known = state.verdict is not None and _essence(state.verdict) == _essence(made)
        return self._publish(made, state) if sure and not known else []

    def _publish(self, made: Failure, state: HandlerState) -> list[Failure]:
        (self.metrics.retracted if made.error_type is ErrorType.NONE else self.metrics.verdicts).inc()
        state.revision, state.verdict = made.revision, made
        return [made]

    def _retract(
        self, state: HandlerState, job: str, attempt: int, time: float, ending: Ending | None
    ) -> list[Failure]:
        """Return the record that retracts the newest verdict, if there is one."""
        if state.verdict is None or state.verdict.error_type is ErrorType.NONE:
            return []
        why = "the job went on after it"
        if ending and (ending.cancelled or ending.well):
            why = "the attempt was cancelled" if ending.cancelled else "the attempt ended well"
        return self._publish(_record(job, attempt, state.revision + 1, time, ending, message=why), state)


def _essence(verdict: Failure) -> tuple[object, ...]:
    """Return what makes a new record where it changes."""
    root = verdict.root.line if verdict.root else 0
    return verdict.signature, verdict.error_type, root, verdict.rank


def _verdict(ranked: Sequence[Candidate], job: str, attempt: int, revision: int, ending: Ending | None) -> Failure:
    """Return the record for the root `ranked[0]`; the others support it. Final if there is an `ending`."""
    root = ranked[0]
    lines = [root.root, *root.support, *(one.root for one in ranked[1:])]
    cited = {(one.topic, one.partition, one.offset, one.line, one.rank): one for one in lines if one is not None}
    return _record(
        job, attempt, revision, root.time, ending, message=root.message, error_type=root.error_type,
        node=root.node, rank=root.rank, root=root.root, faulty_component=root.component, restartable=root.restartable,
        confidence=root.confidence, source=root.source, signature=root.cause, evidence=list(cited.values())[:EVIDENCE],
    )  # fmt: skip


def _record(  # the fields that every record has
    job: str, attempt: int, revision: int, time: float, ending: Ending | None, **fields: Any
) -> Failure:
    fields = {"error_type": ErrorType.NONE} | fields
    if ending is not None:
        fields |= {"final": True, "exit_code": ending.exit_code, "signal": ending.killed_by or None}
    return identified(Failure(id="", job=job, attempt=attempt, revision=revision, time=time, **fields))


def _fill_unknown(root: Candidate, ending: Candidate | None) -> Candidate:
    """Return `root`, where what it leaves unknown is filled from what the ending alone states.

    Without an ending, a last error that states nothing else is taken for the program's own, as most failures are.
    """
    if root is ending or root.error_type is not ErrorType.UNKNOWN:
        return root
    if ending is None:
        return msgspec.structs.replace(root, error_type=ErrorType.USER_SCRIPT, restartable=False, confidence=0.25)
    return msgspec.structs.replace(
        root,
        error_type=ending.error_type,
        component=ending.component,
        restartable=ending.restartable,
        confidence=max(root.confidence, ending.confidence),
    )


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
        return rank_candidates(revive(kept) + ends, readable=readable, ended_badly=True)
    return ranked
