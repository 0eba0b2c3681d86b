"""From the lines of a chunk to candidates: signatures, tracebacks, bare exceptions, hints."""

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from schedmate_records import Component, ErrorType, Evidence, FailureSource

from ..classified_chunk import ERROR, OTHER, PROGRESS, ClassifiedChunk
from ..grammar.prefix import strip_prefix
from . import kinds, launch
from . import traceback as tracebacks
from .candidates import LAST, WORDS, Candidate, add, survive_reports
from .catalogue import Signature
from .corrected import CorrectedWatch
from .drivers import read_event
from .exceptions import ExceptionMeaning, meaning, on_file
from .matcher import MILD, READ, Matcher
from .memory import held_by_others
from .nan import NanWatch, mentioned
from .superseded import VAGUE, denies, dismiss, supersede
from .traceback import Raised, TracebackState, excerpt, spoken

FEEDS = 64
"""Streams of one job with something remembered; further ones are read without memory of open tracebacks."""

EVENTS = 16
"""Xids of one stream that are remembered, for those that say which one they follow from."""

CORRECTED = "memory_corrected"
"""The signature of a corrected error of the host's memory."""

_TRACEBACK = (
    r"Traceback \(most recent call last\)|During handling of the above exception|The above exception was the direct cause"
    r"|Exception in thread|Exception ignored in|Error in atexit|--- Logging error ---|Exception in callback"
    r"|Exception in ASGI application|Exception on \S+ \["
)
_EXCEPTION = (
    r"(?:^|[\s:\]|)>\t])[A-Za-z_][\w.]*(?:Error|Exception|NotFound)[\w]*(?: \(see above for traceback\))?(?::\s|\s*$)"
    r"|(?:^|\]: ?)Exception: \S"
    r'|"(?:exc_)?type": ?"[\w.]+(?:Error|Exception)"'
)
_MILDLY = re.compile(r"(?:^|[\s\[|:])(?:INFO|DEBUG|TRACE|NOTICE)\b|(?:^|: )I \S+\.(?:cc|cpp|cu|h):\d+\]|^\[?I\d{4} ")
_QUOTATION = re.compile(
    r"""(?!.{0,40}(?i:err|message|msg|reason|exception|detail|std|fail|log|status|cause))[\w ./\[\]-]{1,40}[:=]\s*(["'`]).*\1\s*"""
)
"""A line that gives one name and one text in quotation marks: what is in it is data (a sample, a prompt)."""
_DATA = re.compile(
    r"""["']?\b(?:input|prompt|context|question|answer|reference|target|prediction|completion|hypothesis|sentence|text|sample)\b"""
    r"""(?:\[\d+\])?["']?[ =:]{1,3}(["'])(?:(?!\1)[^\\]|\\.){0,1500}\1"""
)
"""A text in quotation marks that its name calls data: what a model reads or writes."""
_DOUBTFUL = frozenset({kinds.EXCEPTION, kinds.NATIVE, kinds.ABORT, kinds.SERVICE, kinds.PEER, kinds.HINT})
"""Kinds that a line which calls itself mere information does not make."""
_MILD_KINDS = _DOUBTFUL - {kinds.NATIVE, kinds.ABORT}
"""Kinds that a program may go on after where a logger calls them a warning."""
_SOURCE = re.compile(r"\s*(?:[│|]\s*(?:❱\s*)?\d+ [│|] |-{2,}> ?\d+ )")
"""A line of source as Rich and IPython quote it: what it would say is not said, even where the traceback's head is missing."""
_WARNED = re.compile(r"\.py:\d+: \w*Warning: ")
"""A line of Python's `warnings`: a program that goes on."""
_FIRST_WORD = re.compile(
    r"\W{0,4}(?:[\w.-]{1,30}(?:\[\d+\])?[\]:]? )?(?i:fatal(?: error)?|error|failed|cannot|could not|unable to)"
    r"\b(?!s|(?: \w+)? ?[=:] ?[\d.]+\b)"
)
_REPORT = ExceptionMeaning(kinds.LAUNCHER, ErrorType.UNKNOWN, Component.NONE, restartable=None, confidence=0.3)


