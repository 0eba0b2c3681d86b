"""The lines that may explain a failure, and which of them is the root."""

from collections.abc import Iterable
from math import inf

import msgspec

from schedmate_records import Component, ErrorType, Evidence, FailureSource

from .kinds import SETS, Classification, Kind, LaterEvidence, Status, is_explained, next_status

MAX_CANDIDATES = 10
"""Maximum number of candidates of an attempt: the earliest of each cause."""
MESSAGE = 300
"""Maximum length of a message, in characters."""
SURVIVED = 5
"""Reports of its rank after a candidate that show that it did not end the job."""
OTHERS_SURVIVED = 50
"""The same for reports of other ranks. Ranks wait for each other, so that one that died lets the others print fewer."""
SILENT_LINES = 500
"""The same for lines without a report, in a log whose progress cannot be read."""
NEAR_LINES = 3
"""Maximum number of lines between an error and the line that states what follows it."""
LAST_LINES = {Kind.HINT: 12, Kind.VAGUE: 60}
"""Maximum number of lines that may follow the last error of a stored log; the lines of a clean-up."""
_LIMITS = (
    (LaterEvidence.REPORT, "reports_since", 1),
    (LaterEvidence.LINES, "lines_since", NEAR_LINES),
    (LaterEvidence.MORE_LINES, "lines_since", LAST_LINES[Kind.HINT]),
    (LaterEvidence.QUIET_LINES, "other_lines", SILENT_LINES),
    (LaterEvidence.OTHER_REPORTS, "other_reports", OTHERS_SURVIVED),
    (LaterEvidence.REPORTS, "own_reports", SURVIVED),
)
"""Which counter of a candidate shows which evidence, and from which value."""
ERROR_WORDS = "error_words"
"""Cause of a line that is an error only by a word somewhere in it."""
CLOCK_DIFFERENCE = 1.0
"""Maximum difference between the clocks of ranks, in seconds."""

Order = tuple[float, int, str, int]
_NEVER: Order = (-inf, 0, "", 0)


class Candidate(msgspec.Struct):
    """A line, or an ending without one, that may explain the failure. Most fields as in `Failure`.

    Attributes:
        stream: Key of the stream that printed the line: its rank and name.
        status: What the lines after it show.
        printed_by: Rank that printed the line, if its launcher prints the rank before it.
        ends_rank: True if the hook printed it that runs as its rank's process ends.
        own_reports: Reports of progress of its rank after it.
        other_reports: Reports of progress of other ranks after it.
        other_lines: Lines of no special class after it in its stream.
        newest_line: Line of the newest occurrence of its cause in its stream.
        reports_since: Reports of progress of its rank after the newest occurrence.
        lines_since: Lines of no special class after the newest occurrence.
        rows: Number of rows of a growing table of numbers after it.
        row: First number of the newest row; None where there is none.
    """

    cause: str
    kind: str
    error_type: ErrorType
    component: Component
    restartable: bool | None
    confidence: float
    source: FailureSource
    message: str
    time: float
    node: str
    rank: int | None
    stream: str
    root: Evidence | None
    printed_by: int | None = None
    ends_rank: bool = False
    support: list[Evidence] = []
    status: Status = Status.OPEN
    own_reports: int = 0
    other_reports: int = 0
    other_lines: int = 0
    newest_line: int = 0
    reports_since: int = 0
    lines_since: int = 0
    rows: int = 0
    row: int | None = None

    @classmethod
    def from_line(  # noqa: PLR0917  # a line and what it means
        cls, meaning: Classification, cause: str, source: FailureSource, root: Evidence, time: float, stream: str
    ) -> "Candidate":
        """Return the candidate that the line `root` makes."""
        message = root.text.strip()[:MESSAGE]
        return cls(cause, *meaning, source, message, time, "", root.rank, stream, root, newest_line=root.line)

    @property
    def order(self) -> Order:
        """Earliest first: by time, then rank, then line. An ending comes after the lines of its time."""
        if self.root is None:
            return self.time, 1 << 31, "", 0
        return self.time, self.rank or 0, self.stream, self.root.line

    def is_viable(self, readable: bool) -> bool:
        """Return False once later lines show that it did no harm; `readable`: the job's progress can be read."""
        open_states = {Status.OPEN, Status.WARNED, Status.CONTINUES}
        return self.status in open_states or (self.status is Status.QUIET and readable)

    def advance(self, evidence: LaterEvidence) -> None:
        """Change the status by `evidence`, and by what was counted already."""
        self.status = next_status(self.status, evidence, self.kind)
        self.count()

    def count(self, reports: int = 0, lines: int = 0, other_reports: int = 0) -> None:
        """Count reports of its rank, lines of no special class and reports of other ranks after it."""
        self.own_reports = min(self.own_reports + reports, SURVIVED)
        self.reports_since = min(self.reports_since + reports, SURVIVED)
        self.other_lines = min(self.other_lines + lines, SILENT_LINES)
        self.lines_since = min(self.lines_since + lines, LAST_LINES[Kind.HINT])
        self.other_reports = min(self.other_reports + other_reports, OTHERS_SURVIVED)
        if self.status is Status.SURVIVED:
            return
        for evidence, count, limit in _LIMITS:
            if getattr(self, count) >= limit:
                self.status = next_status(self.status, evidence, self.kind)

    def repeat(self, new: "Candidate") -> None:
        """Take the newer occurrence `new` of the same error into account: it was repeated in vain."""
        self.newest_line, self.reports_since, self.lines_since = new.newest_line, 0, 0
        self.advance(LaterEvidence.REPEATED)
        if self.status is Status.OPEN and new.status is Status.WARNED:
            self.status = Status.WARNED


