"""What an operator sets: the mode of each action, and how far the bridge may go."""

import json
import shlex
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
)
from pydantic_settings import NoDecode

from schedmate_records import Action, Mode

from .maintenance import Window, WindowError
from .schedulers import JobView, NodeView
from .selectors import Selector, SelectorError

FURTHEST = (Mode.SHADOW, Mode.APPROVE, Mode.ACT)
"""How far a decision may go, the least first."""
NODE_EVIDENCE_S = 900.0
"""Seconds after which evidence against a node no longer drains it: the node may work again."""


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


def _words(value: Any) -> Any:
    """Split what the environment or a flag gives as text, as a shell would."""
    return shlex.split(value) if isinstance(value, str) else value


def _object(value: Any) -> Any:
    """Read what the environment or a flag gives as JSON."""
    return json.loads(value) if isinstance(value, str) else value


def _selector(value: Any) -> Any:
    try:
        return Selector.parse(value) if isinstance(value, str) else value
    except SelectorError as error:
        raise ValueError(str(error)) from None


def _window(value: Any) -> Any:
    try:
        return Window.parse(value) if isinstance(value, str) else value
    except WindowError as error:
        raise ValueError(str(error)) from None


JobClass = Annotated[Selector, BeforeValidator(_selector)]
JobClasses = Annotated[tuple[JobClass, ...], NoDecode, BeforeValidator(_listed)]
Windows = Annotated[tuple[Annotated[Window, BeforeValidator(_window)], ...], NoDecode, BeforeValidator(_listed)]


class BridgeSettings(BaseModel, frozen=True, extra="forbid"):
    """What may act on the cluster. Nothing may, until `modes` names it."""

    scheduler: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")] = Field(
        "slurm",
        description="Scheduler that carries decisions out: slurm, kubernetes, ray, or another one that is installed.",
    )
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
    ttl_seconds: PositiveFloat = Field(7200.0, description="Age above which a decision is not carried out.")
    min_confidence: Annotated[float, Field(ge=0, le=1)] = Field(
        0.8, description="Minimum confidence of a verdict that leads to a decision."
    )
    trust_model: bool = Field(
        False,
        description="Whether a restart may rest on a verdict that a language model decided or raised. A model never drains or excludes a "
        "node.",
    )
    restarts_per_cause: NonNegativeInt = Field(2, description="Restarts of one job for one cause.")
    actions_per_job: NonNegativeInt = Field(4, description="Actions on one job, whatever their causes.")
    restarts_after_lost_nodes: NonNegativeInt = Field(
        10,
        description="Restarts of one job whose node was lost, as the scheduler reports (a spot node, for example): they count towards "
        "neither of the two limits above.",
    )
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
    cancel_idle_seconds: NonNegativeFloat = Field(
        0.0,
        description="A job whose GPUs have all been idle for so long is cancelled, after two notifications of its user; 0: never.",
    )
    node_cooldown_seconds: NonNegativeFloat = Field(
        3600.0, description="Time between two drains of one node, or two returns to service."
    )
    max_grace_seconds: NonNegativeFloat = Field(
        900.0, description="Longest time that a job gets to save a checkpoint before it is evicted."
    )
    checkpoint_signal: Annotated[str, Field(pattern="^[A-Z][A-Z0-9]{1,9}$")] = Field(
        "USR1", description="Signal that makes a job save a checkpoint before it is evicted."
    )
    signing_keys_file: Path | None = Field(
        None,
        description="A file of lines with a key's id and secret. Decisions are signed with the first key; only decisions "
        "that one of the keys signed are carried out. None: nothing is signed.",
    )
    evict_for: JobClasses = Field(
        (),
        description="Classes of jobs for which others are evicted, such as qos=urgent or partition=prod&priority>=1000, separated by "
        "commas; terms: partition, account, qos, user, priority. None: no job is evicted for another.",
    )
    evictable: JobClasses = Field((), description="Classes of jobs that may be evicted for them; a job of both is not.")
    evict_wait_seconds: NonNegativeFloat = Field(
        300.0, description="How long a job of `evict_for` waits before others are evicted for it."
    )
    evict_grace_seconds: NonNegativeFloat = Field(
        120.0,
        description="Time that a job gets to save a checkpoint before it is evicted for another (only Slurm can signal it); 0: none.",
    )
    evict_cooldown_seconds: NonNegativeFloat = Field(
        3600.0, description="Time between two evictions of one job, and between two rounds of evictions for one job."
    )
    evict_yield_seconds: NonNegativeFloat = Field(
        30.0, description="How long an evicted job stays in the queue at least, so that the other one gets its place."
    )
    kept_jobs_directory: Path | None = Field(
        None,
        description="Where `watch-scheduler slurm` keeps scripts and options of jobs, for seven days and in 256 MB at most, and the bridge "
        "finds them to submit jobs again that Slurm cannot start again. None: neither.",
    )
    node_check: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_words)] = Field(
        (),
        description="Command that Slurm runs on a node before it is drained, and before it returns to service. Exit code 0 means that the "
        "node is healthy. None: no node is checked.",
    )
    node_check_options: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_words)] = Field(
        (), description="Options of srun for it, such as --partition=maintenance --gres=gpu:8."
    )
    node_check_seconds: PositiveFloat = Field(
        60.0, description="Its time limit; the bridge does nothing else meanwhile."
    )
    stack_command: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_words)] = Field(
        (),
        description="Command that Slurm runs in a hung job, on each of its nodes and as its user, before the job is cancelled, such as "
        "py-spy. None: no stacks are taken.",
    )
    stack_seconds: PositiveFloat = Field(20.0, description="Its time limit; the bridge does nothing else meanwhile.")
    bundle_directory: Path | None = Field(
        None,
        description="Directory for what is recorded before a node is drained (decision, logs, the scheduler's view, the check) or a "
        "hung job is cancelled (decision, logs, stacks). None: nothing is recorded.",
    )
    max_lifetime_seconds: PositiveFloat = Field(
        86400.0, description="Longest time from a decision's cause to its expiry."
    )

    def mode(self, action: Action) -> Mode:
        """Return how far decisions of this action may go."""
        return self.modes.get(action, Mode.SHADOW)

    def mode_of(self, action: Action, seen: JobView | NodeView | None) -> Mode:
        """Return how far an action on a job or a node may go; never further than `mode`."""
        for selector, modes in self.modes_for.items():
            matches = (
                selector.covers(seen) if isinstance(seen, NodeView) else seen is not None and selector.matches(seen)
            )
            if matches and action in modes:
                return min(modes[action], self.mode(action), key=FURTHEST.index)
        return self.mode(action)

    @property
    def actions_per_user_hour(self) -> int:
        """Actions in favour of one user within an hour."""
        return min(self.actions_per_hour, max(1, int(self.actions_per_hour * self.user_share)))
