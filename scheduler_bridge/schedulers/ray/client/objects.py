"""Ray's jobs, nodes, actors, tasks and placement groups, as its dashboard reports them: the few fields that are read here.

Sources: Ray's `JobDetails` (Jobs REST API) and its State API (`ray.util.state.common`), version 2.60.
"""

from typing import Any

import msgspec

SUPERVISOR_PREFIX = "_ray_internal_job_actor_"
"""Names of the actors each of which runs the driver of one submission, and holds what its entrypoint asked for."""


class RayJob(msgspec.Struct, kw_only=True):
    """One submission.

    Attributes:
        submission_id: Its id; None for a driver that was not submitted as a job.
        job_id: The id that its driver has among actors and tasks; None until there is one.
        status: `PENDING`, `RUNNING`, `STOPPED`, `SUCCEEDED` or `FAILED`.
        message: The status in more detail; may quote the driver's log.
        error_type: Why it failed, in a word of Ray's.
        start_time: When it was submitted, in milliseconds since 1970.
        end_time: When it ended.
        driver_node_id: Where its driver runs, or ran.
        driver_exit_code: What its driver returned; negative for a signal.
    """

    submission_id: str | None = None
    job_id: str | None = None
    status: str
    entrypoint: str = ""
    message: str | None = None
    error_type: str | None = None
    start_time: int | None = None
    end_time: int | None = None
    metadata: dict[str, str] | None = None
    runtime_env: dict[str, Any] | None = None
    driver_node_id: str | None = None
    driver_exit_code: int | None = None

    @property
    def id(self) -> str:
        """The submission id."""
        return self.submission_id or ""

    @property
    def noted(self) -> dict[str, str]:
        """The metadata."""
        return self.metadata or {}

    @property
    def is_over(self) -> bool:
        """True for a job that has ended."""
        return self.status in ("STOPPED", "SUCCEEDED", "FAILED")


class RayNode(msgspec.Struct, kw_only=True):
    """One raylet: a node that starts again has another id.

    Attributes:
        node_name: `ray start --node-name`; its address where that was not given.
        state: `ALIVE` or `DEAD`.
        resources_total: `CPU`, `GPU`, `memory` (bytes) and others.
    """

    node_id: str
    node_name: str = ""
    state: str
    state_message: str | None = None
    is_head_node: bool = False
    resources_total: dict[str, float] = {}
    start_time_ms: int = 0

    @property
    def alive(self) -> bool:
        """True for a node that may run something."""
        return self.state == "ALIVE"


class RayActor(msgspec.Struct, kw_only=True):
    """One actor.

    Attributes:
        job_id: Of the driver that made it.
        state: `ALIVE`, `DEAD`, `PENDING_CREATION`, `DEPENDENCIES_UNREADY` or `RESTARTING`.
        node_id: Where it is, or was; None until it was placed.
        required_resources: What it holds, or waits for.
        label_selector: Which nodes it may be on.
        placement_group_id: The group whose bundles it lives in; what it holds is part of the group's.
    """

    job_id: str = ""
    name: str | None = None
    state: str
    node_id: str | None = None
    required_resources: dict[str, float] | None = None
    label_selector: dict[str, str] | None = None
    placement_group_id: str | None = None


class RayTask(msgspec.Struct, kw_only=True):
    """One task that is no actor's.

    Attributes:
        job_id: Of the driver that made it.
        required_resources: What it holds.
        placement_group_id: As for an actor.
    """

    job_id: str = ""
    state: str = ""
    node_id: str | None = None
    required_resources: dict[str, float] | None = None
    placement_group_id: str | None = None


class RayBundle(msgspec.Struct, kw_only=True):
    """A part of a placement group, on one node."""

    node_id: str | None = None
    unit_resources: dict[str, float] = {}


class RayPlacementGroup(msgspec.Struct, kw_only=True):
    """Resources that a job reserved.

    Attributes:
        creator_job_id: Of the driver that made it.
        state: `CREATED`, `PENDING`, `REMOVED` or `RESCHEDULING`.
    """

    creator_job_id: str = ""
    state: str = ""
    bundles: list[RayBundle] | None = None


class Submission(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A submission for the Jobs REST API.

    Attributes:
        entrypoint_memory: Bytes.
        entrypoint_label_selector: Which nodes its driver may be on (Ray 2.50 or newer).
    """

    entrypoint: str
    submission_id: str
    metadata: dict[str, str] = {}
    runtime_env: dict[str, Any] = {}
    entrypoint_num_cpus: float = 0.0
    entrypoint_num_gpus: float = 0.0
    entrypoint_memory: int = 0
    entrypoint_resources: dict[str, float] = {}
    entrypoint_label_selector: dict[str, str] = {}
