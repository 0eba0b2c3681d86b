"""One sign of trouble on a node."""

import msgspec

from processors.diagnose.catalogue import Signature
from records import Component, ErrorType, Evidence


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a line of a node's log, or a GPU's sample, says. The fields from `cause` to `confidence` as in a catalogue entry.

    Attributes:
        node: Host.
        time: When it was seen, in seconds since 1970.
        cause: Name of the signature, or of the counter that grew.
        kind: Place in the graph of causes and consequences.
        error_type: Whose fault it is.
        component: What is faulty.
        restartable: Would a job that it ended succeed elsewhere?
        confidence: 0 to 1.
        place: The line; for a sample, a sentence of ours at the sample's place.
        gpu: NVML index; null where it concerns no GPU, or does not say which.
        jobs: Jobs that it concerns; empty: any that ran on the node.
    """

    node: str
    time: float
    cause: str
    kind: str
    error_type: ErrorType
    component: Component
    restartable: bool | None
    confidence: float
    place: Evidence
    gpu: int | None = None
    jobs: list[str] = []

    @classmethod
    def of(cls, one: Signature, node: str, time: float, place: Evidence, **where: object) -> "Finding":
        """Return the finding that a line of signature `one` makes."""
        return cls(
            node=node,
            time=time,
            cause=one.name,
            kind=one.kind,
            error_type=one.error_type,
            component=one.component,
            restartable=one.restartable,
            confidence=one.confidence,
            place=place,
            **where,  # type: ignore[arg-type]  # gpu and jobs
        )
