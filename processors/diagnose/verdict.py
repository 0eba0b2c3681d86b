"""Candidates to `Failure` records."""

from collections.abc import Sequence

import msgspec

from schedmate_records import ErrorType, Failure, identified

from .candidates import Candidate
from .ending import Ending

EVIDENCE = 6
"""Lines that a verdict cites, the root among them."""


class PublishedVerdict(msgspec.Struct, frozen=True):
    """The verdict that was said last, as far as a change in it is worth a record."""

    cause: str
    error_type: ErrorType
    line: int
    rank: int | None
    id: str = ""

    @classmethod
    def of(cls, root: Candidate, name: str) -> "PublishedVerdict":
        """Return what a verdict with this root, under the id `name`, says."""
        return cls(root.cause, root.error_type, root.root.line if root.root else 0, root.rank, name)

    def same(self, root: Candidate) -> bool:
        """Return whether a verdict with this root says nothing new."""
        return self == PublishedVerdict.of(root, self.id)


def verdict(ranked: Sequence[Candidate], job: str, attempt: int, revision: int, ending: Ending | None) -> Failure:
    """Return the record for the root `ranked[0]`; the others support it. Final where there is an `ending`."""
    root = ranked[0]
    lines = [root.root, *root.support, *(one.root for one in ranked[1:])]
    cited = {(one.topic, one.partition, one.offset, one.line, one.rank): one for one in lines if one is not None}
    said = Failure(
        id="",
        job=job,
        attempt=attempt,
        revision=revision,
        time=root.time,
        node=root.node,
        rank=root.rank,
        root=root.root,
        message=root.message,
        error_type=root.error_type,
        faulty_component=root.component,
        restartable=root.restartable,
        confidence=root.confidence,
        source=root.source,
        signature=root.cause,
        final=ending is not None,
        exit_code=ending.exit_code if ending else None,
        signal=(ending.killed_by or None) if ending else None,
        evidence=list(cited.values())[:EVIDENCE],
    )
    return identified(said)


def retracted(job: str, time: float, attempt: int, revision: int, ending: Ending | None) -> Failure:
    """Return the record that takes the verdict back which is in force."""
    said = Failure(
        id="",
        job=job,
        attempt=attempt,
        revision=revision,
        time=time,
        message=_why_retracted(ending),
        error_type=ErrorType.NONE,
        final=ending is not None,
        exit_code=ending.exit_code if ending else None,
        signal=(ending.killed_by or None) if ending else None,
    )
    return identified(said)


def _why_retracted(ending: Ending | None) -> str:
    if ending and ending.cancelled:
        return "the attempt was cancelled"
    return "the attempt ended well" if ending and ending.well else "the job went on after it"


def informed(root: Candidate, alone: Candidate | None) -> Candidate:
    """Return `root` with what it leaves unknown filled from what the ending alone says.

    Without an ending, last words that say nothing else are taken for the program's own: that is what most failures are.
    """
    if alone is None and root.error_type is ErrorType.UNKNOWN:
        return msgspec.structs.replace(root, error_type=ErrorType.USER_SCRIPT, restartable=False, confidence=0.25)
    if alone is None or root is alone or root.error_type is not ErrorType.UNKNOWN:
        return root
    return msgspec.structs.replace(
        root,
        error_type=alone.error_type,
        component=alone.component,
        restartable=alone.restartable,
        confidence=max(root.confidence, alone.confidence),
    )
