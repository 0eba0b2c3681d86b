"""The lines that may explain a failure, and which of them is the root."""

from collections.abc import Iterable
from math import inf

import msgspec

from schedmate_records import Component, ErrorType, Evidence, FailureSource

from .kinds import SETS, Classification, Kind, is_explained

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
LAST_LINES = {Kind.HINT: 12, Kind.VAGUE: 60}
"""Maximum number of lines that may follow the last error of a stored log; the lines of a clean-up."""
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
        printed_by: Rank that printed the line, if its launcher prints the rank before it.
        own_reports: Reports of progress of its rank after it.
        other_reports: Reports of progress of other ranks after it.
        other_lines: Lines of no special class after it in its stream.
        newest_line: Line of the newest occurrence of its cause in its stream.
        reports_since: Reports of progress of its rank after the newest occurrence.
        lines_since: Lines of no special class after the newest occurrence.
        retried: True while the operation that failed is repeated.
        continues_after: Number of lines after it that show that the program continues, if the log states that; 0 if it does not.
        dismissed: True while the last lines of the job show that it did no harm.
        ends_rank: True if the hook printed it that runs as its rank's process ends.
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
    support: list[Evidence] = []
    own_reports: int = 0
    other_reports: int = 0
    other_lines: int = 0
    newest_line: int = 0
    reports_since: int = 0
    lines_since: int = 0
    retried: bool = False
    continues_after: int = 0
    dismissed: bool = False
    ends_rank: bool = False
    rows: int = 0
    row: int | None = None

    @classmethod
    def from_line(  # noqa: PLR0917  # a line and what it means
        cls, meaning: Classification, cause: str, source: FailureSource, root: Evidence, time: float, stream: str
    ) -> "Candidate":
        """Return the candidate that the line `root` makes."""
        message = root.text.strip()[:MESSAGE]
        return cls(
            cause, *meaning, source, message, time, "", root.rank, stream, root, newest_line=root.line
        )  # fmt: skip

    @property
    def order(self) -> Order:
        """Earliest first: by time, then rank, then line. An ending comes after the lines of its time."""
        if self.root is None:
            return self.time, 1 << 31, "", 0
        return self.time, self.rank or 0, self.stream, self.root.line

    @property
    def survived(self) -> bool:
        """True once its rank reported progress after it."""
        return self.own_reports >= SURVIVED

    @property
    def silently_survived(self) -> bool:
        """True if so many lines follow that it did not end a job that prints no reports."""
        return self.other_lines >= SILENT_LINES and self.kind not in SETS.certain

    @property
    def continued(self) -> bool:
        """True if the program printed that it continues, and did."""
        enough = self.lines_since >= self.continues_after and self.kind not in SETS.certain
        return self.continues_after > 0 and (self.reports_since > 0 or enough)

    def is_viable(self, readable: bool) -> bool:
        """Return False once the job survived it, or while it tries again; `readable`: the job's progress can be read."""
        probably_survived = self.other_reports >= OTHERS_SURVIVED or (self.silently_survived and not readable)
        return not (self.survived or self.retried or self.dismissed or self.continued or probably_survived)


def add_candidate(kept: list[Candidate], new: Candidate) -> None:
    """Add `new` to `kept`: one of each cause, the earliest that the job has not survived; bounded.

    Of a kind that does no harm where it is repeated, one of each stream is kept.
    """
    if new.kind not in SETS.weak:
        for one in kept:
            repeated = new.dismissed and one.cause == new.cause
            one.dismissed = one.dismissed and (repeated or one.stream != new.stream)
    for index, old in enumerate(kept):
        same = (old.cause, old.kind) == (new.cause, new.kind)
        if same and (old.stream == new.stream or new.kind not in SETS.passing):
            if not (old.survived or old.silently_survived or old.continued):
                # Repeated in vain: the first occurrence counts.
                old.newest_line, old.retried, old.continues_after = new.newest_line, False, new.continues_after
                old.reports_since = old.lines_since = 0
                if new.order >= old.order:
                    return
            kept[index] = new
            return
    kept.append(new)
    if len(kept) > MAX_CANDIDATES:
        # The root is early and strong: survived candidates go first, then repeated causes, weak kinds and the latest.
        firsts = _first_of_each_cause(kept)
        kept.remove(max(kept, key=lambda one: (not one.is_viable(False), one not in firsts, one.kind in SETS.weak, one.order)))  # fmt: skip


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
            if one.kind not in SETS.weak or one.order < shown_by[Kind(one.kind)] or (stopped and _is_last_error(one))
        ]
    if stopped:
        viable = [one for one in viable if one.kind != Kind.VAGUE or one.other_lines < LAST_LINES[Kind.VAGUE]]
    roots = [
        one
        for index, one in enumerate(viable)
        if not is_explained(one.kind, (each.kind for each in viable[:index]), (each.kind for each in viable[index + 1 :]))
    ]  # fmt: skip
    # The lines of two streams of one moment come in either order.
    firsts = [one for one in roots if not any(_explains_at_once(other, one) for other in roots)]
    root = (firsts or roots or viable)[:1]
    return root + [one for one in viable if one is not root[0]]


def _is_last_error(one: Candidate) -> bool:
    last = one.other_lines < LAST_LINES[Kind.HINT] and not one.own_reports
    return one.kind == Kind.HINT and one.cause != ERROR_WORDS and last


def _last(viable: Iterable[Candidate], kind: str) -> Order:
    return max((one.order for one in viable if one.kind == kind), default=_NEVER)


def _explains_at_once(cause: Candidate, one: Candidate) -> bool:
    """Return whether `cause`, of another stream and of about the same time, explains `one`."""
    near = cause.stream != one.stream and one.time < cause.time <= one.time + CLOCK_DIFFERENCE
    return near and is_explained(one.kind, (cause.kind,), ())


def revive(kept: Iterable[Candidate], readable: bool) -> list[Candidate]:
    """Return `kept`, where those count again that the job only probably survived: nothing else explains a bad end."""
    fresh = {"other_reports": 0, "other_lines": 0, "retried": False, "continues_after": 0, "dismissed": False}
    return [one if one.survived or one.is_viable(readable) else msgspec.structs.replace(one, **fresh) for one in kept]
