"""What an operator sets: the mode of each action, and how far the bridge may go."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt
from pydantic_settings import NoDecode

from records import Action, Mode


@dataclass(frozen=True, slots=True)
class BridgeOptions:
    """Limits of policies and guardrails. The defaults do nothing but publish decisions.

    Attributes:
        modes: The mode of each action; `shadow` for those that it leaves out.
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
        node_cooldown: Seconds between two actions of one kind on one node.
        max_grace: Seconds that a job may be given to save a checkpoint before it is evicted.
        checkpoint_signal: The signal that tells a job to save a checkpoint (`USR1`).
        max_lifetime: Seconds between the cause of a decision and its expiry.
        first_look: Seconds until a waiting decision is looked at again; doubled every time.
        longest_look: The most that it grows to. A job event makes the bridge look at once.
    """

    modes: Mapping[Action, Mode] = field(default_factory=dict)
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
    node_cooldown: float = 3600.0
    max_grace: float = 900.0
    checkpoint_signal: str = "USR1"
    max_lifetime: float = 86400.0
    first_look: float = 0.25
    longest_look: float = 2.0

    def mode(self, action: Action) -> Mode:
        """Return how far decisions of this action may go."""
        return self.modes.get(action, Mode.SHADOW)

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


class BridgeSettings(BaseModel, frozen=True, extra="forbid"):
    """What may act on the cluster. Nothing may, until `modes` names it."""

    scheduler: Literal["slurm", "kubernetes"] = Field("slurm", description="Which scheduler carries decisions out.")
    modes: Annotated[dict[Action, Mode], NoDecode, BeforeValidator(_pairs)] = Field(
        {},
        description="How far each action may go, such as restart=act,cancel_packing=approve: shadow publishes decisions only, "
        "approve waits for a person, act carries them out. Shadow where an action is not named.",
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
    node_cooldown_seconds: NonNegativeFloat = Field(
        3600.0, description="Time between two drains of one node, or two returns to service."
    )
    max_grace_seconds: NonNegativeFloat = Field(
        900.0, description="Longest time that a job gets to save a checkpoint before it is evicted."
    )
    checkpoint_signal: Annotated[str, Field(pattern="^[A-Z][A-Z0-9]{1,9}$")] = Field(
        "USR1", description="Signal that tells a job to save a checkpoint before it is evicted."
    )
    max_lifetime_seconds: PositiveFloat = Field(
        86400.0, description="Longest time from a decision's cause to its expiry."
    )

    def options(self) -> BridgeOptions:
        """Return them as policies and guardrails take them."""
        return BridgeOptions(
            modes=self.modes,
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
            node_cooldown=self.node_cooldown_seconds,
            max_grace=self.max_grace_seconds,
            checkpoint_signal=self.checkpoint_signal,
            max_lifetime=self.max_lifetime_seconds,
        )
