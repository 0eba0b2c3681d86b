"""What a line says of those before it: that they did no harm, or that it tells better what they told."""

import re

from schedmate_records import Evidence

from . import kinds
from .candidates import FOLLOWED, SURVIVED, Candidate, survive
from .catalogue import Signature
from .launch import speaker
from .traceback import Raised

VAGUE = frozenset(
    {"RuntimeError", "Exception", "OSError", "SystemError", "InternalError", "DistBackendError", "ImportError"}
)
"""Exceptions whose message, when it goes on over the next lines, tells more than their class."""
_TOLD_NEXT = VAGUE | {"ray_node_gone"}
"""What the next lines may tell better."""
_MESSAGE_LINES = 5
_WHAT = re.compile(r"\bwhat\(\):")
_THROWN = frozenset({"cpp_abort"})
"""Cause of a line that announces the message of a C++ exception, which comes on the next one."""
_TROUBLE = re.compile(
    r"(?i)\babort|\bkilled\b|\bbut not\b|\b(?:emergency|partial)\b"
    r"|(?<!\b0 )(?<!\b0 tests )(?<!\bno )(?<!without )\b(?:failed|failures?|errors?)\b(?! rate)"
)
"""Words that keep a line from saying that the job ended well."""
_PASSED_LINES = 3
"""Lines between what failed and the word that it is tried again, or how the program goes on."""
_DENIED = re.compile(
    r"(?i)\bnot (?:restarting|respawning|skipping|ignoring|continuing|possible|allowed)\b|\babort|\bwould\b"
    r"|\bcannot (?:continue|proceed)\b"
)
"""Words that keep a line from saying that the program goes on."""
_WENT_ON = 3
"""Lines of progress from the newest trouble to last words; with fewer, a job script may say them, whatever became of its program."""
_PROBES = frozenset({"KeyError", "AttributeError", "StopIteration", "Empty"})
"""Exceptions that programs raise on the way to an answer; one raised while they were handled tells more."""


def denies(signature: Signature, line: str, *, is_error: bool) -> bool:
    """Return whether `line` does not say what `signature` takes it for: that the program goes on, or its last words."""
    return (signature.kind == kinds.FAREWELL and is_error) or (
        signature.kind == kinds.GOES_ON and _DENIED.search(line) is not None
    )


def dismiss(signature: Signature, kept: list[Candidate], name: str, place: Evidence) -> bool:
    """Take what stream `name` printed before `place` for harmless, where that says so; return whether it says that the job ends well."""
    if signature.kind in {kinds.WELL, kinds.FAREWELL} and _TROUBLE.search(place.text):
        return False
    went_on = all(
        one.since >= _WENT_ON or one.warned or not one.alive(readable=True) for one in kept if one.feed == name
    )
    for one in kept:
        if one.feed != name:
            continue
        near = place.line - one.newest <= _PASSED_LINES
        if signature.kind == kinds.WELL and one.kind not in kinds.CERTAIN:
            survive(one, SURVIVED)
        elif signature.kind == kinds.RETRY and one.kind in kinds.PASSING and near:
            one.retried = True
        elif signature.kind == kinds.FAREWELL and went_on:
            one.settled |= one.kind not in kinds.CERTAIN
        elif signature.kind == kinds.GAVE_UP:
            one.retried, one.goes_on, one.settled = False, 0, False
        if (
            signature.kind in {kinds.GOES_ON, kinds.RETRY}
            and near
            and not one.uncaught
            and one.kind not in kinds.FOREIGN
        ):
            one.goes_on = FOLLOWED if speaker(place.text) == one.speaker else one.goes_on
    return signature.kind in {kinds.WELL, kinds.FAREWELL}


def supersede(
    kept: list[Candidate], name: str, place: Evidence, signature: Signature | None, raised: Raised | None
) -> None:
    """Forget an exception of stream `name` that the candidate to come, at `place`, explains better."""
    if raised is not None and raised.chained == "handling":
        _forget(kept, name, _PROBES, 0)
    elif raised is None and signature is not None:
        if signature.kind != kinds.HINT and _WHAT.search(place.text):
            _forget(kept, name, _THROWN, place.line - _MESSAGE_LINES)
        if signature.kind in kinds.CERTAIN | {kinds.EXCEPTION}:
            _forget(kept, name, _TOLD_NEXT, place.line - _MESSAGE_LINES)


def _forget(kept: list[Candidate], name: str, causes: frozenset[str], first: int) -> None:
    """Forget the first exception among `causes` at line `first` or later."""
    for one in kept:
        known = one.root is not None and one.root.line >= first
        if known and one.feed == name and one.cause in causes:
            kept.remove(one)
            return
