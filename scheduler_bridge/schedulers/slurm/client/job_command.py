"""A command of the operator's, run inside a running job, on each of its nodes."""

from collections.abc import Mapping, Sequence

from .as_user import run_as
from .client import SlurmClient
from .errors import SlurmError

MAX_OUTPUT = 64 << 10
"""Bytes that are kept of what one node prints, the last ones."""
_SCRIPT = f'timeout -k 5 "$0" "$@" 2>&1 </dev/null | tail -c {MAX_OUTPUT}'


class SlurmJobCommand:
    """Runs a command as a step of a job, next to what runs there and as the job's user.

    Args:
        command: Program and arguments, as they are on the nodes.
        limit_s: Seconds that it may take.
        environment: Where Slurm is (SLURM_CONF, PATH), added to this process's own.
        cluster: The cluster of the jobs; empty for the one of slurm.conf.
    """

    def __init__(
        self,
        command: Sequence[str],
        limit_s: float = 20.0,
        environment: Mapping[str, str] | None = None,
        cluster: str = "",
    ) -> None:
        self._command, self._limit_s, self._environment = tuple(command), limit_s, environment
        self._where = (f"--clusters={cluster}",) if cluster else ()

    def __call__(self, client: SlurmClient, job: str) -> str:
        """Return what the command printed, each line behind the number of its task; why it did not run, where it did not."""
        try:
            seen = client.job(job)
            options = [f"--jobid={seen.number}", "--overlap", "--ntasks-per-node=1", f"--nodes={seen.node_count}"]
            options += ["--mem=0", "--gres=none", "--chdir=/", "--export=NONE", "--label", "--quiet", "--wait=5"]
            command = ["srun", *self._where, *options, "/bin/sh", "-c", _SCRIPT, f"{self._limit_s:g}", *self._command]
            # Seconds that Slurm gets for the step in addition to the command's own limit.
            done = run_as(seen.user, command, timeout_s=self._limit_s + 15, environment=self._environment)
        except SlurmError as error:
            return str(error)
        # At most 1 MB is kept of all nodes together.
        return (done.stdout + done.stderr)[-(1 << 20) :].decode(errors="replace")
