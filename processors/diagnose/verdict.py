"""Turns candidates into `Failure` records."""

from collections.abc import Sequence

import msgspec

from schedmate_records import ErrorType, Failure, identified

from .candidates import Candidate
from .ending import Ending

EVIDENCE = 6
"""Maximum number of lines that a verdict cites, the root among them."""


class PublishedVerdict(msgspec.Struct, frozen=True):
    """The newest verdict, as far as a change in it makes a new record."""

    cause: str
    error_type: ErrorType
    line: int
    rank: int | None
    id: str = ""

    @classmethod
    def from_root(cls, root: Candidate, name: str) -> "PublishedVerdict":
        """Return what a verdict with this root, under the id `name`, states."""
        return cls(root.cause, root.error_type, root.root.line if root.root else 0, root.rank, name)


def make_verdict(ranked: Sequence[Candidate], job: str, attempt: int, revision: int, ending: Ending | None) -> Failure:
    """Return the record for the root `ranked[0]`; the others support it. Final if there is an `ending`."""
    root = ranked[0]
    lines = [root.root, *root.support, *(one.root for one in ranked[1:])]
    cited = {(one.topic, one.partition, one.offset, one.line, one.rank): one for one in lines if one is not None}
    return _identified(
        job, attempt, revision, root.time, ending, root.message, root.error_type,
        node=root.node, rank=root.rank, root=root.root, faulty_component=root.component, restartable=root.restartable,
        confidence=root.confidence, source=root.source, signature=root.cause, evidence=list(cited.values())[:EVIDENCE],
    )  # fmt: skip


def make_retraction(job: str, time: float, attempt: int, revision: int, ending: Ending | None) -> Failure:
    """Return the record that retracts the newest verdict."""
    return _identified(job, attempt, revision, time, ending, _why_retracted(ending), ErrorType.NONE)


def _why_retracted(ending: Ending | None) -> str:
    if ending and ending.cancelled:
        return "the attempt was cancelled"
    return "the attempt ended well" if ending and ending.well else "the job went on after it"


def _identified(  # noqa: PLR0917  # the fields that every record has
    job: str, attempt: int, revision: int, time: float, ending: Ending | None, message: str, error_type: ErrorType, **fields: object
) -> Failure:  # fmt: skip
    return identified(
        Failure(
            id="", job=job, attempt=attempt, revision=revision, time=time, message=message, error_type=error_type,
            final=ending is not None, exit_code=ending.exit_code if ending else None,
            signal=(ending.killed_by or None) if ending else None, **fields,  # type: ignore[arg-type]
        )
    )  # fmt: skip


def fill_unknown(root: Candidate, ending: Candidate | None) -> Candidate:
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
