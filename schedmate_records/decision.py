"""Topic `decisions`: what the scheduler should do."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from .base import Evidence, Record

Name = Annotated[str, Meta(max_length=256)]
DecisionId = Annotated[str, Meta(max_length=1024)]
Sentence = Annotated[str, Meta(max_length=4096)]


class Action(StrEnum):
    """Actions of a scheduler."""

    RESTART = "restart"
    """Start a job again that has failed."""
    CANCEL_PACKING = "cancel_packing"
    """Stop a packed job and queue it again, without packing."""
    EVICT = "evict"
    """Stop a running job and queue it again, immediately or after time to save a checkpoint."""
    CANCEL = "cancel"
    """End a running job for good."""
    HOLD = "hold"
    """Keep a job that waits in the queue from starting."""
    RELEASE = "release"
    """Undo a hold."""
    DRAIN = "drain"
    """Start no more jobs on a node."""
    UNDRAIN = "undrain"
    """Undo a drain."""
    NOTIFY = "notify"
    """Do nothing: the record itself is the message."""

    @property
    def on_node(self) -> bool:
        """True for actions on a node."""
        return self in {Action.DRAIN, Action.UNDRAIN}

    @property
    def past_participle(self) -> str:
        """The action in "Would have …", such as `restarted`."""
        return _WORDS[self][0]

    @property
    def plural(self) -> str:
        """Noun for several such actions, such as `restarts`."""
        return _WORDS[self][1]


_WORDS = {
    Action.RESTART: ("restarted", "restarts"),
    Action.CANCEL_PACKING: ("cancelled the packing", "cancellations of packings"),
    Action.EVICT: ("evicted", "evictions"),
    Action.CANCEL: ("cancelled", "cancellations"),
    Action.HOLD: ("held", "holds"),
    Action.RELEASE: ("released", "releases"),
    Action.DRAIN: ("drained the node", "drains"),
    Action.UNDRAIN: ("undrained the node", "undrains"),
    Action.NOTIFY: ("notified", "notifications"),
}


class Mode(StrEnum):
    """Mode of an action."""

    SHADOW = "shadow"
    """Published for people and other schedulers; not carried out by the bridge."""
    APPROVE = "approve"
    """Carried out after an operator approved the decision."""
    ACT = "act"
    """Carried out."""


class Decision(Record, frozen=True, kw_only=True):
    """An action to take, with reason, evidence and expiry. Key: what to act on, a job or a node.

    Attributes:
        id: Follows from action, job (or node), attempt and cause: the same cause never makes two decisions.
        action: What to do.
        job: The job to act on (for `cancel_packing`: the job that was packed later). For actions on a node: the job whose failure is the
            cause; empty where there is none.
        node: The node to act on (`drain`, `undrain`); empty for actions on a job.
        attempt: The attempt that the decision is about; no action is taken on a later one.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        time: When the cause arose, in seconds since 1970.
        expires: Time after which it is not carried out.
        mode: Mode of its action.
        policy: Name of the policy that made it.
        reason: Reason, in one sentence.
        cause: Root cause, for budgets: a signature's name, or the slowed job of a packing.
        cause_id: Id of the failure or slowdown that is the cause.
        exclude_nodes: Nodes that this job's next attempts avoid (`restart`). Other jobs are not affected.
        node_evidence: True where those nodes' own logs or GPU samples confirm the fault, not only the job's log: only then does the
            action count against them. For `drain` it is about `node`.
        grace_s: Seconds that a running job has to save a checkpoint after it was asked to, before it is stopped (`evict`); 0: none.
        checkpoint: Path of the last durable checkpoint that the job's log named (`restart`, `evict`); empty where none is known.
            It is text of the job, passed to the job when it is restarted, and never part of a command.
        beneficiary: The job that benefits (`cancel_packing`: the slowed job).
        evidence: Lines that support it.
        signature: Id of a key, a colon, and the HMAC-SHA-256 of what to do in hexadecimal; empty where no key is configured.
    """

    id: DecisionId
    action: Action
    job: Name = ""
    node: Name = ""
    attempt: int = 0
    incarnation: str = ""
    time: float
    expires: float
    mode: Mode = Mode.SHADOW
    policy: Name
    reason: Sentence
    cause: Name = ""
    cause_id: DecisionId = ""
    exclude_nodes: list[Name] = []
    node_evidence: bool = False
    grace_s: float = 0.0
    checkpoint: Sentence = ""
    beneficiary: Name = ""
    evidence: list[Evidence] = []
    signature: Annotated[str, Meta(max_length=256)] = ""

    @property
    def target(self) -> str:
        """Target of the action: the node or the job."""
        return self.node if Action(self.action).on_node else self.job
