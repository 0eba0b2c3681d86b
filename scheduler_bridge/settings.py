"""What an operator sets: the mode of each action, and how far the bridge may go."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
)
from pydantic_settings import NoDecode

from records import Action, Mode
from scheduler_bridge.actuators import JobView, NodeView
from scheduler_bridge.maintenance import Window, WindowError
from scheduler_bridge.selectors import Selector, SelectorError
from scheduler_bridge.signing import SigningKeys

FURTHEST = (Mode.SHADOW, Mode.APPROVE, Mode.ACT)
"""How far a decision may go, the least first."""


@dataclass(frozen=True, slots=True)
class BridgeOptions:
    """Limits of policies and guardrails. The defaults do nothing but publish decisions.

    Attributes:
        modes: The mode of each action; `shadow` for those that it leaves out.
        modes_for: Modes of classes of jobs and nodes, which hold back further: the first class that matches and names the action counts.
        maintenance: When nothing is carried out.
        min_confidence: Least confidence of a verdict that leads to a restart, 0 to 1.
        ttl: Seconds after its cause in which a decision may be carried out.
        actions_per_cause: Actions for one job and one root cause, ever.
        actions_per_job: Actions for one job, ever.
        actions_per_node: Actions held against one node within an hour.
        actions_per_cluster: Actions of all kinds within an hour.
        user_share: Share of `actions_per_cluster` that the jobs of one user may take, 0 to 1; it is one action at least.
        max_excluded_nodes: Nodes that one decision may exclude.
        users_against_node: Users whose jobs must have failed on a node within an hour before it is drained without evidence of its own.
        witness_age: Seconds after which what speaks against a node drains it no more.
        max_drained_share: Share of the nodes of the cluster, and of each pool, that the bridge drains, 0 to 1; one node at least.
        min_nodes_left: Nodes that stay in service in the cluster, and in each pool, when the bridge drains one.
        cancel_hung: Seconds of a hang, confirmed by the GPUs, after which the job is cancelled.
        node_cooldown: Seconds between two actions of one kind on one node.
        max_grace: Seconds that a job may be given to save a checkpoint before it is evicted.
        checkpoint_signal: The signal that tells a job to save a checkpoint (`USR1`).
        signing: Keys one of which must have signed what is carried out; None: nothing is signed.
        evict_for: Classes of jobs for which others may be evicted; none: nobody is.
        evictable: Classes of jobs that may be evicted for them. A job of both is not.
        evict_wait: Seconds that a job of such a class waits before others are evicted for it.
        evict_grace: Seconds that a job has to save a checkpoint before it is evicted for another.
        evict_cooldown: Seconds between two evictions of one job, and between two rounds of evictions for one job.
        evict_yield: Seconds that an evicted job stays in the queue at least, so that the other one gets its place.
        max_lifetime: Seconds between the cause of a decision and its expiry.
        first_look: Seconds until a waiting decision is looked at again; doubled every time.
        longest_look: The most that it grows to. A job event makes the bridge look at once.
    """

    modes: Mapping[Action, Mode] = field(default_factory=dict)
    modes_for: Sequence[tuple[Selector, Mapping[Action, Mode]]] = ()
    maintenance: Sequence[Window] = ()
    min_confidence: float = 0.8
    ttl: float = 7200.0
    actions_per_cause: int = 2
    actions_per_job: int = 4
    actions_per_node: int = 4
    actions_per_cluster: int = 20
    user_share: float = 0.25
    max_excluded_nodes: int = 4
    users_against_node: int = 3
    witness_age: float = 900.0
    max_drained_share: float = 0.1
    min_nodes_left: int = 2
    cancel_hung: float = 1800.0
    node_cooldown: float = 3600.0
    max_grace: float = 900.0
    checkpoint_signal: str = "USR1"
    signing: SigningKeys | None = None
    evict_for: Sequence[Selector] = ()
    evictable: Sequence[Selector] = ()
    evict_wait: float = 300.0
    evict_grace: float = 120.0
    evict_cooldown: float = 3600.0
    evict_yield: float = 30.0
    max_lifetime: float = 86400.0
    first_look: float = 0.25
    longest_look: float = 2.0

    def mode(self, action: Action) -> Mode:
        """Return how far decisions of this action may go."""
        return self.modes.get(action, Mode.SHADOW)

    def mode_of(self, action: Action, seen: JobView | NodeView | None) -> Mode:
        """Return how far an action on a job or a node may go; never further than `mode`."""
        for selector, modes in self.modes_for:
            matches = (
                selector.covers(seen) if isinstance(seen, NodeView) else seen is not None and selector.matches(seen)
            )
            if matches and action in modes:
                return min(modes[action], self.mode(action), key=FURTHEST.index)
        return self.mode(action)

    @property
    def actions_per_user(self) -> int:
        """Actions in favour of one user within an hour."""
        return min(self.actions_per_cluster, max(1, int(self.actions_per_cluster * self.user_share)))


def _pairs(value: Any) -> Any:
    """Split `name=value,name=value`, which the environment or a flag gives as text."""
    if not isinstance(value, str):
        return value
    return {
        name.strip(): to.strip() for name, _, to in (part.partition("=") for part in value.split(",") if part.strip())
    }


def _listed(value: Any) -> Any:
    """Split what the environment or a flag gives as text."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _object(value: Any) -> Any:
    """Read what the environment or a flag gives as JSON."""
    return json.loads(value) if isinstance(value, str) else value


