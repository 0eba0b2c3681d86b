"""Slurm's list of jobs, read so that no user can speak for another's job."""

import os
import re
import subprocess
from collections import Counter
from collections.abc import Collection, Mapping

from .record import SlurmJob, parse

_NUMBER = re.compile(r"JobId=(\d+) ")
_GRES = re.compile(r" Gres=(\S*)")
_ID = re.compile(r"\d{1,18}(?:[_+]\d{1,18})?")
_COUNT = re.compile(r"(?:^|,)(gpu|shard)(?::[A-Za-z][^:,(]*)?:(\d+)")


class SlurmAway(Exception):
    """Slurm cannot be asked; the message says what was expected, what came, and what to do."""


class Listing:
    """Asks `scontrol` for all jobs.

    A user may put a newline and a whole made-up record into a job's name or comment. So a number that comes twice is asked for by
    itself, where its own record comes first; and a number not seen before must be in `squeue`'s list, which prints numbers alone.

    Args:
        environment: Added to the environment of the commands (SLURM_CONF, say).
        timeout: Seconds that one command may take.
    """

    def __init__(self, environment: Mapping[str, str] | None = None, timeout: float = 10.0) -> None:
        self._environment = {**os.environ, **(environment or {}), "SLURM_TIME_FORMAT": "%s", "LC_ALL": "C"}
        self._timeout = timeout
        self._confirmed: frozenset[str] = frozenset()
        self._shards_per_gpu: int | None = None
        self.unreadable = 0

    def read(self) -> dict[str, SlurmJob]:
        """Return all jobs that Slurm knows, by the id that it prints. Arrays that wait as a whole are left out.

        Raises:
            SlurmAway: Slurm does not answer, or its commands are not installed.
        """
        lines = [line for line in self._call("scontrol", "show", "job", "-d", "-o").split("\n") if line.strip()]
        numbers = Counter(found[1] for line in lines if (found := _NUMBER.match(line)))
        twice = {number for number, times in numbers.items() if times > 1}
        jobs = [job for line in lines if (job := parse(line)) and job.number not in twice]
        jobs += [job for number in sorted(twice) if (job := self._one(number))]
        self.unreadable = len(numbers) - len({job.number for job in jobs})
        confirmed = self._confirm({job.number for job in jobs})
        return {job.job: job for job in jobs if job.number in confirmed and _single(job.job)}

    def owners(self, jobs: Collection[str]) -> dict[str, int]:
        """Return the user ids of those of `jobs` that Slurm knows, by any of their names: number, array task, part of a job.

        What `squeue` is asked to print holds nothing that a user chose.

        Raises:
            SlurmAway: Slurm does not answer, or its command is not installed.
        """
        asked = sorted({job for job in jobs if _ID.fullmatch(job)})
        # Parts of a heterogeneous job go by the number of the whole.
        numbers = sorted({job.partition("+")[0] for job in asked})
        if not numbers:
            return {}
        try:
            listed = self._call(
                "squeue", "--noheader", "--states=all", "--array", f"--jobs={','.join(numbers)}", "--format=%A %F %i %U"
            )
        except SlurmAway as error:
            if "Invalid job id" in str(error):
                return {}
            raise
        found: dict[str, int] = {}
        for line in listed.splitlines():
            *names, user = line.split()
            if user.isdecimal():
                found |= dict.fromkeys(names, int(user))
        return {job: found[job] for job in asked if job in found}

    def gpus(self, job: SlurmJob) -> float | None:
        """Return how many GPUs a job holds, shards as parts of one; None where not known."""
        if job.gpus or not job.shards:
            return job.gpus
        if self._shards_per_gpu is None:
            self._shards_per_gpu = 0
            for gres in _GRES.findall(self._call("scontrol", "show", "node", "-o")):
                counts = {kind: int(number) for kind, number in _COUNT.findall(gres)}
                if counts.get("gpu"):
                    self._shards_per_gpu = max(self._shards_per_gpu, counts.get("shard", 0) // counts["gpu"])
        return job.shards / self._shards_per_gpu if self._shards_per_gpu else None

    def _one(self, number: str) -> SlurmJob | None:
        """Ask for one job. Its own record comes first; what follows a newline is not Slurm's."""
        try:
            first = self._call("scontrol", "show", "job", "-d", "-o", number).split("\n", 1)[0]
        except SlurmAway:
            return None  # forgotten meanwhile, or never there
        job = parse(first)
        return job if job and job.number == number else None

    def _confirm(self, numbers: Collection[str]) -> frozenset[str]:
        """Return those numbers that are jobs; asks Slurm only where there are new ones."""
        if not self._confirmed.issuperset(numbers):
            self._confirmed = frozenset(self._call("squeue", "--noheader", "--states=all", "--format=%A").split())
        self._confirmed &= frozenset(numbers)
        return self._confirmed

    def _call(self, *command: str) -> str:
        shown = " ".join(command)
        try:
            done = subprocess.run(
                command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="backslashreplace",
                timeout=self._timeout,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise SlurmAway(
                f"expected an answer to `{shown}` within {self._timeout:g} s, got none: see whether slurmctld is up"
            ) from error
        except OSError as error:
            raise SlurmAway(
                f"expected the command {command[0]}, got {error}: install Slurm's client commands"
            ) from error
        if done.returncode:
            complaint = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
            raise SlurmAway(f"expected `{shown}` to be answered, got {complaint!r}: see whether slurmctld is up")
        return done.stdout


def _single(job: str) -> bool:
    """False for an array that waits as a whole (`4711_1-9%2`): its tasks appear one by one."""
    return job.partition("_")[2].isdecimal() or "_" not in job
