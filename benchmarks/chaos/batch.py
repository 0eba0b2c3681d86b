"""Honest jobs that a real Slurm runs, each with a pipe in its script."""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.chaos.jobs import Job

_SCRIPT = """\
#!/bin/sh
{python} -m schedmate pipe -- {program}
code=$?
echo $code > {ended}.new && mv {ended}.new {ended}
exit $code
"""


@dataclass
class BatchJob(Job):
    """A job that is submitted; Slurm says its name. One that Slurm refuses, since its controller is away, never was.

    Attributes:
        number: Which of the run's jobs it is.
    """

    number: int = 0
    _submission: subprocess.Popen[str] | None = field(default=None, repr=False)

    @property
    def label(self) -> str:
        """What its program calls it."""
        return f"batch-{self.number}"

    def start(self, environment: Mapping[str, str], scratch: Path) -> None:
        """Submit it."""
        python, words = shlex.quote(sys.executable), shlex.join(self.command())
        script = _SCRIPT.format(python=python, program=words, ended=shlex.quote(str(self._ended(scratch))))
        line = ["sbatch", "--parsable", f"--output={self.output(scratch)}", f"--error={scratch}/pipes.log"]
        self._submission = subprocess.Popen(
            line, env={**os.environ, **environment}, cwd=scratch, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert self._submission.stdin
        self._submission.stdin.write(script)
        self._submission.stdin.close()

    def over(self, scratch: Path) -> bool:
        """Return whether it has ended, or was refused."""
        if self._submission is not None:
            if (code := self._submission.poll()) is None:
                return False
            assert self._submission.stdout
            self.name = self._submission.stdout.read().strip() if code == 0 else ""
            self._submission = None
        if not self.name:
            return True
        if not self._ended(scratch).exists():
            return False
        self.ended_with(int(self._ended(scratch).read_text()), scratch)
        return True

    def shipping_pid(self) -> None:
        """Return none: it runs below slurmd."""

    def kill(self) -> None:
        """Give its submission up; Slurm itself ends with the run."""
        if self._submission is not None:
            self._submission.kill()
            self._submission.wait()

    def _ended(self, scratch: Path) -> Path:
        return scratch / "printed" / f"{self.label}.exit"