class Feed(msgspec.Struct):
    """What is remembered of one stream of one rank.

    Attributes:
        traceback: Open tracebacks.
        nan: Since when its loss is not a number.
        corrected: Corrected errors of the host's memory that it tells of.
        events: Signature of the newest line of each Xid, by device and number.
        accusing: Whether a launcher is about to name the rank that failed first.
        ended: The line that last said that the job ended well, or was about to end.
    """

    traceback: TracebackState = msgspec.field(default_factory=TracebackState)
    nan: NanWatch = msgspec.field(default_factory=NanWatch)
    corrected: CorrectedWatch = msgspec.field(default_factory=CorrectedWatch)
    events: dict[str, str] = {}
    accusing: bool = False
    ended: int = 0

    @property
    def idle(self) -> bool:
        """True where nothing need be remembered."""
        return not (
            self.traceback.open
            or self.traceback.note
            or self.nan.first
            or self.corrected.first
            or self.events
            or self.accusing
            or self.ended
        )

    def accuse(self, line: str) -> list[int]:
        """Take a line of the launcher's block; return the rank that it accuses, where this line names it."""
        if launch.header(line):
            self.accusing = True
            return []
        if not self.accusing:
            return []
        self.accusing = False
        return launch.accused(line)


class LineReader:
    """Reads chunks. Holds the template cache, nothing of any job."""

    def __init__(self, signatures: Sequence[Signature]) -> None:
        self._by_name = {one.name: one for one in signatures}
        self._matcher = Matcher(signatures, (_TRACEBACK, _EXCEPTION, launch.PATTERN))
        self._header = len(signatures)
        self._farewells = {number for number, one in enumerate(signatures) if one.kind == kinds.FAREWELL}

    @property
    def remembered(self) -> int:
        """Templates that are remembered now."""
        return self._matcher.remembered

    def read(self, view: ClassifiedChunk, name: str, feeds: dict[str, Feed], kept: list[Candidate]) -> None:
        """Put the candidates that `view` holds into `kept`, and count its progress for those of the same stream.

        `name` is the stream's key in `feeds`.
        """
        feed = feeds.get(name) or Feed()
        progress = view.classes.count(PROGRESS)
        if progress or feed.nan.first is not None:
            feed.nan.read(view)
        if progress < len(view.lines) or feed.traceback.open:
            self._made(view, name, feed, kept)
        elif progress:
            self._survive(view, name, kept, 0, len(view.lines))
        if feed.idle:
            feeds.pop(name, None)
        elif name in feeds or len(feeds) < FEEDS:
            feeds[name] = feed

    def quiet(self, lines: Sequence[str], classes: str) -> bool:
        """Return whether nothing in `lines` makes a candidate, opens a traceback or tells of a loss that is no number."""
        if ERROR in classes or mentioned("\n".join(lines)):
            return False
        others = [line for line, letter in zip(lines, classes, strict=True) if letter != PROGRESS]
        # Last words matter to what came before them alone, and some jobs say such with each checkpoint.
        return all(self._farewells.issuperset(found) for found in self._matcher.find(others))

    def _made(self, view: ClassifiedChunk, name: str, feed: Feed, kept: list[Candidate]) -> None:
        lines, classes, wanted = view.lines, view.classes, view.others
        matches = self._matcher.find([lines[i] for i in wanted], [view.templates[i] for i in wanted])
        found = {}
        if ERROR in classes or any(matches):
            found = {i: one for i, one in zip(wanted, matches, strict=True) if one or classes[i] == ERROR}
        indices: Iterable[int] = found
        if feed.traceback.open or any(one[-1] >= self._header for one in found.values() if one):
            indices = range(len(lines))
        counted = 0
        for index in indices:
            # What a line means depends on what the job has survived before it.
            self._survive(view, name, kept, counted, index)
            counted = index
            if new := self._line(view, index, found, name, feed, kept):
                add(kept, new)
        self._survive(view, name, kept, counted, len(lines))

    @staticmethod
    def _survive(view: ClassifiedChunk, name: str, kept: list[Candidate], start: int, stop: int) -> None:
        if kept and start < stop:
            reports = [view.lines[i] for i in range(start, stop) if view.classes[i] == PROGRESS]
            others = [view.lines[i] for i in range(start, stop) if view.classes[i] == OTHER]
            survive_reports(kept, name, reports, others)

    def _line(  # noqa: PLR0917  # the six are one line and where it stands
        self,
        view: ClassifiedChunk,
        index: int,
        matches: Mapping[int, tuple[int, ...]],
        name: str,
        feed: Feed,
        kept: list[Candidate],
    ) -> Candidate | None:
        """Return the candidate that piece `index` makes. One without `matches` is read only where a traceback is open."""
        state = feed.traceback
        if index not in matches and not state.open:
            return None
        found = matches.get(index, ())
        line, place = excerpt(view.lines[index], READ), view.evidence(index)
        line = spoken(line) or line
        line, found = self._without_data(line, found)
        inside, raised = False, None
        opened = list(state.open)
        if opened or (found and found[-1] >= self._header):
            inside, raised = tracebacks.feed(state, line, place, view.times[index])
        if raised is None and (inside or _SOURCE.match(line)):
            return None
        if self._header + 2 in found and (accused := _accused(line, feed, name, kept)):
            return _from(
                _REPORT, "first_observed_failure", FailureSource.SIGNATURE, place, view.times[index], name, accused
            )
        signature = self._followed(self._signature(found, line, raised, view.classes[index]), line, feed)
        if signature is not None and _harmless(signature, line, raised):
            if raised is None and _pass_over(signature, feed, kept, name, place, view.times[index]):
                return None
            signature = None
        if raised is None and signature is None:
            raised = (
                tracebacks.bare(line, place.line, telling=view.classes[index] == ERROR)
                if self._header + 1 in found
                else None
            )
        if raised is None and signature is None and (view.classes[index] != ERROR or _QUOTATION.fullmatch(line)):
            return None
        headers = [one.header for one in opened if all(one is not other for other in state.open)]
        supersede(kept, name, place, signature, raised)
        if raised is not None and not raised.name and headers:
            place = headers[0]
        candidate = _candidate(signature, raised, place, view.times[index], name)
        candidate.node, candidate.support, candidate.speaker = view.node, headers[:2], launch.speaker(line)
        candidate.uncaught = any(launch.hooked(header.text) for header in headers)
        return candidate if raised is not None else _weakened_by_level(candidate, line, feed.ended)

    def _followed(self, signature: Signature | None, line: str, feed: Feed) -> Signature | None:
        """Return `signature`, or that of the Xid which `line` says it follows from, where the stream held that one."""
        event = read_event(line) if signature is not None and signature.driver_event else None
        if signature is None or event is None:
            return signature
        xid = event[0]
        if xid.caused_by is not None:
            return self._by_name.get(feed.events.get(f"{xid.device}/{xid.caused_by}", ""), signature)
        feed.events.pop(f"{xid.device}/{xid.number}", None)
        feed.events[f"{xid.device}/{xid.number}"] = signature.name
        if len(feed.events) > EVENTS:
            del feed.events[next(iter(feed.events))]
        return signature

    def _without_data(self, line: str, found: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        """Return `line` without what it quotes as data, and the patterns that the rest matches; both as they are where it quotes none."""
        rest = _DATA.sub(" ", line) if found else line
        return (line, found) if rest == line else (rest, self._matcher.find([rest])[0])

    def _signature(self, found: Sequence[int], line: str, raised: Raised | None, letter: str) -> Signature | None:
        """Return the signature of `line`. General words count in an exception whose class says nothing, or in a line that is an error."""
        signature = self._matcher.signature(found, line, () if raised is None else kinds.NO_FAILURE)
        if signature is not None and denies(signature, line, is_error=letter == ERROR):
            signature = self._matcher.signature(found, line, kinds.NO_FAILURE)
        if signature is None or signature.kind != kinds.HINT:
            return signature
        return signature if (letter == ERROR if raised is None else raised.name in VAGUE) else None


def close(feed: Feed, name: str, kept: list[Candidate]) -> None:
    """Make candidates of what was still open when the stream ended."""
    for one in feed.traceback.open:
        add(kept, _candidate(None, tracebacks.give_up(one), one.header, one.time, name))
    if feed.nan.suspect and feed.nan.first is not None:
        verdict = ExceptionMeaning(
            kinds.EXCEPTION, ErrorType.USER_SCRIPT, Component.NONE, restartable=False, confidence=0.5
        )
        add(kept, _from(verdict, "nan_loss", FailureSource.SIGNATURE, feed.nan.first, feed.nan.time, name))
    if feed.corrected.flood and feed.corrected.first is not None:
        wear = ExceptionMeaning(kinds.HINT, ErrorType.INFRASTRUCTURE, Component.NODE, restartable=True, confidence=0.4)
        add(
            kept,
            _from(
                wear, "memory_corrected_flood", FailureSource.SIGNATURE, feed.corrected.first, feed.corrected.time, name
            ),
        )


def _pass_over(  # noqa: PLR0917  # a line, what it means, and where it stands
    signature: Signature, feed: Feed, kept: list[Candidate], name: str, place: Evidence, time: float
) -> bool:
    """Take a line that is no failure: for what it says of those before it, and for how often it came. Return whether it says no more."""
    if dismiss(signature, kept, name, place):
        feed.ended = place.line
    if signature.name == CORRECTED:
        feed.corrected.read(place, time)
    return signature.kind != kinds.GAVE_UP


def _harmless(signature: Signature, line: str, raised: Raised | None) -> bool:
    """Return whether the line says itself that it is no failure: by its words, or by its level where it raises nothing."""
    if signature.kind in kinds.NO_FAILURE:
        return True
    if raised is not None:
        return False
    return _QUOTATION.fullmatch(line) is not None or (signature.kind in _DOUBTFUL and _mild(line))


def _mild(line: str) -> bool:
    prefixed = strip_prefix(line[:160])  # without what passed the line on: that said nothing of it
    return prefixed.level in MILD or _MILDLY.search(prefixed.text) is not None


def _weakened_by_level(candidate: Candidate, line: str, ended: int) -> Candidate:
    """Return `candidate`: where a logger calls `line` a warning, one report after it shows that it did no harm.

    Right after last words, at line `ended`, it is what processes say of each other as they go.
    """
    if candidate.kind in _MILD_KINDS and strip_prefix(line[:160]).level == "WARNING":
        candidate.goes_on = LAST[kinds.HINT]
        candidate.settled = ended > 0 and candidate.newest - ended <= LAST[kinds.HINT]
    return candidate


def _accused(line: str, feed: Feed, name: str, kept: list[Candidate]) -> list[int]:
    """Take a line of a launcher's block; return the rank that it accuses. What it quoted of other ranks before counts no more."""
    if launch.header(line):
        kept[:] = [one for one in kept if one.feed != name or not launch.reported(one.support)]
    return feed.accuse(line)


def is_error(line: str) -> bool:
    """Return whether `line` is an error by its level or its first word, not just by a word somewhere in it."""
    prefixed = strip_prefix(line)
    return prefixed.level in {"ERROR", "CRITICAL", "FATAL", "SEVERE"} or _FIRST_WORD.match(prefixed.body) is not None


def _candidate(
    signature: Signature | None, raised: Raised | None, place: Evidence, time: float, name: str
) -> Candidate:
    if signature is not None:
        verdict = ExceptionMeaning(
            signature.kind, signature.error_type, signature.component, signature.restartable, signature.confidence
        )
        if signature.name == "cuda_out_of_memory" and held_by_others(place.text):
            verdict = ExceptionMeaning(
                kinds.EXCEPTION, ErrorType.INFRASTRUCTURE, Component.GPU, restartable=True, confidence=0.7
            )
        if raised is not None and signature.component is Component.NETWORK and on_file(raised):
            verdict = verdict._replace(kind=kinds.STORAGE, component=Component.STORAGE)
        if raised is not None and signature.kind == kinds.HINT:
            verdict = verdict._replace(kind=meaning(raised).kind)
        if raised is not None and raised.side and signature.kind not in kinds.CERTAIN:
            verdict = verdict._replace(kind=kinds.THREAD if raised.thread else kinds.CHILD)
        made = _from(verdict, signature.name, FailureSource.SIGNATURE, place, time, name)
        made.warned = raised is None and _WARNED.search(place.text) is not None
    elif raised is not None:
        cause = raised.name.rsplit(".", 1)[-1] or "traceback"
        made = _from(meaning(raised), cause, FailureSource.TRACEBACK, place, time, name)
    else:
        hint = ExceptionMeaning(kinds.HINT, ErrorType.UNKNOWN, Component.NONE, restartable=None, confidence=0.2)
        cause = "error_line" if is_error(place.text) else WORDS
        made = _from(hint, cause, FailureSource.SIGNATURE, place, time, name)
    if raised is not None and raised.name:
        made.message = f"{raised.name}: {raised.message}".strip(": ")[:300]
    return made


def _from(  # noqa: PLR0917
    verdict: ExceptionMeaning,
    cause: str,
    source: FailureSource,
    place: Evidence,
    time: float,
    name: str,
    accuses: Sequence[int] = (),
) -> Candidate:
    return Candidate(
        cause=cause,
        kind=verdict.kind,
        error_type=verdict.error_type,
        component=verdict.component,
        restartable=verdict.restartable,
        confidence=verdict.confidence,
        source=source,
        message=place.text.strip()[:300],
        time=time,
        node="",
        rank=place.rank,
        feed=name,
        root=place,
        newest=place.line,
        accuses=list(accuses),
    )