def _is_class(text: str) -> str:
    try:
        Selector.parse(text)
    except SelectorError as error:
        raise ValueError(str(error)) from None
    return text


def _is_window(text: str) -> str:
    try:
        Window.parse(text)
    except WindowError as error:
        raise ValueError(str(error)) from None
    return text


JobClass = Annotated[str, AfterValidator(_is_class)]
JobClasses = Annotated[tuple[JobClass, ...], NoDecode, BeforeValidator(_listed)]
Windows = Annotated[tuple[Annotated[str, AfterValidator(_is_window)], ...], NoDecode, BeforeValidator(_listed)]


class BridgeSettings(BaseModel, frozen=True, extra="forbid"):
    """What may act on the cluster. Nothing may, until `modes` names it."""

    scheduler: Literal["slurm"] = Field("slurm", description="Which scheduler carries decisions out.")
    modes: Annotated[dict[Action, Mode], NoDecode, BeforeValidator(_pairs)] = Field(
        {},
        description="How far each action may go, such as restart=act,cancel_packing=approve: shadow publishes decisions only, "
        "approve waits for a person, act carries them out. Shadow where an action is not named.",
    )
    modes_for: Annotated[dict[JobClass, dict[Action, Mode]], BeforeValidator(_object)] = Field(
        {},
        description='Modes of classes of jobs, which hold back further, such as {"partition=prod": {"restart": "approve"}}: the first '
        "class that matches and names the action counts. Terms as in evict_for; * is all.",
    )
    maintenance: Windows = Field(
        (),
        description="When nothing is carried out, in UTC: sat 22:00-06:00, daily 01:00-02:00, 2031-02-03T08:00/2031-02-03T18:00.",
    )
    ttl_seconds: PositiveFloat = Field(7200.0, description="A decision older than this is not carried out.")
    min_confidence: Annotated[float, Field(ge=0, le=1)] = Field(
        0.8, description="Verdicts below it lead to no decision."
    )
    restarts_per_cause: NonNegativeInt = Field(2, description="Restarts of one job for one cause.")
    actions_per_job: NonNegativeInt = Field(4, description="Actions on one job, whatever their causes.")
    actions_per_node_hour: NonNegativeInt = Field(4, description="Actions against one node within an hour.")
    actions_per_hour: NonNegativeInt = Field(20, description="Actions on the whole cluster within an hour.")
    user_share: Annotated[float, Field(gt=0, le=1)] = Field(
        0.25, description="Share of `actions_per_hour` that the jobs of one user may take; one action at least."
    )
    max_excluded_nodes: NonNegativeInt = Field(4, description="Nodes that one decision may exclude.")
    users_against_node: PositiveInt = Field(
        3,
        description="Users whose jobs fail on a node within an hour before it is drained without evidence of its own.",
    )
    max_drained_share: Annotated[float, Field(ge=0, le=1)] = Field(
        0.1, description="Share of the nodes (of the cluster, and of each partition) that may be drained; one at least."
    )
    min_nodes_left: NonNegativeInt = Field(
        2, description="Nodes that stay in service (in the cluster, and in each partition) when one is drained."
    )
    cancel_hung_seconds: PositiveFloat = Field(
        1800.0, description="A job that has hung for so long, by its log and by its GPUs, is cancelled."
    )
    node_cooldown_seconds: NonNegativeFloat = Field(
        3600.0, description="Time between two drains of one node, or two returns to service."
    )
    max_grace_seconds: NonNegativeFloat = Field(
        900.0, description="Longest time that a job gets to save a checkpoint before it is evicted."
    )
    checkpoint_signal: Annotated[str, Field(pattern="^[A-Z][A-Z0-9]{1,9}$")] = Field(
        "USR1", description="Signal that tells a job to save a checkpoint before it is evicted."
    )
    signing_keys_file: Path | None = Field(
        None,
        description="A file of lines with a key's id and secret. Decisions are signed with the first key; nothing is carried out that "
        "none of them signed. None: nothing is signed.",
    )
    evict_for: JobClasses = Field(
        (),
        description="Classes of jobs for which others are evicted, such as qos=urgent or partition=prod&priority>=1000, separated by "
        "commas; terms: partition, account, qos, user, priority. None: nobody is evicted.",
    )
    evictable: JobClasses = Field((), description="Classes of jobs that may be evicted for them; a job of both is not.")
    evict_wait_seconds: NonNegativeFloat = Field(
        300.0, description="How long a job of `evict_for` waits before others are evicted for it."
    )
    evict_grace_seconds: NonNegativeFloat = Field(
        120.0, description="Time that a job gets to save a checkpoint before it is evicted for another; 0: none."
    )
    evict_cooldown_seconds: NonNegativeFloat = Field(3600.0, description="Time between two evictions of one job.")
    max_lifetime_seconds: PositiveFloat = Field(
        86400.0, description="Longest time from a decision's cause to its expiry."
    )

    def options(self) -> BridgeOptions:
        """Return them as policies and guardrails take them."""
        return BridgeOptions(
            modes=self.modes,
            modes_for=tuple((Selector.parse(name), modes) for name, modes in self.modes_for.items()),
            maintenance=tuple(map(Window.parse, self.maintenance)),
            min_confidence=self.min_confidence,
            ttl=self.ttl_seconds,
            actions_per_cause=self.restarts_per_cause,
            actions_per_job=self.actions_per_job,
            actions_per_node=self.actions_per_node_hour,
            actions_per_cluster=self.actions_per_hour,
            user_share=self.user_share,
            max_excluded_nodes=self.max_excluded_nodes,
            users_against_node=self.users_against_node,
            max_drained_share=self.max_drained_share,
            min_nodes_left=self.min_nodes_left,
            cancel_hung=self.cancel_hung_seconds,
            node_cooldown=self.node_cooldown_seconds,
            max_grace=self.max_grace_seconds,
            checkpoint_signal=self.checkpoint_signal,
            signing=SigningKeys.read(self.signing_keys_file) if self.signing_keys_file else None,
            evict_for=tuple(map(Selector.parse, self.evict_for)),
            evictable=tuple(map(Selector.parse, self.evictable)),
            evict_wait=self.evict_wait_seconds,
            evict_grace=self.evict_grace_seconds,
            evict_cooldown=self.evict_cooldown_seconds,
            max_lifetime=self.max_lifetime_seconds,
        )
