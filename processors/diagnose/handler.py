"""The failure handler: locates the line that explains a failure, classifies it, and says so at once (SchedMate §3.3).

What is read. Lines of class `p` are skipped unless one holds a traceback's header or a traceback is open, so a chunk of progress costs a
scan for a few words. Every other line is reduced to its template and looked up; only a template never seen before is matched against the
signatures, in one pass of RE2 over all of them. So a certain signature fires whatever class the line was given. A line of class `e` that no
signature and no traceback explains is kept as a hint, which counts only when the attempt is known to have ended badly. All is decided line
by line: how lines are cut into chunks changes when records are made, not the final verdict.

Healthy look-alikes. A candidate after which the job prints several progress lines was not the end: it is dropped, and a verdict that rested
on it is retracted.
"""

import copy
from collections.abc import Sequence

import msgspec
from prometheus_client import Counter

from schedmate_records import ErrorType, Failure

from ..classified_chunk import PROGRESS, ClassifiedChunk
from .candidates import Candidate, choose, revive, survive_elsewhere
from .catalogue import Signature, load
from .ending import Ending, by_ending
from .kinds import EXIT
from .line_reader import Feed, LineReader, close
from .verdict import PublishedVerdict, informed, retracted, verdict

AT_ONCE = 0.4
"""Confidence below which a verdict waits for the end."""
BENIGN = 16
"""Causes remembered as survived before: unless almost certain, they are not announced again before the end."""
CERTAIN = 0.9


class HandlerState(msgspec.Struct):
    """What is remembered of one attempt of a job; a few KB, next to nothing where nothing went wrong."""

    revision: int = 0
    reported: bool = False
    """Whether any rank's progress could be read: if so, silence about it shows nothing."""
    candidates: list[Candidate] = []
    feeds: dict[str, Feed] = {}
    benign: list[str] = []
    said: PublishedVerdict | None = None
    ending: Ending | None = None


class HandlerMetrics:
    """What the handler has said."""

    def __init__(self) -> None:
        self.verdicts = Counter("schedmate_failure_handler_verdicts", "Verdicts, revisions included.", registry=None)
        self.retracted = Counter(
            "schedmate_failure_handler_retracted",
            "Verdicts withdrawn because the job went on or succeeded.",
            registry=None,
        )


