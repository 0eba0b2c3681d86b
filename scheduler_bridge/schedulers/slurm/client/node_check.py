"""A command of the operator's, run on one node through Slurm."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .client import SlurmClient, reservation_name
from .commands import RunCommand, SlurmCommands
from .errors import SlurmError

WAIT_S = 10
"""Seconds that Slurm may take to find a place for the check: a node whose CPUs are all taken is not checked."""
MAX_OUTPUT = 64 << 10
"""Bytes of its output that are kept, the last ones."""
_END = re.compile(r"^schedmate-check: ([0-9]{1,3})$", re.MULTILINE)
_SCRIPT = f'(timeout -k 5 "$0" "$@" 2>&1; code=$?; echo; echo "schedmate-check: $code") | tail -c {MAX_OUTPUT}'


@dataclass(frozen=True, slots=True)
class Checked:
    """The outcome of a check.

    Attributes:
        exit_code: Of the command; None where it did not run, or did not end.
        output: What it printed, the last part; why it did not run, where it did not.
    """

    exit_code: int | None
    output: str


class SlurmNodeCheck:
    """Runs a command on a node, as a job of one task.

    Args:
        command: Program and arguments, as they are on the node.
        options: Further options of `srun` (`--partition=…`, `--gres=gpu:8`).
        limit_s: Seconds that the command may take.
        environment: Added to the environment of Slurm's commands.
        run: Runs the commands; None: Slurm's own.
        cluster: The cluster of the nodes; empty for the one of slurm.conf.
    """

    def __init__(
        self,
        command: Sequence[str],
        options: Sequence[str] = (),
        limit_s: float = 60.0,
        environment: Mapping[str, str] | None = None,
        *,
        run: RunCommand | None = None,
        cluster: str = "",
    ) -> None:
        self._command, self._options, self._limit_s = tuple(command), tuple(options), limit_s
        self._run = run or SlurmCommands(environment, limit_s + WAIT_S + 20, cluster)

    def __call__(self, client: SlurmClient, node: str, *, reserved: bool = False) -> Checked:
        """Run the command on a node.

        Args:
            client: Slurm; asked whether there is such a node.
            node: Its name.
            reserved: In the reservation that keeps others away from it.
        """
        minutes = int(self._limit_s // 60) + 1
        options = [f"--nodelist={node}", "--nodes=1", "--ntasks=1", f"--immediate={WAIT_S}", f"--time={minutes}"]
        options += ["--job-name=schedmate-check", "--chdir=/", "--export=NONE", "--quiet", *self._options]
        options += [f"--reservation={reservation_name(node)}"] if reserved else []
        try:
            client.check_node(node)
            printed = self._run("srun", *options, "/bin/sh", "-c", _SCRIPT, f"{self._limit_s:g}", *self._command)
        except SlurmError as error:
            return Checked(None, str(error))
        end = _END.search(printed, max(0, len(printed) - 40))
        if end is None:
            return Checked(None, f"the check did not end\n{printed}")
        code = int(end[1])
        # `timeout` (coreutils) exits with 124 at its time limit.
        if code == 124:
            return Checked(None, f"the check took longer than {self._limit_s:g} s\n{printed}")
        return Checked(code, printed[: end.start()].rstrip("\n"))
