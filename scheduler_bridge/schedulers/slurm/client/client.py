"""Queries and commands of Slurm."""

import contextlib
import os
import pwd
import re
import tempfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from . import het_job, node, submission
from .commands import RunCommand, SlurmCommands
from .errors import InvalidSlurmJobId, SlurmRefused, UnknownSlurmJob
from .gres import shards_per_gpu
from .job import NONE, SlurmJob
from .job_list import JobList
from .node import SlurmNode

_JOB_ID = re.compile(r"[1-9][0-9]{0,17}(?:_[0-9]{1,18})?", re.ASCII)
"""A job, or one task of an array, as Slurm prints it. Nothing else reaches a command line but their parts' numbers."""
_PRINTED_ID = re.compile(rf"{_JOB_ID.pattern}|[1-9][0-9]{{0,17}}\+[0-9]{{1,18}}", re.ASCII)
"""The same, or a part of a heterogeneous job, which means the whole job."""
_COMMENT_LENGTH = 4000
"""Characters of a comment that are read; `squeue` fills what is shorter with blanks."""
_ID_LENGTH = 40  # width of the column of job ids
_ROW = re.compile(r"^([0-9]+(?:_[0-9]+|\+([0-9]+))?) +", re.ASCII | re.MULTILINE)
"""Beginning of a row: a job, a task, or a part of a job and its number."""


