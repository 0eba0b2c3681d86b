"""Finds job, attempt, node and rank of this process in its environment.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import os

# Not the one of `typing`, which takes a quarter of the time that the start of a pipe may cost a job.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID")
"""Variables of the global rank, the closest to the process first: torchrun inside Slurm has both, and its own is right."""

_SIZES = {
    "RANK": "WORLD_SIZE",
    "OMPI_COMM_WORLD_RANK": "OMPI_COMM_WORLD_SIZE",
    "PMI_RANK": "PMI_SIZE",
    "MV2_COMM_WORLD_RANK": "MV2_COMM_WORLD_SIZE",
    "SLURM_PROCID": "SLURM_STEP_NUM_TASKS",
}
"""Variable of the number of ranks, by the variable of the rank."""


class UnknownJob(ValueError):
    """Nothing states which job this is, or what does cannot be read. The message states what to pass.

    `variable` is the one that cannot be read, where it is a variable.
    """

    variable = ""


class Identity:
    """Job, attempt and rank of the lines (see `records.LogChunk`).

    `whole` is true where this process is all of the job as far as the environment shows, and `part` where it is one of its ranks; of both
    only where no scheduler reports when the job ends.
    """

    __slots__ = ("attempt", "job", "node", "part", "rank", "whole")

    def __init__(
        self, job: str, attempt: int = 0, node: str = "", rank: int = 0, *, whole: bool = False, part: bool = False
    ) -> None:
        self.job, self.attempt, self.node, self.rank = job, attempt, node, rank
        self.whole, self.part = whole, part


def identify(
    environment: Mapping[str, str] | None = None,
    *,
    job: str | None = None,
    attempt: int | None = None,
    node: str | None = None,
    rank: int | None = None,
    clusters: Collection[str] = (),
    hostname: Callable[[], str] = lambda: os.uname().nodename,
) -> Identity:
    """Return the identity that the arguments give and, for what they leave out, the environment.

    Job: `SCHEDMATE_JOB_ID`, Slurm's `SLURM_JOB_ID` (of an array's task `ARRAY_TASK`, as Slurm's events name it), Ray's submission id or
    `RAY_JOB_ID`, torchrun's `TORCHELASTIC_RUN_ID`. Attempt: `SCHEDMATE_ATTEMPT`, `SLURM_RESTART_COUNT`; torchrun's
    `TORCHELASTIC_RESTART_COUNT` only where no scheduler counts, because the scheduler's count is what events carry. Rank: torchrun,
    Open MPI, PMIx, PMI, MVAPICH, Slurm. Node: `SLURMD_NODENAME`, else the host name up to its first dot.

    A job of one of the Slurm clusters `clusters` (or of those that the environment's setting names) is `CLUSTER/ID`.

    Raises:
        UnknownJob: No job id anywhere, or a number that is none.
    """
    env = os.environ if environment is None else environment
    found = job or env.get("SCHEDMATE_JOB_ID") or _slurm(env, clusters) or _ray(env) or _torchrun(env)
    if not found:
        raise UnknownJob(
            "no job id: expected SLURM_JOB_ID, RAY_JOB_ID, TORCHELASTIC_RUN_ID or SCHEDMATE_JOB_ID in the environment; "
            "pass --job ID"
        )
    if attempt is None:
        counts = ["SCHEDMATE_ATTEMPT", "SLURM_RESTART_COUNT"]
        if not env.get("SLURM_JOB_ID"):
            counts.append("TORCHELASTIC_RESTART_COUNT")
        attempt = _number(env, counts, "--attempt")
    if rank is None:
        rank = _number(env, ["SCHEDMATE_RANK", *_RANKS], "--rank")
        alone = _alone(env)
    else:
        alone = False  # who numbers ranks has several
    unscheduled = found not in {_slurm(env, clusters), env.get("SLURM_JOB_ID"), env.get("SLURM_ARRAY_JOB_ID")}
    host = node or env.get("SLURMD_NODENAME") or hostname().split(".")[0]
    return Identity(found, attempt, host, rank, whole=alone and unscheduled, part=unscheduled and not alone)


def state_directory(environment: Mapping[str, str]) -> str:
    """Return where a pipe keeps what waits, unless it has an option for that: by the user's id where there is no home."""
    state = environment.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")  # noqa: PTH111  not pathlib: it takes 5 ms
    return f"{state}/schedmate" if state.startswith("/") else f"/var/tmp/schedmate-{os.geteuid()}"  # noqa: S108  spools have mode 0700


def _alone(env: Mapping[str, str]) -> bool:
    """Return whether the environment names no other rank."""
    if env.get("SCHEDMATE_RANK"):
        return False
    ranked = next((name for name in _RANKS if env.get(name)), None)
    # A batch script has a rank and no step: it is the whole of what it starts.
    return ranked is None or env.get(_SIZES.get(ranked, ""), "1" if ranked == "SLURM_PROCID" else "") == "1"


def _number(env: Mapping[str, str], names: list[str], flag: str) -> int:
    for name in names:
        if value := env.get(name):
            if not value.isascii() or not value.isdecimal() or len(value) > 18:
                error = UnknownJob(f"expected a number in {name}, got {value[:80]!r}: unset it or pass {flag}")
                error.variable = name
                raise error
            return int(value)
    return 0


def _slurm(env: Mapping[str, str], clusters: Collection[str]) -> str | None:
    array, task = env.get("SLURM_ARRAY_JOB_ID"), env.get("SLURM_ARRAY_TASK_ID")
    # The raw number of a task is no name for it: that of an array's last task is the array's own, and means all of them.
    own = f"{array}_{task}" if array and task else env.get("SLURM_JOB_ID")
    cluster = env.get("SLURM_CLUSTER_NAME")
    # The setting `slurm.clusters`: clusters, separated by commas, whose jobs are reported with their cluster's name.
    named = cluster and (cluster in clusters or cluster in listed(env.get("SCHEDMATE_SLURM__CLUSTERS", "")))
    return f"{cluster}/{own}" if own and named else own


def listed(names: str) -> list[str]:
    """Return names that are separated by commas."""
    return [name.strip() for name in names.split(",") if name.strip()]


def _ray(env: Mapping[str, str]) -> str | None:
    """Ray's job manager puts the submission id into a JSON variable of the entry point; its workers have `RAY_JOB_ID`."""
    if not (config := env.get("RAY_JOB_CONFIG_JSON_ENV_VAR")):
        return env.get("RAY_JOB_ID")
    import json  # noqa: PLC0415  only where Ray runs the job: its start waits for no library

    try:
        metadata = json.loads(config).get("metadata") or {}
        submission = metadata.get("job_submission_id")
    except (ValueError, AttributeError, RecursionError):
        submission = None
    return str(submission) if submission else env.get("RAY_JOB_ID")


def _torchrun(env: Mapping[str, str]) -> str | None:
    run = env.get("TORCHELASTIC_RUN_ID")
    return None if run == "none" else run  # torchrun's own default, the same for every run
