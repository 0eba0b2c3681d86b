"""Topic `decisions`: what the scheduler should do."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from .base import Evidence, Record

Name = Annotated[str, Meta(max_length=256)]
DecisionId = Annotated[str, Meta(max_length=1024)]
Sentence = Annotated[str, Meta(max_length=4096)]


class Action(StrEnum):
    """What can be asked of a scheduler."""

    RESTART = "restart"
    CANCEL_PACKING = "cancel_packing"
    EVICT = "evict"


class Mode(StrEnum):
    """How far an action may go."""

    SHADOW = "shadow"
    """Published for people and other schedulers to see, never carried out by the bridge."""
    APPROVE = "approve"
    """Carried out once a person has approved the decision."""
    ACT = "act"
    """Carried out."""


class Decision(Record, frozen=True, kw_only=True):
    """What should be done, why, on which evidence, until when. Key: the job to act on.

    Attributes:
        id: Follows from action, job, attempt and cause: the same cause never makes two decisions.
        action: What to do.
        job: The job to act on (for `cancel_packing`: the one that came later and goes back to the queue).
        attempt: The attempt that the decision is about; a job that has moved on is left alone.
        time: When the cause arose, in seconds since 1970.
        expires: Not to be carried out after this time.
        mode: How far it may go.
        policy: Name of the rule that decided.
        reason: One sentence for a person.
        cause: What counts as one root cause for budgets (a signature's name; the victim of a packing).
        cause_id: Id of the failure or slowdown that led here.
        exclude_nodes: Nodes that this job's next attempts keep away from (`restart`). It says nothing to other jobs.
        node_evidence: True where those nodes' own logs or GPU samples speak against them, not the job alone: only then does the
            action count against them.
        checkpoint: Path of the last durable checkpoint that the job's log named (`restart`); empty where none is known. It is for
            people to read, and a word of the job's own: never part of a command.
        beneficiary: The job that gains (`cancel_packing`: the victim).
        evidence: The lines that it rests on.
    """

    id: DecisionId
    action: Action
    job: Name
    attempt: int = 0
    time: float
    expires: float
    mode: Mode = Mode.SHADOW
    policy: Name
    reason: Sentence
    cause: Name = ""
    cause_id: DecisionId = ""
    exclude_nodes: list[Name] = []
    node_evidence: bool = False
    checkpoint: Sentence = ""
    beneficiary: Name = ""
    evidence: list[Evidence] = []
