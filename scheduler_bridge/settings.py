"""What an operator sets: the mode of each action, and how far the bridge may go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from records import Action, Mode
from scheduler_bridge.actuators import JobView, NodeView
from scheduler_bridge.maintenance import Window
from scheduler_bridge.selectors import Selector

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
        node_cooldown: Seconds between two actions of one kind on one node.
        max_grace: Seconds that a job may be given to save a checkpoint before it is evicted.
        checkpoint_signal: The signal that tells a job to save a checkpoint (`USR1`).
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
    node_cooldown: float = 3600.0
    max_grace: float = 900.0
    checkpoint_signal: str = "USR1"
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
