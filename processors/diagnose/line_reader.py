"""Reads the lines of a chunk for candidates: signatures, tracebacks, exceptions without one, lines that call themselves an error."""

import re
from collections.abc import Mapping, Sequence

import msgspec

from schedmate_records import Component, ErrorType, Evidence, FailureSource

from ..classified_chunk import ERROR, OTHER, PROGRESS, ClassifiedChunk
from ..grammar.prefix import strip_prefix
from ..track.not_finite import begins_at
from .candidates import ERROR_WORDS, LAST_LINES, MESSAGE, Candidate, add_candidate
from .catalogue import Signature
from .drivers import read_event
from .exceptions import classify_exception, is_file_error
from .json_lines import json_message, shorten
from .kinds import SETS, Classification, Kind, Status
from .matcher import MAX_CHARACTERS, MILD, Matcher
from .memory import held_by_others
from .survival import (
    GENERAL_EXCEPTIONS,
    count_stream_lines,
    forget_explained,
    is_denied,
    printing_rank,
    weigh_statement,
)
from .traceback import Raised, TracebackState, read_exception, read_line

STREAMS = 64
"""Maximum number of streams of one job whose state is kept. Further streams are read without memory of open tracebacks."""
_EVENTS = 16
"""Maximum number of Xids of one stream that are kept for those that name the Xid they follow from."""
_NAN_REPORTS = 50
"""Reports of a loss that is no number, after which it is no reason for the end: the program ran on with it."""
_LISTED = 20
"""Maximum number of lines of a list or table of known errors."""
_LEVEL_CHARACTERS = 160
"""Characters of a line in which its level is searched."""
_HEADER = (
    r"Traceback \(most recent call last\)|During handling of the above exception|The above exception was the direct cause"
    r"|Exception in thread|Exception ignored in|Error in atexit|--- Logging error ---|Exception in callback"
    r"|Exception in ASGI application|Exception on \S+ \["
)
_EXCEPTION = (
    r"(?:^|[\s:\]|)>\t])[A-Za-z_][\w.]*(?:Error|Exception|NotFound)[\w]*(?: \(see above for traceback\))?(?::\s|\s*$)"
    r"|(?:^|\]: ?)Exception: \S"
)
"""RE2, for a template: lines that belong to the head of a traceback; lines that may name an exception."""
_PATTERNS = {
    "mild": re.compile(r"(?:^|[\s\[|:])(?:INFO|DEBUG|TRACE|NOTICE)\b|(?:^|: )I \S+\.(?:cc|cpp|cu|h):\d+\]|^\[?I\d{4} "),
    "quotation": re.compile(
        r"""^(?!.{0,40}(?i:err|message|msg|reason|exception|detail|std|fail|log|status|cause))[\w ./\[\]-]{1,40}[:=]\s*(["'`]).*\1\s*"""
    ),
    "data": re.compile(
        r"""["']?\b(?:input|prompt|context|question|answer|reference|target|prediction|completion|hypothesis|sentence|text|sample|help|description|example)\b"""
        r"""(?:\[\d+\])?["']?[ =:]{1,3}(["'])(?:(?!\1)[^\\]|\\.){0,1500}\1"""
    ),
    "quoted": re.compile(r"""(?<=[^\s:=(\[,{\\])\s+["`]([^"`\\]{6,300})["`]"""),
    "python_warning": re.compile(r"\.py:\d+: \w*Warning: "),
    "assertion": re.compile(r"\bAssertionError: "),
    "prose": re.compile(
        r"(?i)\b(?:may|might|can|could) (?:occur|happen|appear|show up)\b"
        r"|\bif (?:you|the \w+) (?:see|sees|get|gets|encounter|encounters|report|reports|log|logs|print|prints)\b"
    ),
    "item": re.compile(r"^\s*(?:[-*\u2022]|\d{1,2}[.)])\s|^\s*\|(?:[^|]*\|){3}"),
    "quoted_source": re.compile(r"^\s*(?:[│|]\s*(?:❱\s*)?\d+ [│|] |-{2,}> ?\d+ )"),
    "nan": re.compile(
        r"(?i)\b\w*loss\w*\W{1,6}(?:[a-z]*\W{1,3})?(?:(?:an?|has|be[ac]ome|turned|went|to|inf|infinite|or|value)\W{1,3}){0,4}nan\b"
    ),
    "first_word": re.compile(
        r"^\W{0,4}(?:[\w.-]{1,30}(?:\[\d+\])?[\]:]? )?(?i:fatal(?: error)?|error|failed|cannot|could not|unable to)"
        r"\b(?!s|(?: \w+)? ?[=:] ?[\d.]+\b)"
    ),
}
"""A mild level; a line of one name and one quoted text, and quoted text that its name calls data (of a model); a line of source as Rich and
IPython quote it; an error by its first word."""
_SCRIPT_COMMANDS = frozenset({"shell_command_failed", "pip_failed", "conda_activate"})
"""Causes that are commands of a job script, which goes on after them by default."""
_FOREIGN_MEMORY = Classification(Kind.EXCEPTION, ErrorType.INFRASTRUCTURE, Component.GPU, True, 0.7)
_NAN_LOSS = Classification(Kind.EXCEPTION, ErrorType.USER_SCRIPT, Component.NONE, False, 0.5)
_HINT = Classification(Kind.HINT, ErrorType.UNKNOWN, Component.NONE, None, 0.2)