class FailureHandler:
    """Reads a job's chunks and its ending; returns verdicts. Holds no job's state, only the template cache.

    Args:
        signatures: The catalogue; all that ships where not given.
    """

    def __init__(self, signatures: Sequence[Signature] | None = None) -> None:
        self.signatures = tuple(load() if signatures is None else signatures)
        self.metrics = HandlerMetrics()
        self._reader = LineReader(self.signatures)

    @property
    def remembered(self) -> int:
        """Templates that are remembered now."""
        return self._reader.remembered

    def quiet(self, lines: Sequence[str], classes: str) -> bool:
        """Return whether `lines`, whose classes are `classes`, hold no sign of a failure, not even of one survived."""
        return self._reader.quiet(lines, classes)

    def observe(self, view: ClassifiedChunk, state: HandlerState) -> list[Failure]:
        """Take a chunk; return a verdict where the chunk makes or betters one, or one that retracts it where the job went on."""
        if not view.lines:
            return []
        name = f"{view.rank}/{view.stream}"
        state.reported = state.reported or PROGRESS in view.classes
        self._reader.read(view, name, state.feeds, state.candidates)
        if not state.candidates and state.said is None:
            return []
        survive_elsewhere(view, name, state.candidates)
        if state.ending is not None:
            return self._conclude(state.ending, state)
        return self._announce(view, state)

    def conclude(self, ending: Ending, state: HandlerState) -> list[Failure]:
        """Return the final verdict of the attempt; nothing where it shows no failure and nothing was said before.

        Lines may still come after it (a log that was spooled, or overtaken by the scheduler's event): they may better the verdict.
        """
        state.ending = ending if ending.known else None
        return self._conclude(ending, state)

    def reopen(self, job: str, attempt: int, time: float, state: HandlerState) -> list[Failure]:
        """Return the verdict on an attempt that has not ended after all: on its lines so far, or a retraction of the one in force."""
        state.ending = None
        ranked = choose(state.candidates, readable=state.reported, ended_badly=False)
        if ranked and _is_sure(ranked[0], state):
            return [self._emit_verdict(verdict(ranked, job, attempt, state.revision + 1, None), ranked[0], state)]
        return [] if state.said is None else [self._retract(state, job, attempt, time, None)]

    def _conclude(self, ending: Ending, state: HandlerState) -> list[Failure]:
        """Return the verdict on all lines so far, tracebacks that are still open included, where it says anything new."""
        alone = by_ending(ending)
        ranked = [] if ending.well else _final(_closed(state), alone, state.reported)
        if ranked:
            ranked[0] = informed(ranked[0], alone or next((one for one in ranked if one.kind == EXIT), None))
            said = verdict(ranked, ending.job, ending.attempt, state.revision + 1, ending)
            return (
                []
                if state.said is not None and state.said.id == said.id
                else [self._emit_verdict(said, ranked[0], state)]
            )
        if state.said is None or state.said.error_type is ErrorType.NONE:
            return []
        return [self._retract(state, ending.job, ending.attempt, ending.time, ending)]

    def weighed(self, ending: Ending, state: HandlerState) -> tuple[list[Candidate], list[Candidate]]:
        """Return the candidates that may explain the end of an attempt, the likeliest first, and those that the job survived."""
        kept = _closed(state)
        ranked = _final(kept, by_ending(ending), state.reported)
        places = {(each.root.rank, each.root.stream, each.root.line) for each in ranked if each.root}
        others = [one for one in kept if one.root and (one.root.rank, one.root.stream, one.root.line) not in places]
        return ranked, sorted(others, key=lambda one: one.order)

    def _announce(self, view: ClassifiedChunk, state: HandlerState) -> list[Failure]:
        for one in state.candidates:
            if not one.alive(state.reported) and one.cause not in state.benign and len(state.benign) < BENIGN:
                state.benign.append(one.cause)
        ranked = choose(state.candidates, readable=state.reported, ended_badly=False)
        if not ranked:
            if state.said is None or state.said.error_type is ErrorType.NONE:
                return []
            return [self._retract(state, view.job, view.attempt, view.newest, None)]
        root = ranked[0]
        if not _is_sure(root, state):
            return []
        if state.said is not None and state.said.same(root):
            return []
        return [self._emit_verdict(verdict(ranked, view.job, view.attempt, state.revision + 1, None), root, state)]

    def _emit_verdict(self, said: Failure, root: Candidate, state: HandlerState) -> Failure:
        self.metrics.verdicts.inc()
        state.revision = said.revision
        state.said = PublishedVerdict.of(root, said.id)
        return said

    def _retract(self, state: HandlerState, job: str, attempt: int, time: float, ending: Ending | None) -> Failure:
        self.metrics.retracted.inc()
        state.revision += 1
        said = retracted(job, time, attempt, state.revision, ending)
        state.said = PublishedVerdict("", ErrorType.NONE, 0, None, said.id)
        return said


def _is_sure(root: Candidate, state: HandlerState) -> bool:
    """Return whether a verdict with this root is published before the attempt ends."""
    return root.confidence >= AT_ONCE and (root.cause not in state.benign or root.confidence >= CERTAIN)


def _closed(state: HandlerState) -> list[Candidate]:
    """Return copies of all candidates, those of tracebacks that are still open included."""
    kept, feeds = copy.deepcopy((state.candidates, state.feeds))
    for name, feed in feeds.items():
        close(feed, name, kept)
    return kept


def _final(kept: list[Candidate], alone: Candidate | None, readable: bool) -> list[Candidate]:
    """Return the candidates, the root first, of an attempt that did not end well; `alone`: what its ending says, None for a stored log."""
    ends = [alone] if alone else []
    ranked = choose(kept + ends, readable=readable, ended_badly=alone is not None, stopped=alone is None)
    if alone is not None and ranked[0] is alone and alone.error_type is ErrorType.UNKNOWN:
        return choose(revive(kept, readable) + ends, readable=readable, ended_badly=True)
    return ranked