def add_candidate(kept: list[Candidate], new: Candidate) -> None:
    """Add `new` to `kept`: one of each cause, the earliest that the job has not survived; bounded.

    Of a kind that does no harm where it is repeated, one of each stream is kept.
    """
    if new.kind not in SETS["weak"]:
        for one in kept:
            if one.stream == new.stream and (one.cause != new.cause or new.status is not Status.DISMISSED):
                one.advance(LaterEvidence.NEXT_ERROR)
    for index, old in enumerate(kept):
        same = (old.cause, old.kind) == (new.cause, new.kind)
        if same and (old.stream == new.stream or new.kind not in SETS["passing"]):
            if old.status not in {Status.SURVIVED, Status.CONTINUED, Status.QUIET}:
                old.repeat(new)
                if new.order >= old.order:
                    return
            kept[index] = new
            return
    kept.append(new)
    if len(kept) > MAX_CANDIDATES:
        # The root is early and strong: survived candidates go first, then repeated causes, weak kinds and the latest.
        firsts = _first_of_each_cause(kept)
        kept.remove(
            max(
                kept,
                key=lambda one: (not one.is_viable(False), one not in firsts, one.kind in SETS["weak"], one.order),
            )
        )


def _first_of_each_cause(candidates: Iterable[Candidate]) -> list[Candidate]:
    firsts: dict[tuple[str, str], Candidate] = {}
    for one in sorted(candidates, key=lambda each: each.order):
        firsts.setdefault((one.cause, one.kind), one)
    return list(firsts.values())


def rank_candidates(
    kept: Iterable[Candidate], *, readable: bool, ended_badly: bool, stopped: bool = False
) -> list[Candidate]:
    """Return the root, then the other candidates in order; nothing where no candidate makes a verdict.

    Kinds decide first (a candidate that another one explains is no root), then time.

    Args:
        kept: All candidates.
        readable: The job's progress can be read.
        ended_badly: The attempt is known to have ended badly. Weak kinds count only then.
        stopped: The end of a stored log is read: last lines count that call themselves an error.
    """
    viable = _first_of_each_cause(one for one in kept if one.is_viable(readable))
    if not ended_badly:
        # A helper's error counts where something waited for the helper in vain, or where a launcher reports a failure later.
        shown_by = {Kind.CHILD: _last(viable, Kind.STARVED), Kind.HINT: _last(viable, Kind.EXIT)}
        shown_by[Kind.THREAD] = max(_last(viable, kind) for kind in (Kind.STARVED, Kind.LAUNCHER, Kind.EXIT))
        viable = [
            one
            for one in viable
            if one.kind not in SETS["weak"] or one.order < shown_by[Kind(one.kind)] or (stopped and _is_last_error(one))
        ]
    if stopped:
        viable = [one for one in viable if one.kind != Kind.VAGUE or one.other_lines < LAST_LINES[Kind.VAGUE]]
    roots = [
        one
        for index, one in enumerate(viable)
        if not is_explained(one.kind, (each.kind for each in viable[:index]), (each.kind for each in viable[index + 1 :]))
    ]  # fmt: skip
    root = (roots or viable)[:1]
    return root + [one for one in viable if one is not root[0]]


def _is_last_error(one: Candidate) -> bool:
    last = one.other_lines < LAST_LINES[Kind.HINT] and not one.own_reports
    return one.kind == Kind.HINT and one.cause != ERROR_WORDS and last


def _last(viable: Iterable[Candidate], kind: str) -> Order:
    return max((one.order for one in viable if one.kind == kind), default=_NEVER)


def revive(kept: Iterable[Candidate]) -> list[Candidate]:
    """Return `kept`, where those count again that the job only probably survived: nothing else explains a bad end."""
    return [
        msgspec.structs.replace(one, status=next_status(one.status, LaterEvidence.BAD_END, one.kind)) for one in kept
    ]
