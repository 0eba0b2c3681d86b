"""Evidence in later lines: the job survived a candidate, it did no harm, or another line explains it better."""

import re
from collections.abc import Iterable, Sequence

from schedmate_records import Evidence, FailureSource

from ..classified_chunk import PROGRESS, ClassifiedChunk
from ..grammar.prefix import strip_prefix
from .candidates import CLOCK_DIFFERENCE, NEAR_LINES, Candidate
from .catalogue import Signature
from .kinds import SETS, Kind, LaterEvidence, Status
from .traceback import Raised

_TABLE_ROWS = 3
"""Rows of a table, each with a larger first number, that show that a loop runs."""
_MESSAGE_LINES = 5
"""Maximum number of lines between an exception and the line of its message that explains more."""
GENERAL_EXCEPTIONS = frozenset(
    {"RuntimeError", "Exception", "OSError", "SystemError", "InternalError", "DistBackendError", "ImportError"}
)
"""Exceptions whose message explains more than their class."""
_STATEMENTS: dict[str, LaterEvidence] = {
    Kind.WELL: LaterEvidence.ENDED_WELL,
    Kind.FAREWELL: LaterEvidence.LAST_LINES,
    Kind.GAVE_UP: LaterEvidence.GAVE_UP,
    Kind.START: LaterEvidence.START,
}
_PATTERNS = {
    "rank": re.compile(r"^(?:\[(?:rank|default)?(\d+)\]|(\d+):|\[\d+,(\d+)\])"),
    "torn_down": re.compile(
        r"\bfailed \(exitcode: -?\d+\) local_rank: |\bworker group failed\b|\brestarting worker group\b"
    ),
    "trouble": re.compile(
        r"(?i)\babort|\bkilled\b|\bbut not\b|\b(?:emergency|partial)\b"
        r"|(?<!\b0 )(?<!\b0 tests )(?<!\bno )(?<!without )\b(?:failed|failures?|errors?)\b(?! rate)"
    ),
    "refusal": re.compile(r"(?i)\bnot (?:restarting|respawning|skipping|ignoring|continuing|possible|allowed)\b|\babort"),
    "table_row": re.compile(r"^\s*(\d{1,15})(?:[ \t]+\d+(?:\.\d+)?)+\s*"),
}  # fmt: skip
"""The rank before a line; a launcher that ends all ranks; words that deny a good end, and that a program continues; a row of numbers."""


def printing_rank(line: str) -> int | None:
    """Return the rank that printed `line` if its launcher prints the rank before it."""
    found = _PATTERNS["rank"].match(strip_prefix(line).tag)
    return int(next(group for group in found.groups() if group)) if found else None


def count_stream_lines(kept: list[Candidate], stream: str, reports: Sequence[str], others: Sequence[str]) -> None:
    """Count the lines of progress `reports` and `others` of no special class after the candidates of `stream`."""
    for one in kept:
        if one.stream != stream:
            continue
        own = reports if one.printed_by is None else [line for line in reports if _is_own(one, line)]
        one.count(len(own), len(others), len(reports) - len(own))
        if one.status is not Status.SURVIVED and _is_table(one, [*own, *others]):
            one.status = Status.CONTINUED if one.is_viable(readable=True) else one.status
        if one.status is Status.SURVIVED and one.root and _PATTERNS["torn_down"].search(one.root.text):
            for earlier in kept:  # all ranks run again
                if earlier.stream == one.stream and earlier.order < one.order:
                    earlier.advance(LaterEvidence.REPORTS)


def _is_own(one: Candidate, report: str) -> bool:
    """Return whether the rank of `one` printed `report`. If only the hook at exit prints ranks, other lines have none."""
    rank = printing_rank(report)
    return rank == one.printed_by or (rank is None and not one.ends_rank)


def _is_table(one: Candidate, lines: Iterable[str]) -> bool:
    """Return whether `lines` and those before are rows of a table that grows: sizes, or steps, and what was measured."""
    for line in lines:
        if found := _PATTERNS["table_row"].fullmatch(line):
            first = int(found[1])
            one.rows = one.rows + 1 if one.row is not None and first > one.row else 1
            one.row = first
    return one.rows >= _TABLE_ROWS


def count_progress_elsewhere(view: ClassifiedChunk, stream: str, kept: Iterable[Candidate]) -> None:
    """Count the progress in `view`, of `stream`, after the candidates of other streams, by time."""
    for one in kept:
        if one.stream == stream or view.times[-1] <= one.time + CLOCK_DIFFERENCE:
            continue
        pairs = zip(view.classes, view.times, strict=True)
        progress = sum(letter == PROGRESS and time > one.time + CLOCK_DIFFERENCE for letter, time in pairs)
        one.count(progress) if view.rank == one.rank else one.count(other_reports=progress)


def is_denied(signature: Signature, line: str, *, is_error: bool) -> bool:
    """Return whether `line` contradicts `signature`: the program does not continue, or an error is no last line of a good run."""
    if signature.kind == Kind.GOES_ON:
        return _PATTERNS["refusal"].search(line) is not None
    return signature.kind == Kind.FAREWELL and is_error


def weigh_statement(signature: Signature, kept: list[Candidate], stream: str, place: Evidence) -> bool:
    """Change earlier candidates of `stream` by what the line at `place` states of the job; return whether the job ends well."""
    ends_well = signature.kind in {Kind.WELL, Kind.FAREWELL}
    if ends_well and _PATTERNS["trouble"].search(place.text):
        return False
    own = [one for one in kept if one.stream == stream]
    # A job script prints last lines whatever became of its program: they count only after new progress.
    if signature.kind == Kind.FAREWELL and any(
        one.reports_since < NEAR_LINES and one.is_viable(readable=True) for one in own
    ):
        return True
    for one in own:
        if signature.kind in {Kind.GOES_ON, Kind.RETRY}:
            same_rank = printing_rank(place.text) == one.printed_by and not one.ends_rank
            if place.line - one.newest_line > NEAR_LINES:
                continue
            if signature.kind == Kind.RETRY:
                one.advance(LaterEvidence.RETRY)
            if same_rank:
                one.advance(LaterEvidence.GOES_ON)
        elif signature.kind in _STATEMENTS:
            one.advance(_STATEMENTS[signature.kind])
    return ends_well


def forget_explained(
    kept: list[Candidate], stream: str, place: Evidence, signature: Signature | None, raised: Raised | None
) -> None:
    """Forget a general error of `stream` right before `place`, if the message there explains it."""
    if raised is not None or signature is None or signature.kind == Kind.HINT:
        return
    causes = {"cpp_abort"} - {signature.name}
    specific = signature.kind in SETS["certain"] | {Kind.EXCEPTION}
    if specific:
        causes |= GENERAL_EXCEPTIONS | {"ray_node_gone", "other_language"}
    for one in kept:
        near = one.root is not None and place.line - one.root.line <= _MESSAGE_LINES
        without_message = one.source is FailureSource.TRACEBACK and one.message.endswith(one.cause)
        if near and one.stream == stream and (one.cause in causes or (specific and without_message)):
            kept.remove(one)
            return
