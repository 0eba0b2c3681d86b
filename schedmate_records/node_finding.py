"""Topic `node-findings`: findings from a node's log or its GPUs."""

from enum import StrEnum

from .base import Evidence, Record
from .failure import Component, ErrorType
from .recovery_action import RecoveryAction


class Severity(StrEnum):
    """Severity of a finding. Only `fatal` is sufficient for a verdict."""

    FATAL = "fatal"
    """Ends the jobs that use the faulty component."""
    ERROR = "error"
    """May end a job."""
    WARNING = "warning"
    """An operator should look at it."""
    INFO = "info"
    """No fault was found."""


class NodeFinding(Record, frozen=True, kw_only=True):
    """A fault on a node, or, once per job, that none was found. Key: the job on the node at that time; empty if there was none.

    A finding that concerns several jobs is written for each. A repeat within minutes is written the 10th, the 100th, … time.

    Attributes:
        id: Follows from the place, the job and its attempt, and the number of times.
        job: The job that it is written for; empty for none.
        attempt: Its restart count.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        node: Host.
        time: When it was seen first, in seconds since 1970.
        since: `info` only: start of the uninterrupted observation.
        gpu: NVML index; null where it concerns no GPU, or names none.
        device: PCI address, where it names one.
        event: The driver's event, as `Xid 149 NETIR_BER_EVENT`; empty where it is none of a driver that numbers its events.
        link: Number of the NVLink or port that the event names.
        recommended_action: Action that the driver's vendor recommends for the event, such as `reset_gpu`; empty where not known.
        recovery_action: Recovery action that the driver reports (Xid 154, or NVML); null where there is none.
        drain: True where the event is on the list of those that may lead to a drain of the node.
        signature: Name of the catalogue entry, or of the counter that grew.
        kind: Place in the graph of causes and consequences.
        severity: Severity.
        error_type: Error type.
        component: Faulty component.
        restartable: Whether a job that it ended would succeed on another node; null where not known.
        confidence: 0 to 1.
        place: The line; for a GPU sample, a description at the position of the sample.
        jobs: Jobs that it is written for: those that it names (by control group or by processes on the GPU), else all jobs on the node at
            that time. With several jobs, it may concern another one. It is written again, with the same id, when the list changes.
        times: Number of occurrences.
    """

    id: str
    job: str = ""
    attempt: int = 0
    incarnation: str = ""
    node: str
    time: float
    since: float | None = None
    gpu: int | None = None
    device: str = ""
    event: str = ""
    link: int | None = None
    recommended_action: str = ""
    recovery_action: RecoveryAction | None = None
    drain: bool = False
    signature: str
    kind: str = ""
    severity: Severity
    error_type: ErrorType
    component: Component = Component.NONE
    restartable: bool | None = None
    confidence: float = 0.0
    place: Evidence
    jobs: list[str] = []
    times: int = 1
