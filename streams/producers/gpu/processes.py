"""From a process on a GPU to the job that it belongs to."""

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from schedmate_records.bounds import RANKS, is_name

from ..environment import UnknownJob, identify

RANK_VARIABLES = (
    *("SCHEDMATE_RANK", "RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"),
    *("MV2_COMM_WORLD_RANK", "SLURM_PROCID"),
)
"""Variables of the global rank, in the order of `streams.producers.environment`, which numbers the ranks of logs."""


class Owner(NamedTuple):
    """The job and the global rank of a process; None where they are not known."""

    job: str | None = None
    rank: int | None = None


def owner_of(
    pid: int,
    proc: Path = Path("/proc"),
    clusters: Collection[str] = (),
    job_of_run: Callable[[str], str | None] | None = None,
) -> Owner:
    """Return whose process `pid` is, by the environment that it was started with.

    Another user's environment can be read only with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH. Without them the job still
    follows from the process's control group where Slurm tracks processes by cgroup, for that file is open to all.
    A process that has ended, or belongs to another pid namespace, has no owner. The environment is set by the process's user, who
    can name another's job in it.

    Where there are several `clusters` of Slurm, a control group does not show which cluster its job number is of: then no job is named.
    `job_of_run` returns the job of a SLUID (see `SlurmRuns`); None where it is not known, or not yet.
    """
    owner = _owner_by_environment(_environment(proc / str(pid) / "environ"), clusters)
    if owner.job is None and not clusters:
        return owner._replace(job=_job_by_cgroup(proc / str(pid) / "cgroup", job_of_run))
    return owner


def _owner_by_environment(environment: Mapping[str, str], clusters: Collection[str]) -> Owner:
    """Return the job as its logs would name it. A rank that is not stated is not known: a forked worker inherits none."""
    job: str | None
    try:
        job = identify(environment, attempt=0, rank=0, clusters=clusters).job
    except (UnknownJob, RecursionError):  # the latter from Ray's variable, which holds JSON
        job = None
    stated = next((environment[name] for name in RANK_VARIABLES if environment.get(name)), "")
    is_rank = stated.isascii() and stated.isdecimal() and len(stated) <= 9 and int(stated) <= RANKS
    # A sample that names a job or a rank out of bounds is refused whole: a user must not hide the node's samples. What is longer than 200
    # characters is no job id.
    is_job = job is not None and len(job) <= 200 and is_name(job)
    return Owner(job if is_job else None, int(stated) if is_rank else None)


def _environment(path: Path) -> dict[str, str]:
    try:
        with path.open("rb") as file:
            # Read at most 1 MB of an environment: any user of the host may start a process with a larger one.
            block = file.read(1 << 20)
    except OSError:
        return {}
    pairs = (entry.partition("=") for entry in block.decode(errors="replace").split("\0"))
    return {name: value for name, _, value in pairs}


def _job_by_cgroup(path: Path, job_of_run: Callable[[str], str | None] | None) -> str | None:
    try:
        # Since 26.05 Slurm names control groups by the SLUID of a job's run, unless `CgroupJobIdPaths=yes`.
        found = re.search(
            r"/(?:job_(\d+)(?:/|$)|(s[0-9A-HJKMNP-TV-Z]{13})(?:/step_|$))",
            path.read_text(errors="replace"),
            flags=re.MULTILINE,
        )
    except OSError:
        return None
    if found is None:
        return None
    return found[1] or (job_of_run(found[2]) if job_of_run else None)