class NanLoss(msgspec.Struct):
    """Since when the training loss of one stream is no number.

    Attributes:
        first: The first such report; null while the loss is a number.
        time: Its arrival, in seconds since 1970.
        reports: Number of such reports.
        is_last: True if the last line of the stream is one of them.
    """

    first: Evidence | None = None
    time: float = 0.0
    reports: int = 0
    is_last: bool = False

    def read(self, view: ClassifiedChunk) -> None:
        """Read the progress lines of `view`; the newest line alone if the newest loss is a number."""
        if self.first is None and begins_at(view) is None:
            return
        for index, letter in enumerate(view.classes):
            line = view.lines[index][:MAX_CHARACTERS] if letter == PROGRESS else ""
            if line and _PATTERNS["nan"].search(line):
                if self.first is None:
                    self.first, self.time, self.reports = view.evidence(index), view.times[index], 0
                self.reports += 1
            elif self.first is not None and "loss" in line.lower():
                self.first = None
        last = next((line for line in reversed(view.lines) if line.strip()), None)
        self.is_last = self.is_last if last is None else bool(_PATTERNS["nan"].search(last[:MAX_CHARACTERS]))


def mentions_nan(text: str) -> bool:
    """Return whether `text` can hold a loss that is no number."""
    return any(word in text for word in ("nan", "NaN", "NAN"))


class StreamDiagnosisState(msgspec.Struct):
    """State of one stream of one rank.

    Attributes:
        traceback: Open tracebacks.
        nan: Since when its loss is no number.
        events: Signature of the newest line of each Xid, by device and number.
        ended: The newest line that states that the job ended well, or is about to end; 0 for none.
        listed: The newest heading of a list or table of known errors; 0 for none.
    """

    traceback: TracebackState = msgspec.field(default_factory=TracebackState)
    nan: NanLoss = msgspec.field(default_factory=NanLoss)
    events: dict[str, str] = {}
    ended: int = 0
    listed: int = 0

    @property
    def idle(self) -> bool:
        """True where nothing need be remembered."""
        opened = self.traceback.open or self.traceback.remark
        return not (opened or self.nan.first or self.events or self.ended or self.listed)


