"""Runs Slurm's commands with a time limit, and classifies their errors."""

import os
import subprocess
from collections.abc import Mapping
from typing import Protocol

from .errors import SlurmRefused, SlurmUnavailable, UnknownSlurmJob, is_away

_PING = "see whether slurmctld is up (scontrol ping)"


class RunCommand(Protocol):
    """Runs one of Slurm's commands. Tests pass one that answers with recorded output."""

    def __call__(self, *command: str) -> str:
        """Return what `command` printed. Raises `SlurmError`."""


class SlurmCommands:
    """Runs Slurm's commands on this host.

    Args:
        environment: Added to the environment of the commands (SLURM_CONF, for example).
        timeout_s: Seconds that one command may take.
        cluster: The cluster that they address, as slurmdbd knows it; empty for the one of slurm.conf.
    """

    def __init__(
        self, environment: Mapping[str, str] | None = None, timeout_s: float = 10.0, cluster: str = ""
    ) -> None:
        # Times as seconds since 1970, messages in English, and hidden partitions as well. Since 24.05, `squeue --json` leaves jobs out
        # that are over, unless all states are asked for.
        ours = {
            "SLURM_TIME_FORMAT": "%s",
            "LC_ALL": "C",
            "SCONTROL_ALL": "1",
            "SQUEUE_ALL": "1",
            "SQUEUE_STATES": "all",
        }
        # The environment must not choose the cluster.
        given = {name: value for name, value in os.environ.items() if name != "SLURM_CLUSTERS"}
        self._environment = {**given, **(environment or {}), **ours}
        self._options = (f"--clusters={cluster}",) if cluster else ()
        self._timeout_s = timeout_s

    def __call__(self, *command: str) -> str:
        """Run `command` and return what it printed.

        Raises:
            SlurmUnavailable: The controller does not answer in time, or the command is not installed.
            UnknownSlurmJob: Slurm answers that the job id is not valid.
            SlurmRefused: Slurm refused.
        """
        command = (command[0], *self._options, *command[1:])
        shown = " ".join(command)
        try:
            done = subprocess.run(
                command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="backslashreplace",
                timeout=self._timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise SlurmUnavailable(f"an answer within {self._timeout_s:g} s", f"none to `{shown}`", _PING) from error
        except OSError as error:
            raise SlurmUnavailable(
                f"the command {command[0]}", str(error), "install Slurm's client commands"
            ) from error
        # scontrol prints this instead of a script, for any reason, and exits with 0.
        if done.returncode == 0 and not done.stderr.startswith("job script retrieval failed"):
            return done.stdout
        complaint = " ".join((done.stderr or done.stdout).split()) or f"exit code {done.returncode}"
        if is_away(complaint):
            raise SlurmUnavailable("slurmctld to answer", complaint, _PING)
        if "Invalid job id" in complaint:
            raise UnknownSlurmJob(
                "a job that Slurm still knows", complaint, "it is gone after MinJobAge: submit it again by hand"
            )
        raise SlurmRefused(
            f"`{shown}` to be accepted", complaint, "see slurmctld's log and the rights of the user that runs it"
        )
