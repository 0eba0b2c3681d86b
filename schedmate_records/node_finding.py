"""Topic `node-findings`: what a node's log or its GPUs show, for a job or for no job."""

from enum import StrEnum

from .base import Evidence, Record
from .failure import Component, ErrorType
from .recovery_action import RecoveryAction


class Severity(StrEnum):
    """How bad it is. Only `fatal` makes a verdict by itself."""

    FATAL = "fatal"
    """Ends the jobs that use what is faulty."""
    ERROR = "error"
    """May end a job."""
    WARNING = "warning"
    """Worth an operator's eye."""
    INFO = "info"
    """Nothing was found, though it was looked for."""


class NodeFinding(Record, frozen=True, kw_only=True):
    """One sign of trouble on a node (or, once a job, that there was none). Key: the job that ran there then; empty where none did.

    A finding that concerns several jobs is written for each. A repeat within minutes is written the 10th, the 100th, … time.

    Attributes:
        id: Follows from the place, the job and its attempt, and the number of times.
        job: The job that it is written for; empty for none.
        attempt: Its restart count.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        node: Host.
        time: When it was seen first, in seconds since 1970.
        since: `info` only: from when on it was looked for without a gap.
        gpu: NVML index; null where it concerns no GPU, or names none.
        device: PCI address, where it names one.
        event: The driver's event, as `Xid 149 NETIR_BER_EVENT`; empty where it is none of a driver that numbers its events.
        link: Number of the NVLink or port that the event names.
        recommended_action: Action that the driver's vendor recommends for the event, such as `reset_gpu`; empty where not known.
        recovery_action: What the driver states that the GPU needs now (Xid 154, or NVML); null where it states nothing.
        drain: True where the event is on the list of those that may lead to a drain of the node.
        signature: Name of the catalogue entry, or of the counter that grew.
        kind: Place in the graph of causes and consequences.
        severity: How bad it is.
        error_type: Whose fault it is.
        component: What is faulty.
        restartable: Would a job that it ended succeed elsewhere? Null where not known.
        confidence: 0 to 1.
        place: The line; for a sample of a GPU, a sentence of ours at the sample's place.
        jobs: Jobs that it is written for: those that it names (by control group, by the processes on the GPU), else all on the node then.
            With several jobs here, it may be about another job. Written again, under the same id, when that changes.
        times: How often it was seen.
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
