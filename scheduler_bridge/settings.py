"""Settings of the bridge: the mode of each action, and limits."""

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
"""Modes, the most restrictive first."""
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
    """Settings of the bridge. No action is carried out unless `modes` allows it."""

    scheduler: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")] = Field(
        "slurm",
        description="Scheduler that carries out decisions: slurm, kubernetes, ray, or another installed one.",
    )
    modes: Annotated[dict[Action, Mode], NoDecode, BeforeValidator(_pairs)] = Field(
        {},
        description="Mode of each action, such as restart=act,cancel_packing=approve: shadow only publishes decisions, "
        "approve waits for approval, act carries them out. Other actions are in shadow mode.",
    )
    modes_for: Annotated[dict[JobClass, dict[Action, Mode]], BeforeValidator(_object)] = Field(
        {},
        description='Stricter modes for classes of jobs, such as {"partition=prod": {"restart": "approve"}}. The first '
        "class that matches and names the action is used. Terms as in evict_for; * matches all.",
    )
    maintenance: Windows = Field(
        (),
        description="Times (UTC) without actions: sat 22:00-06:00, daily 01:00-02:00, 2031-02-03T08:00/2031-02-03T18:00.",
    )
    ttl_seconds: PositiveFloat = Field(7200.0, description="Maximum age of a decision that is carried out, in seconds.")
    min_confidence: Annotated[float, Field(ge=0, le=1)] = Field(
        0.8, description="Minimum confidence of a verdict that leads to a decision."
    )
    trust_model: bool = Field(
        False,
        description="Whether a job may be restarted because of a verdict that a language model decided or raised. A "
        "model's verdict never drains or excludes a node.",
    )
    restarts_per_cause: NonNegativeInt = Field(2, description="Maximum restarts of a job for one cause.")
    actions_per_job: NonNegativeInt = Field(4, description="Maximum actions on a job.")
    restarts_after_lost_nodes: NonNegativeInt = Field(
        10,
        description="Maximum restarts of a job after the scheduler reported a lost node, such as a spot node. These do "
        "not count towards the two limits above.",
    )
    actions_per_node_hour: NonNegativeInt = Field(4, description="Maximum actions against a node within an hour.")
    actions_per_hour: NonNegativeInt = Field(20, description="Maximum actions on the whole cluster within an hour.")
    user_share: Annotated[float, Field(gt=0, le=1)] = Field(
        0.25, description="Share of `actions_per_hour` for the jobs of one user; at least one action."
    )
    max_excluded_nodes: NonNegativeInt = Field(4, description="Maximum nodes that a decision may exclude.")
    users_against_node: PositiveInt = Field(
        3,
        description="Number of users whose jobs must fail on a node within an hour before it is drained without evidence from the node.",
    )
    max_drained_share: Annotated[float, Field(ge=0, le=1)] = Field(
        0.1, description="Maximum share of drained nodes in the cluster and in each partition; at least one node."
    )
    min_nodes_left: NonNegativeInt = Field(
        2, description="Minimum nodes that stay in service in the cluster and in each partition when one is drained."
    )
    cancel_hung_seconds: PositiveFloat = Field(
        1800.0, description="Seconds after which a job that hangs, by its log and its GPUs, is cancelled."
    )
    cancel_idle_seconds: NonNegativeFloat = Field(
        0.0,
        description="Seconds after which a job whose GPUs are all idle is cancelled, after two notifications of its user; 0: never.",
    )
    node_cooldown_seconds: NonNegativeFloat = Field(
        3600.0, description="Minimum seconds between two drains of a node, or two returns to service."
    )
    max_grace_seconds: NonNegativeFloat = Field(
        900.0, description="Maximum seconds for a job to save a checkpoint before it is evicted."
    )
    checkpoint_signal: Annotated[str, Field(pattern="^[A-Z][A-Z0-9]{1,9}$")] = Field(
        "USR1", description="Signal that makes a job save a checkpoint before it is evicted."
    )
    signing_keys_file: Path | None = Field(
        None,
        description="File with a key id and a secret per line. Decisions are signed with the first key, and only "
        "signed decisions are carried out. Empty: decisions are not signed.",
    )
    evict_for: JobClasses = Field(
        (),
        description="Classes of jobs for which others are evicted, such as qos=urgent or partition=prod&priority>=1000, separated by "
        "commas; terms: partition, account, qos, user, priority. None: no job is evicted for another.",
    )
    evictable: JobClasses = Field(
        (), description="Classes of jobs that may be evicted for those; a job in both is not evicted."
    )
    evict_wait_seconds: NonNegativeFloat = Field(
        300.0, description="Seconds that a job of `evict_for` waits before others are evicted for it."
    )
    evict_grace_seconds: NonNegativeFloat = Field(
        120.0,
        description="Seconds for a job to save a checkpoint before it is evicted for another (only Slurm can signal it); 0: none.",
    )
    evict_cooldown_seconds: NonNegativeFloat = Field(
        3600.0,
        description="Minimum seconds between two evictions of a job, and between two rounds of evictions for a job.",
    )
    evict_yield_seconds: NonNegativeFloat = Field(
        30.0,
        description="Minimum seconds that an evicted job stays in the queue, so that the other job gets its place.",
    )
    kept_jobs_directory: Path | None = Field(
        None,
        description="Directory in which `watch-scheduler slurm` keeps scripts and options of jobs (seven days, at most "
        "256 MB). The bridge uses them to submit jobs that Slurm cannot requeue. Empty: neither.",
    )
    node_check: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_words)] = Field(
        (),
        description="Command that Slurm runs on a node before it is drained and before it returns to service. Exit "
        "code 0 means healthy. Empty: nodes are not checked.",
    )
    node_check_options: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_words)] = Field(
        (), description="Options of srun for node_check, such as --partition=maintenance --gres=gpu:8."
    )
    node_check_seconds: PositiveFloat = Field(
        60.0, description="Time limit in seconds. The bridge waits until the command ends."
    )
    stack_command: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_words)] = Field(
        (),
        description="Command, such as py-spy, that Slurm runs in a hung job on each node, as the job's user, before "
        "the job is cancelled. Empty: no stacks are recorded.",
    )
    stack_seconds: PositiveFloat = Field(
        20.0, description="Time limit in seconds. The bridge waits until the command ends."
    )
    bundle_directory: Path | None = Field(
        None,
        description="Directory for evidence recorded before a node is drained (decision, logs, scheduler state, check) "
        "or a hung job is cancelled (decision, logs, stacks). Empty: nothing is recorded.",
    )
    max_lifetime_seconds: PositiveFloat = Field(
        86400.0, description="Maximum seconds from a decision's cause to its expiry."
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
