"""Slurm's commands run as the user of a job: only that user may submit for themselves, or add a step to their job."""

import os
import pwd
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from .errors import SlurmRefused, SlurmUnavailable


def run_as(
    user: str,
    command: Sequence[str],
    *,
    timeout_s: float,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run `command` as `user`, with nothing of this process's environment but where Slurm is.

    So no secret of ours reaches a job, and what the command reads, its user may read.

    Raises:
        SlurmRefused: There is no such user, or this process is neither root nor that user.
        SlurmUnavailable: The command is not installed, or did not end in time.
    """
    try:
        return subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            timeout=timeout_s,
            check=False,
            **_identity(user, environment),
        )
    except subprocess.TimeoutExpired as error:
        raise SlurmUnavailable(
            f"{command[0]} to end within {timeout_s:g} s", "no answer", "see scontrol ping"
        ) from error
    except OSError as error:
        raise SlurmUnavailable(f"the command {command[0]}", str(error), "install Slurm's client commands") from error


def start_as(user: str, command: Sequence[str]) -> "subprocess.Popen[bytes]":
    """Start `command` as `user`, as `run_as` does, with pipes to its standard input and output; its standard error is dropped.

    Raises:
        SlurmRefused: As `run_as`.
        SlurmUnavailable: The command cannot be started.
    """
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            **_identity(user),
        )
    except OSError as error:
        raise SlurmUnavailable(f"the command {command[0]}", str(error), "do it by hand") from error


def _identity(user: str, environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the arguments of `subprocess` by which a process is that of `user`."""
    try:
        account = pwd.getpwnam(user)
    except KeyError as error:
        raise SlurmRefused("a user of this host", repr(user[:40]), "do it by hand") from error
    if os.geteuid() not in (0, account.pw_uid):
        came = f"this process runs as user {os.geteuid()}"
        raise SlurmRefused(f"root, who may do it for {user}, or {user}", came, "do it by hand")
    inherited = {**os.environ, **(environment or {})}
    clean = {"LC_ALL": "C", "HOME": account.pw_dir, "USER": user, "LOGNAME": user}
    clean |= {name: value for name, value in inherited.items() if name in ("PATH", "SLURM_CONF")}
    other = os.geteuid() != account.pw_uid
    return {
        "env": clean,
        "cwd": "/",
        "user": account.pw_uid if other else None,
        "group": account.pw_gid if other else None,
        "extra_groups": os.getgrouplist(user, account.pw_gid) if other else None,
    }
