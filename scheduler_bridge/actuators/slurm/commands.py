"""How Slurm's commands are called: as lists, with a time limit, and with their complaints sorted."""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field

from scheduler_bridge.actuators.base import ActuatorError, SchedulerAway

JOB_ID = re.compile(r"[1-9][0-9]{0,9}(_[0-9]{1,9})?", re.ASCII)
"""A job, or one task of an array, as Slurm prints it. Nothing else reaches a command line."""

NODE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}", re.ASCII)

_AWAY = ("Unable to contact slurm controller", "Socket timed out", "Connection refused", "Unable to establish")


@dataclass(frozen=True, slots=True)
class SlurmSettings:
    """Time limits, and what a whole GPU is.

    Attributes:
        command_timeout: Seconds that one command may take.
        stop_timeout: Seconds that a running job may take to leave its nodes (KillWait, epilog) before we give up.
        rest: Whole seconds between the end of an attempt and the next start where the job may return to a node that it just left.
            A slurmd refuses credentials made within the second in which it revoked the job's last one ("Job credential revoked": the
            new attempt fails at once), and clocks of nodes differ a little. Slurm itself would wait for two minutes.
        settle: Seconds to wait for a requeued job to run before "it is in the queue" is taken as the answer.
        poll: Seconds between two looks.
        shards_per_gpu: Shards that make a whole GPU; 0 asks the nodes (their Gres: shards over GPUs).
        environment: Added to the environment of the commands (SLURM_CONF, say).
    """

    command_timeout: float = 10.0
    stop_timeout: float = 120.0
    rest: int = 2
    settle: float = 2.0
    poll: float = 0.1
    shards_per_gpu: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)


class UnknownJob(ActuatorError):
    """Slurm does not know the job, or does not know it any more."""


def call(settings: SlurmSettings, *command: str) -> str:
    """Run one of Slurm's commands and return what it printed.

    Raises:
        SchedulerAway: The controller does not answer, or the command is not installed.
        UnknownJob: Slurm says that the job id is not valid.
        ActuatorError: Slurm refused.
    """
    shown = " ".join(command)
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **settings.environment, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            timeout=settings.command_timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        limit = f"an answer within {settings.command_timeout:g} s"
        raise SchedulerAway(limit, f"none to `{shown}`", "see whether slurmctld is up (scontrol ping)") from error
    except OSError as error:
        raise SchedulerAway(f"the command {command[0]}", str(error), "install Slurm's client commands") from error
    if done.returncode == 0:
        return done.stdout
    complaint = " ".join((done.stderr or done.stdout).split()) or f"exit code {done.returncode}"
    if any(sign in complaint for sign in _AWAY):
        raise SchedulerAway("slurmctld to answer", complaint, "see whether slurmctld is up (scontrol ping)")
    if "Invalid job id" in complaint:
        raise UnknownJob(
            "a job that Slurm still knows", complaint, "it is gone after MinJobAge: submit it again by hand"
        )
    raise ActuatorError(
        f"`{shown}` to be accepted", complaint, "see slurmctld's log and the rights of the bridge's user"
    )


def checked_job(job: str) -> str:
    """Return `job` if it is one job's id. Raises `ActuatorError` otherwise."""
    if not JOB_ID.fullmatch(job):
        raise ActuatorError("a Slurm job id such as 4711 or 4711_3", repr(job[:40]), "give the id as squeue prints it")
    return job


def checked_node(node: str) -> str:
    """Return `node` if it is one node's name. Raises `ActuatorError` otherwise."""
    if not NODE_NAME.fullmatch(node):
        raise ActuatorError("a node's name", repr(node[:40]), "exclude nodes by the names that sinfo prints")
    return node
