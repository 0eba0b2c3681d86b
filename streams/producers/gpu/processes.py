"""From a process on a GPU to the job that it belongs to."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

JOB_VARIABLES = ("SCHEDMATE_JOB", "SLURM_JOB_ID", "RAY_JOB_ID")
"""Where a process's environment names its job, the most explicit first."""

RANK_VARIABLES = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK")
"""Where it names its global rank. torchrun's `RANK` goes first: under it `SLURM_PROCID` counts launchers, not ranks."""

_SLURM_CGROUP = re.compile(r"/job_(\d+)(?:/|$)", re.MULTILINE)


class Owner(NamedTuple):
    """The job and the global rank of a process; None where they are not known."""

    job: str | None = None
    rank: int | None = None


def owner_of(pid: int, proc: Path = Path("/proc")) -> Owner:
    """Return whose process `pid` is, by the environment that it was started with.

    Another user's environment can be read only with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH. Without them the job still
    follows from the process's control group where Slurm tracks processes by cgroup, for that file is open to all.
    A process that has ended, or belongs to another pid namespace, has no owner.
    """
    owner = _owner_by_environment(_environment(proc / str(pid) / "environ"))
    if owner.job is None:
        return owner._replace(job=_job_by_cgroup(proc / str(pid) / "cgroup"))
    return owner


def _owner_by_environment(environment: Mapping[str, str]) -> Owner:
    job = next((environment[name] for name in JOB_VARIABLES if environment.get(name)), None)
    ranks = (environment[name] for name in RANK_VARIABLES if environment.get(name, "").isdecimal())
    rank = next(ranks, None)
    return Owner(job, None if rank is None else int(rank))


def _environment(path: Path) -> dict[str, str]:
    try:
        block = path.read_bytes()
    except OSError:
        return {}
    pairs = (entry.partition("=") for entry in block.decode(errors="replace").split("\0"))
    return {name: value for name, _, value in pairs}


def _job_by_cgroup(path: Path) -> str | None:
    try:
        found = _SLURM_CGROUP.search(path.read_text(errors="replace"))
    except OSError:
        return None
    return found[1] if found else None
