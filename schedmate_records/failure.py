"""Topic `failures`: verdicts on failures."""

import hashlib
import json
from enum import StrEnum

import msgspec

from .base import Evidence, Record
from .recovery_action import RecoveryAction


class ErrorType(StrEnum):
    """Error type of a failure (SchedMate §3.3). `none` retracts a verdict; `unknown` means that the evidence does not suffice."""

    INFRASTRUCTURE = "infrastructure"
    FRAMEWORK = "framework"
    USER_SCRIPT = "user_script"
    OTHER = "other"
    NONE = "none"
    UNKNOWN = "unknown"


class Component(StrEnum):
    """Faulty component."""

    GPU = "gpu"
    NVLINK = "nvlink"
    NETWORK = "network"
    NODE = "node"
    STORAGE = "storage"
    OTHER = "other"
    NONE = "none"


class FailureSource(StrEnum):
    """Source of a verdict, or of evidence for or against it."""

    SIGNATURE = "signature"
    """A line that matches a signature."""
    TRACEBACK = "traceback"
    """The exception that ended the program."""
    EXIT = "exit"
    """How the attempt ended, as the scheduler reports it."""
    MODEL = "model"
    """A language model's answer about the attempt."""
    NODE_LOGS = "node-logs"
    """The node's own log."""
    GPU_METRICS = "gpu-metrics"
    """The samples of the node's GPUs."""
    NONE = "none"
    """None: the record retracts an earlier verdict."""


RULES = "rules"
"""`Opinion.by` of what the rules and the nodes' evidence state."""


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """Opinion of the rules or of a language model on an attempt, before both are combined.

    Attributes:
        by: `rules`, or the name of the model.
        error_type: `none` where no failure is stated.
        faulty_component: `none` unless the type is infrastructure.
        restartable: Whether starting the unchanged job again helps; null where not known.
        confidence: 0 to 1. A model states low, medium or high: 0.3, 0.6 or 0.9.
        root: The line that explains the failure; null for none.
        summary: The model's sentence for the operator; empty for the rules.
    """

    by: str
    error_type: ErrorType
    faulty_component: Component = Component.NONE
    restartable: bool | None = None
    confidence: float = 0.0
    root: Evidence | None = None
    summary: str = ""

    def agrees(self, other: "Opinion") -> bool:
        """Return whether both state the same: error type, component, and `restartable` where both know it."""
        same = (self.error_type, self.faulty_component) == (other.error_type, other.faulty_component)
        return same and (None in (self.restartable, other.restartable) or self.restartable is other.restartable)


class Failure(Record, frozen=True, kw_only=True):
    """A verdict on why an attempt of a job fails. Key: the job.

    A later record of the same job and attempt with a higher `revision` replaces an earlier one.

    Attributes:
        id: Follows from the content of the verdict: the same content for the same attempt has the same id, in any order of the topics.
            Repeated after another verdict, it has the same id and a higher revision.
        job: The scheduler's job id.
        attempt: Restart count.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        revision: Counted from 1 within the attempt; a number may be left out.
        time: Arrival of the line that explains the failure, in seconds since 1970.
        node: Host that printed the root line; the suspect, where the type is infrastructure. Empty where not known.
        node_evidence: True where that node's own log or its GPU samples confirm the fault. What a job prints is no such evidence.
        drain: Where `node_evidence` is true: whether one of the events on that node is fatal and on the list of those that may lead to a
            drain. Null where there is no such evidence.
        recovery_action: Recovery action that the driver of the faulty GPU on that node reported last; null where there is none.
        rank: Rank that printed it.
        root: The line that explains the failure; null where the log has none (for example, killed from outside).
        message: Message for the operator: that of the root line, or what else is known.
        error_type: Error type.
        faulty_component: Faulty component; `none` unless the type is infrastructure.
        restartable: Whether the unchanged job would plausibly succeed after a restart, possibly on another node; null where not known.
        confidence: 0 to 1.
        source: Source of the verdict.
        confirmed_by: Evidence of nodes that confirms it: `node-logs`, `gpu-metrics`.
        contradicted_by: Evidence of nodes that contradicts it.
        signature: Name of the catalogue entry or of the exception class; what counts as one root cause.
        final: True if the attempt has ended; false while the job may continue.
        exit_code: Exit code of the attempt, where known.
        signal: Signal that ended it, where known.
        step: Training step that the attempt had reached, as far as its log was read by then; null where not known, and where
            the counter fell back within the attempt.
        epoch: The epoch of that step.
        evidence: Lines that support the verdict, the root first.
        summary: One plain sentence for the operator, written by a language model; empty where none was asked or its answer differs.
        opinions: The opinions that were combined into this verdict, first that of the rules; empty where no model answered.
    """

    id: str
    job: str
    attempt: int = 0
    incarnation: str = ""
    revision: int = 1
    time: float
    node: str = ""
    node_evidence: bool = False
    drain: bool | None = None
    recovery_action: RecoveryAction | None = None
    rank: int | None = None
    root: Evidence | None = None
    message: str
    error_type: ErrorType
    faulty_component: Component = Component.NONE
    restartable: bool | None = None
    confidence: float = 0.0
    source: FailureSource = FailureSource.NONE
    confirmed_by: list[FailureSource] = []
    contradicted_by: list[FailureSource] = []
    signature: str = ""
    final: bool = False
    exit_code: int | None = None
    signal: int | None = None
    step: int | None = None
    epoch: float | None = None
    evidence: list[Evidence] = []
    summary: str = ""
    opinions: list[Opinion] = []

    @property
    def confidence_of_rules(self) -> float:
        """The confidence that the rules have without a language model."""
        return next((each.confidence for each in self.opinions if each.by == RULES), self.confidence)


def identified(failure: Failure) -> Failure:
    """Return `failure` under the id that follows from its content: from all but its place among the revisions.

    How far the training had come is left out, too: it depends on what of the log was read by then. The id names the root line's place, or
    the cause where no line shows it.
    """
    content = msgspec.to_builtins(msgspec.structs.replace(failure, id="", revision=0))
    del content["step"], content["epoch"]
    for optional in ("drain", "incarnation", "recovery_action", "summary", "opinions"):
        if content[optional] in (None, "", []):
            del content[optional]  # the id is the same for readers and writers that do not know the field
    digest = hashlib.blake2b(json.dumps(content).encode(), digest_size=8).hexdigest()
    root = failure.root
    about = f"{root.topic}/{root.partition}/{root.offset}/{root.line}" if root else failure.signature or "none"
    return msgspec.structs.replace(failure, id=f"failure/{failure.job}/{failure.attempt}/{about}/{digest}")