class SlurmClient:
    """Slurm's jobs and nodes, read so that no user can forge another's job (see `job_list`), and what may be done to them."""

    def __init__(self, run: RunCommand | None = None) -> None:
        self._run = run or SlurmCommands()
        self._list = JobList(self._run)
        self._shards_per_gpu: int | None = None

    @property
    def unreadable(self) -> int:
        """Number of jobs in the last list whose record cannot be distinguished from a text of their user."""
        return self._list.unreadable

    def jobs(self, *, arrays: bool = False) -> dict[str, SlurmJob]:
        """Return all jobs that Slurm knows, by the id that it prints; the parts of a heterogeneous job as one.

        Args:
            arrays: Arrays that wait as a whole (`4711_1-9%2`) are among them.

        Raises:
            SlurmError: Slurm does not answer, or refuses.
        """
        jobs = self._list.all()
        return {job.job: job for job in het_job.merge_all(jobs) if arrays or not job.is_array}

    def job(self, name: str) -> SlurmJob:
        """Return one job, or one task of an array. A part of a heterogeneous job (`4711+1`) means the whole job.

        Raises:
            UnknownSlurmJob: Slurm does not know it, or forgot it (MinJobAge).
            SlurmRefused: It is no id, an array as a whole, or its record cannot be distinguished from a text of its user.
            SlurmUnavailable: Slurm does not answer.
        """
        seen = self._record(_job_id(name))
        if not seen.het_numbers:
            return seen
        if seen.number != seen.het_numbers[0]:
            raise SlurmRefused("the number of a whole job", f"{name}, a part of {seen.job}", "name the whole job")
        return het_job.merge([seen, *self._parts(seen)])

    def _parts(self, first: SlurmJob) -> Iterable[SlurmJob]:
        for number in first.het_numbers[1:]:
            with contextlib.suppress(UnknownSlurmJob):  # forgotten right now: so are the others, soon
                part = self._record(number)
                if part.het_numbers == first.het_numbers:
                    yield part

    def _record(self, name: str) -> SlurmJob:
        if job := self._list.find(name):
            return job
        came = "an array without a task's number, or a job whose name holds text like Slurm's own fields"
        raise SlurmRefused(f"one readable record of job {name}", came, "nothing was done; act by hand")

    def owners(self, names: Collection[str]) -> dict[str, int]:
        """Return the user ids of those of `names` that Slurm knows as jobs: a number, an array task, a part of a job.

        What `squeue` is asked to print holds nothing that a user chose.

        Raises:
            SlurmError: Slurm does not answer, or refuses.
        """
        # Asked for a number beyond 2**31 - 1, `squeue` answers for none of the others either.
        asked = sorted({name for name in names if _PRINTED_ID.fullmatch(name) and _number(name) < 2**31})
        # Parts of a heterogeneous job go by the number of the whole.
        numbers = sorted({name.partition("+")[0] for name in asked})
        if not numbers:
            return {}
        options = ("--noheader", "--states=all", "--array", f"--jobs={','.join(numbers)}", "--format=%A %F %i %U")
        try:
            listed = self._run("squeue", *options)
        except UnknownSlurmJob:
            return {}
        found: dict[str, int] = {}
        for line in listed.splitlines():
            *called, user = line.split() or [""]
            if user.isascii() and user.isdecimal():
                found |= dict.fromkeys(called, int(user))
        return {name: found[name] for name in asked if name in found}

    def names(self, sluids: Collection[str]) -> dict[str, str]:
        """Return the ids of the jobs whose present runs have those SLUIDs that Slurm knows; of a part of a job, that of the whole.

        Raises:
            SlurmError: Slurm does not answer, or refuses: releases before 25.11 know no SLUIDs.
        """
        # Slurm's id of one run of a job, since 25.11.
        asked = sorted(each for each in sluids if re.fullmatch(r"s[0-9A-HJKMNP-TV-Z]{13}", each, flags=re.ASCII))
        if not asked:
            return {}
        options = (
            "--noheader",
            "--states=all",
            "--array",
            f"--jobs={','.join(asked)}",
            "--Format=sluid:20,jobarrayid:40",
        )
        try:
            rows = [line.split() for line in self._run("squeue", *options).splitlines()]
        except UnknownSlurmJob:
            return {}
        found = {row[0]: row[1].partition("+")[0] for row in rows if len(row) == 2}
        return {sluid: found[sluid] for sluid in asked if sluid in found}

    def shards_per_gpu(self) -> int:
        """Return how many shards make a whole GPU; 0 where there are none. Asked once."""
        if not self._shards_per_gpu:
            self._shards_per_gpu = shards_per_gpu(self._run("scontrol", "show", "node", "-o"))
        return self._shards_per_gpu

    def gpus(self, job: SlurmJob) -> float | None:
        """Return how many GPUs a job holds, or asks for while it holds nothing; shards as parts of one. None where not known."""
        if job.gpus:
            return job.gpus
        asked = {} if job.shares else job.asked_per_node
        shards = job.shards or asked.get("shard", 0.0) * job.node_count
        whole = self.shards_per_gpu() if shards else 0
        if shards and not whole:
            return None
        return asked.get("gpu", 0.0) * job.node_count + (shards / whole if whole else 0.0) or None

    def check_node(self, name: str) -> None:
        """Raise `SlurmRefused` where Slurm has no such node."""
        self._run("scontrol", "show", "node", _node_name(name))

    def nodes(self) -> dict[str, SlurmNode]:
        """Return all nodes by name."""
        read = (node.parse(line) for line in self._run("scontrol", "show", "node", "-o").splitlines())
        return {each.name: each for each in read if each}

    def update_node(self, name: str, changes: Mapping[str, str]) -> None:
        """Change a node (`scontrol update`, whose manual names the fields). Slurm lets only administrators do so."""
        changed = (f"{key}={value}" for key, value in changes.items())
        self._run("scontrol", "update", f"NodeName={_node_name(name)}", *changed)

    def describe_node(self, name: str) -> str:
        """Return what Slurm shows of a node and of the jobs there, as people read it."""
        jobs = ("--noheader", "--states=all", f"--nodelist={_node_name(name)}", "--format=%i %u %T %S %N")
        return f"{self._run('scontrol', 'show', 'node', name)}\n{self._run('squeue', *jobs)}"

    def reserve_node(self, name: str) -> None:
        """Keep everybody but the user of this process from starting jobs on a node, until `unreserve_node`."""
        fields = {
            "ReservationName": reservation_name(name),
            "Flags": "MAINT,IGNORE_JOBS",
            "Nodes": _node_name(name),
            "Users": pwd.getpwuid(os.geteuid()).pw_name,
            "StartTime": "now",
            "Duration": "UNLIMITED",
        }
        self._run("scontrol", "create", "reservation", *(f"{key}={value}" for key, value in fields.items()))

    def unreserve_node(self, name: str) -> None:
        """Undo `reserve_node`."""
        self._run("scontrol", "delete", f"ReservationName={reservation_name(name)}")

    def admin_comment(self, name: str) -> str:
        """Return a job's AdminComment, which its user cannot write; empty for none.

        It is asked for alone: among other fields, a user's text could be mistaken for it.
        """
        return self._field(name, "admin_comment")

    def comment(self, name: str) -> str:
        """Return the comment that a job's user may write, in one line; empty for none."""
        return " ".join(self._field(name, "comment").split())

    def _field(self, name: str, field: str) -> str:
        # Without --array, tasks that wait are listed as one; the parts of a heterogeneous job are listed all, in any order.
        columns = f"--Format=jobarrayid:{_ID_LENGTH},{field}:{_COMMENT_LENGTH}"
        listed = self._run("squeue", "--noheader", "--states=all", "--array", f"--jobs={_job_id(name)}", columns)
        rows = _ROW.split(listed)
        found = next(
            (text for part, text in zip(rows[2::3], rows[3::3], strict=True) if part in (None, "0")), ""
        ).strip()
        return "" if found in NONE else found

    def comments_of(self, user: str) -> dict[str, str]:
        """Return the comments of a user's jobs, by id. The user may write rows of their own making into it."""
        columns = f"--Format=jobarrayid:{_ID_LENGTH},comment:{_COMMENT_LENGTH}"
        rows = _ROW.split(self._run("squeue", "--noheader", "--states=all", "--array", f"--user={user}", columns))
        return dict(zip(rows[1::3], rows[3::3], strict=True))

    def dependencies(self) -> dict[str, str]:
        """Return what each waiting job waits for, as Slurm prints it, by its id; an array that waits as a whole by its number."""
        columns = f"--Format=jobarrayid:{_ID_LENGTH},dependency:{_COMMENT_LENGTH}"
        rows = self._run("squeue", "--noheader", "--states=PENDING", columns).splitlines()
        found = {row[:_ID_LENGTH].partition("_[")[0].strip(): row[_ID_LENGTH:].strip() for row in rows}
        return {name: text for name, text in found.items() if text not in NONE}

    def columns(self, name: str) -> dict[str, str]:
        """Return what a job was submitted with (see `submission.COLUMNS`)."""
        wanted = ",".join(f"{column}:{width}" for column, width in submission.COLUMNS.items())
        asked = ("--noheader", "--states=all", "--array", f"--jobs={_job_id(name)}", f"--Format={wanted}")
        return submission.read_columns(self._run("squeue", *asked))

    def batch_script(self, name: str) -> bytes:
        """Return the script of a batch job. Raises `SlurmRefused` where there is none, or this user may not read it."""
        with tempfile.TemporaryDirectory(prefix="schedmate-") as directory:
            file = Path(directory) / "script"
            self._run("scontrol", "write", "batch_script", _job_id(name), str(file))
            try:
                return file.read_bytes()
            except FileNotFoundError as error:
                raise SlurmRefused(f"the script of job {name}", "none", f"see `scontrol show job {name}`") from error

    def hold(self, name: str) -> None:
        """Keep a waiting job from starting; its user cannot release it."""
        self._run("scontrol", "hold", _job_id(name))

    def cancel(self, name: str) -> None:
        """End a job for good. Slurm does not report whether there was one."""
        self._run("scancel", _job_id(name))

    def signal(self, name: str, signal: str) -> None:
        """Send a signal (`USR1`) to the steps of a job, and not to its batch script: a shell that does not expect it would die."""
        if not re.fullmatch(r"[A-Z][A-Z0-9]{1,9}", signal, flags=re.ASCII):
            raise SlurmRefused("a signal's name such as USR1", repr(signal[:40]), "name it as `kill -l` does")
        self._run("scancel", f"--signal={signal}", _job_id(name))

    def update_job(self, name: str, changes: Mapping[str, str]) -> None:
        """Change a job (`scontrol update`, whose manual names the fields)."""
        self._run("scontrol", "update", f"JobId={_job_id(name)}", *(f"{key}={value}" for key, value in changes.items()))

    def requeue_hold(self, name: str, *, running: bool) -> None:
        """Stop a job where it runs, and put it back in the queue, held. It is not at rest at once.

        Args:
            name: The job's id.
            running: Only if it runs still when Slurm takes the command: one that its user cancelled meanwhile must not come back.
        """
        # A job that is over takes no comment; so its state marks it as the bridge's until it is at rest (`is_marked`).
        self._run("scontrol", "requeuehold", "Incomplete" if running else "State=SpecialExit", _job_id(name))

    def release(self, name: str) -> None:
        """Let a held job start."""
        self._run("scontrol", "release", _job_id(name))


def reservation_name(node: str) -> str:
    """Return how `SlurmClient.reserve_node` calls its reservation of a node."""
    return f"schedmate-check-{node}"


def _number(name: str) -> int:
    """Return the number of a job, of an array or of a heterogeneous job, from an id as Slurm prints it."""
    return int(name.partition("+")[0].partition("_")[0])


def _job_id(name: str) -> str:
    """Return `name` if it is one job's id; of a part of a heterogeneous job, the id of the whole."""
    if not _PRINTED_ID.fullmatch(name):
        raise InvalidSlurmJobId(
            "a Slurm job id such as 4711 or 4711_3", repr(name[:40]), "give the id as squeue prints it"
        )
    return name.partition("+")[0]


def _node_name(name: str) -> str:
    """Return `name` if it is one node's name."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}", name, flags=re.ASCII):
        raise SlurmRefused("a node's name", repr(name[:40]), "name nodes as sinfo prints them")
    return name
