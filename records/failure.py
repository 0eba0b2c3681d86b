"""Topic `failures`: what the failure handler found."""

from enum import StrEnum

from .base import Evidence, Record


class ErrorType(StrEnum):
    """Whose fault it is (SchedMate §3.3); `none` takes a verdict back, `unknown` is an honest answer."""

    INFRASTRUCTURE = "infrastructure"
    FRAMEWORK = "framework"
    USER_SCRIPT = "user_script"
    OTHER = "other"
    NONE = "none"
    UNKNOWN = "unknown"


class Component(StrEnum):
    """What is faulty."""

    GPU = "gpu"
    NVLINK = "nvlink"
    NETWORK = "network"
    NODE = "node"
    STORAGE = "storage"
    OTHER = "other"
    NONE = "none"


class Failure(Record, frozen=True, kw_only=True):
    """A verdict on why an attempt of a job fails. Key: the job.

    A later record of the same job and attempt with a higher `revision` replaces an earlier one.

    Attributes:
        id: Follows from the input position of what led to this revision.
        job: The scheduler's job id.
        attempt: Restart count.
        revision: Counted from 1 within the attempt; a number may be left out.
        time: Arrival of the line that explains the failure, in seconds since 1970.
        node: Host that printed the root line; the suspect, where the type is infrastructure. Empty where not known.
        node_evidence: True where that node's own log or the samples of its GPUs speak against it. What a job prints is no such evidence.
        rank: Rank that printed it.
        root: The line that explains the failure; null where the log has none (killed from outside, say).
        message: What an operator should read: the root line's message, or what else is known.
        error_type: Whose fault it is.
        faulty_component: What is faulty; `none` unless the type is infrastructure.
        restartable: Would the unchanged job plausibly succeed if started again, perhaps elsewhere? Null where not known.
        confidence: 0 to 1.
        source: Who said so: `signature`, `traceback`, `exit`, `model`; evidence of nodes (`node-logs`, `gpu-metrics`) alone, or behind
            it after a `+` (it confirms) or a `-` (it contradicts).
        signature: Name of the catalogue entry or of the exception class; what counts as one root cause.
        final: True once the attempt has ended; false while the job may still go on.
        exit_code: Exit code of the attempt, where known.
        signal: Signal that ended it, where known.
        evidence: Lines that the verdict rests on, the root first.
    """

    id: str
    job: str
    attempt: int = 0
    revision: int = 1
    time: float
    node: str = ""
    node_evidence: bool = False
    rank: int | None = None
    root: Evidence | None = None
    message: str
    error_type: ErrorType
    faulty_component: Component = Component.NONE
    restartable: bool | None = None
    confidence: float = 0.0
    source: str = ""
    signature: str = ""
    final: bool = False
    exit_code: int | None = None
    signal: int | None = None
    evidence: list[Evidence] = []