class LineReader:
    """Reads chunks. Holds the cache of templates, no state of a job."""

    def __init__(self, signatures: Sequence[Signature]) -> None:
        self._by_name = {one.name: one for one in signatures}
        self._matcher = Matcher(signatures, (_HEADER, _EXCEPTION))
        self._header = len(signatures)
        self._farewells = {number for number, one in enumerate(signatures) if one.kind == Kind.FAREWELL}

    @property
    def remembered(self) -> int:
        """Templates that are remembered now."""
        return self._matcher.remembered

    def read(
        self, view: ClassifiedChunk, name: str, streams: dict[str, StreamDiagnosisState], kept: list[Candidate]
    ) -> None:
        """Add the candidates in `view` to `kept`, and count its progress for those of the same stream; `name` is its key."""
        state = streams.get(name) or StreamDiagnosisState()
        progress = view.classes.count(PROGRESS)
        if progress or state.nan.first is not None:
            state.nan.read(view)
        if progress < len(view.lines) or state.traceback.open:
            self._add_candidates(view, name, state, kept)
        elif progress:
            _count(view, name, kept, 0, len(view.lines))
        if state.idle:
            streams.pop(name, None)
        elif name in streams or len(streams) < STREAMS:
            streams[name] = state

    def is_quiet(self, lines: Sequence[str], classes: str) -> bool:
        """Return whether nothing in `lines` makes a candidate, opens a traceback or reports a loss that is no number."""
        if ERROR in classes or mentions_nan("\n".join(lines)):
            return False
        others = [line for line, letter in zip(lines, classes, strict=True) if letter != PROGRESS]
        # Last lines affect only earlier candidates, and some jobs print such with each checkpoint.
        return all(self._farewells.issuperset(found) for found in self._matcher.find(others))

    def _add_candidates(
        self, view: ClassifiedChunk, name: str, state: StreamDiagnosisState, kept: list[Candidate]
    ) -> None:
        lines, classes, others = view.lines, view.classes, view.without_progress
        matches = self._matcher.find([lines[i] for i in others], [view.templates[i] for i in others])
        found = {}
        if ERROR in classes or any(matches):
            found = {i: one for i, one in zip(others, matches, strict=True) if one or classes[i] == ERROR}
        indices: Sequence[int] = list(found)
        if state.traceback.open or any(one[-1] >= self._header for one in found.values() if one):
            indices = range(len(lines))
        counted = 0
        for index in indices:
            # What a line means depends on what the job has survived before it.
            _count(view, name, kept, counted, index)
            counted = index
            if new := self._candidate(view, index, found, name, state, kept):
                add_candidate(kept, new)
        _count(view, name, kept, counted, len(lines))

    def _candidate(  # noqa: PLR0917  # one line and its surroundings
        self,
        view: ClassifiedChunk,
        index: int,
        matches: Mapping[int, tuple[int, ...]],
        name: str,
        state: StreamDiagnosisState,
        kept: list[Candidate],
    ) -> Candidate | None:
        """Return the candidate that piece `index` makes. A piece without `matches` is read only while a traceback is open."""
        if index not in matches and not state.traceback.open:
            return None
        found, place, time = matches.get(index, ()), view.evidence(index), view.times[index]
        line = shorten(view.lines[index], MAX_CHARACTERS)
        line, found = self._without_data(json_message(line) or line, found)
        inside, raised, opened = False, None, list(state.traceback.open)
        if opened or (found and found[-1] >= self._header):
            inside, raised = read_line(state.traceback, line, place, time)
        if raised is None and (inside or _is_quoted(line, place.line, state.listed)):
            return None
        is_error = view.classes[index] == ERROR
        if (
            raised is None
            and 0 < place.line - state.listed <= _LISTED
            and state.listed
            and _PATTERNS["item"].match(line)
        ):
            return None
        signature = self._cause(self._signature(found, line, raised, is_error), line, state)
        if signature is not None and _is_harmless(signature, line, raised):
            if raised is None:
                state.listed = place.line if signature.name == "known_errors" else state.listed
                state.ended = place.line if weigh_statement(signature, kept, name, place) else state.ended
                if signature.kind != Kind.GAVE_UP:
                    return None
            signature = None
        if raised is None and signature is None and self._header + 1 in found:
            raised = read_exception(line, anywhere=is_error)
        if raised is None and signature is None and (not is_error or _PATTERNS["quotation"].fullmatch(line)):
            return None
        headers = [one.header for one in opened if all(one is not other for other in state.traceback.open)]
        forget_explained(kept, name, place, signature, raised)
        root = headers[0] if raised is not None and not raised.name and headers else place
        candidate = _make_candidate(signature, raised, root, time, name)
        candidate.node, candidate.support, candidate.printed_by = view.node, headers[:2], printing_rank(line)
        # PyTorch's hook at exit is the only one that prints a rank before a traceback's header.
        candidate.ends_rank = any(re.match(r"\[rank\d+\]: ?Traceback ", header.text) for header in headers)
        return _weakened(candidate, state.ended, warns=raised is None and _level(line) == "WARNING")

    def _cause(self, signature: Signature | None, line: str, state: StreamDiagnosisState) -> Signature | None:
        """Return `signature`, or that of the Xid which `line` names as its cause, if the stream held that one."""
        event = read_event(line) if signature is not None and signature.driver_event else None
        if signature is None or event is None:
            return signature
        xid = event[0]
        if xid.caused_by is not None:
            return self._by_name.get(state.events.get(f"{xid.device}/{xid.caused_by}", ""), signature)
        state.events.pop(f"{xid.device}/{xid.number}", None)
        state.events[f"{xid.device}/{xid.number}"] = signature.name
        if len(state.events) > _EVENTS:
            del state.events[next(iter(state.events))]
        return signature

    def _without_data(self, line: str, found: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        """Return `line` without what it quotes as data or between words, and the patterns that match the rest."""
        if not found:
            return line, found
        rest = _PATTERNS["data"].sub(" ", line)
        rest = _PATTERNS["quoted"].sub(lambda quote: " " if any(self._matcher.find([quote[1]])) else quote[0], rest)
        return (line, found) if rest == line else (rest, self._matcher.find([rest])[0])

    def _signature(self, found: Sequence[int], line: str, raised: Raised | None, is_error: bool) -> Signature | None:
        """Return the signature of `line`. A hint needs an exception of a general class, or a line that is an error."""
        signature = self._matcher.signature(found, line, () if raised is None else SETS["no_failure"])
        if signature is not None and is_denied(signature, line, is_error=is_error):
            signature = self._matcher.signature(found, line, SETS["no_failure"])
        if signature is None:
            return None
        if signature.error_type is ErrorType.INFRASTRUCTURE and _PATTERNS["assertion"].search(line):
            return None  # its message is what a program compared
        if signature.kind != Kind.HINT:
            return signature
        return signature if (is_error if raised is None else raised.name in GENERAL_EXCEPTIONS) else None


def close_stream(state: StreamDiagnosisState, name: str, kept: list[Candidate]) -> None:
    """Add the candidates that are still open when the stream ends."""
    for one in state.traceback.open:
        add_candidate(kept, _make_candidate(None, one.cut_off(), one.header, one.time, name))
    first = state.nan.first
    if first is not None and state.nan.is_last and state.nan.reports <= _NAN_REPORTS:
        new = Candidate.from_line(_NAN_LOSS, "nan_loss", FailureSource.SIGNATURE, first, state.nan.time, name)
        add_candidate(kept, new)


def _count(view: ClassifiedChunk, name: str, kept: list[Candidate], start: int, stop: int) -> None:
    if kept and start < stop:
        reports = [view.lines[i] for i in range(start, stop) if view.classes[i] == PROGRESS]
        others = [view.lines[i] for i in range(start, stop) if view.classes[i] == OTHER]
        count_stream_lines(kept, name, reports, others)


def _is_quoted(line: str, number: int, heading: int) -> bool:
    """Return whether a line quotes source, or is an item of the list of known errors whose heading is line `heading`."""
    listed = 0 < heading < number <= heading + _LISTED and _PATTERNS["item"].match(line)
    return bool(listed or _PATTERNS["quoted_source"].match(line))


def _is_harmless(signature: Signature, line: str, raised: Raised | None) -> bool:
    """Return whether the line itself shows that it is no failure: by its words, or by its level if it raises nothing."""
    if signature.kind in SETS["no_failure"] or raised is not None:
        return signature.kind in SETS["no_failure"]
    if signature.error_type is ErrorType.INFRASTRUCTURE and _PATTERNS["prose"].search(line):
        return True
    return _PATTERNS["quotation"].fullmatch(line) is not None or (signature.kind in SETS["deniable"] and _is_mild(line))


def _is_mild(line: str) -> bool:
    prefixed = strip_prefix(line[:_LEVEL_CHARACTERS])  # what passed the line on prints levels of its own
    return prefixed.level in MILD or _PATTERNS["mild"].search(prefixed.text) is not None


def _weakened(candidate: Candidate, ended: int, *, warns: bool) -> Candidate:
    """Return `candidate`: after a warning or a failed command of a job script, one report shows that it did no harm.

    Right after the last lines of a job, at line `ended`, processes report such errors and lost peers as they end.
    """
    at_end = 0 < ended < candidate.newest_line <= ended + LAST_LINES[Kind.HINT]
    if candidate.cause in _SCRIPT_COMMANDS or (warns and candidate.kind in SETS["survivable"]):
        candidate.status = Status.DISMISSED if at_end else Status.WARNED
    elif at_end and candidate.kind in {Kind.PEER, Kind.CHILD}:
        candidate.status = Status.DISMISSED
    return candidate


def _level(line: str) -> str:
    return strip_prefix(line[:_LEVEL_CHARACTERS]).level


def is_stated_error(line: str) -> bool:
    """Return whether `line` is an error by its level or its first word, not just by a word somewhere in it."""
    prefixed = strip_prefix(line)
    failing = prefixed.level in {"ERROR", "CRITICAL", "FATAL", "SEVERE"}
    return failing or _PATTERNS["first_word"].match(prefixed.body) is not None


def _make_candidate(
    signature: Signature | None, raised: Raised | None, place: Evidence, time: float, name: str
) -> Candidate:
    if signature is not None:
        meaning, cause, source = _by_signature(signature, raised, place), signature.name, FailureSource.SIGNATURE
    elif raised is not None:
        meaning, source = classify_exception(raised), FailureSource.TRACEBACK
        cause = raised.name.rsplit(".", 1)[-1] or "traceback"
    else:
        meaning, source = _HINT, FailureSource.SIGNATURE
        cause = "error_line" if is_stated_error(place.text) else ERROR_WORDS
    made = Candidate.from_line(meaning, cause, source, place, time, name)
    if raised is not None and raised.name:
        made.message = f"{raised.name}: {raised.message}".strip(": ")[:MESSAGE]
    return made


def _by_signature(signature: Signature, raised: Raised | None, place: Evidence) -> Classification:
    meaning = Classification(
        signature.kind, signature.error_type, signature.component, signature.restartable, signature.confidence
    )
    if signature.name == "cuda_out_of_memory" and held_by_others(place.text):
        return _FOREIGN_MEMORY
    if raised is None:  # a program that warns goes on, and may fail later for that reason
        return meaning._replace(kind=Kind.CHILD) if _PATTERNS["python_warning"].search(place.text) else meaning
    if signature.component is Component.NETWORK and is_file_error(raised):
        meaning = meaning._replace(kind=Kind.STORAGE, component=Component.STORAGE)
    if raised.is_side and signature.kind not in SETS["certain"]:
        return meaning._replace(kind=Kind.THREAD if raised.place.remark == "thread" else Kind.CHILD)
    return meaning._replace(kind=classify_exception(raised).kind) if signature.kind == Kind.HINT else meaning
