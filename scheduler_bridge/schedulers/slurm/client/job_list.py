"""Slurm's list of jobs, read so that no user's text is mistaken for Slurm's.

Three sources, in this order:

1. `scontrol show job --json`, since 23.02. Where it takes too long, or a build cannot write it, it is not asked again.
2. The text of `scontrol show job`. A user may put a newline and a whole made-up line into a job's name or comment. So a number not seen
   before must be in a list of `squeue` that prints numbers alone. A line that can be read in two ways is in doubt.
3. For jobs in doubt: `squeue --json`; without it, the text of that job alone, which begins with its own line.
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

import structlog

from . import json_list, text
from .commands import RunCommand
from .errors import SlurmError, SlurmRefused, SlurmUnavailable, UnknownSlurmJob
from .job import NONE, SlurmJob

log = structlog.get_logger(__name__)

JSON_SECONDS = 5.0
"""Longest time for a list as JSON. A larger cluster is read as text, which takes a tenth of the time."""
_SINGLE_LIMIT = 20
"""Jobs in doubt that are asked for one by one in one look, 4 ms each: a user can put any number of them in doubt."""
_NUMBER_WIDTH, _TRES_WIDTH = 20, 1024
_TRES = ("tres-per-job", "tres-per-node", "tres-per-task")
_SHOW = ("scontrol", "show", "job", "-d")


class JobList:
    """Reads all jobs, or one.

    Attributes:
        unreadable: Number of jobs in the last list whose record cannot be distinguished from a text of their user.
    """

    def __init__(self, run: RunCommand, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._run, self._monotonic = run, monotonic
        self._confirmed: frozenset[str] = frozenset()
        self._scontrol_has_json = self._squeue_has_json = True
        self.unreadable = 0

    def all(self) -> dict[str, SlurmJob]:
        """Return all jobs by Slurm's own number.

        Raises:
            SlurmError: Slurm does not answer, or refuses.
        """
        began = self._monotonic()
        try:
            jobs = self._all_from_json()
        except SlurmUnavailable:
            jobs = None
        seconds = self._monotonic() - began
        if jobs is None:
            jobs = self._all_from_text()  # raises where Slurm is away
        if seconds > JSON_SECONDS and self._scontrol_has_json:
            self._scontrol_has_json = False
        return jobs

    def find(self, name: str) -> SlurmJob | None:
        """Return the job, or the task of an array, of that id; None where its record is in doubt.

        Raises:
            SlurmError: Slurm does not know it, does not answer, or refuses.
        """
        if job := self._one_from_json(name):
            return job
        # What follows a newline is a user's text, another task of the array, or another part of the job.
        line = self._run(*_SHOW, "-o", name).split("\n", 1)[0]
        job, certain = text.parse_certain(line)
        if job and job.is_called(name):
            return job if certain else self._with_tres({job.number: job})[job.number]
        return next((each for each in self._listed_by_squeue() if each.is_called(name)), None)

    def _one_from_json(self, name: str) -> SlurmJob | None:
        if not self._scontrol_has_json:
            return None
        try:
            found = json_list.parse(self._run(*_SHOW, "--json", name))
        except SlurmRefused as error:
            if "option" in str(error):  # it knows no --json; other errors may be about this job
                self._scontrol_has_json = False
            return None
        return next((each for each in found if each.is_called(name)), None)

    def _all_from_json(self) -> dict[str, SlurmJob] | None:
        """Return all jobs; None where they must be read as text."""
        if not self._scontrol_has_json:
            return None
        try:
            entries = json_list.entries(self._run(*_SHOW, "--json"))
        except SlurmRefused:
            self._scontrol_has_json = False
            return None
        jobs = {job.number: job for each in entries or () if (job := json_list.job_of(each))}
        if entries is None or (entries and not jobs):
            self._scontrol_has_json = False
            return None
        self.unreadable = len(entries) - len(jobs)
        return jobs

    def _all_from_text(self) -> dict[str, SlurmJob]:
        lines = self._run(*_SHOW, "-o").split("\n")
        numbers = Counter(found[1] for line in lines if (found := text.NUMBER.match(line)))
        real = self._confirm(numbers.keys())
        jobs: dict[str, SlurmJob] = {}
        uncertain: dict[str, SlurmJob] = {}
        for line in lines:
            job, certain = text.parse_certain(line)
            if job and job.number in real and numbers[job.number] == 1:
                (jobs if certain else uncertain)[job.number] = job
        jobs |= self._with_tres(uncertain)
        jobs |= self._resolve(real - jobs.keys())
        self.unreadable = len(real - jobs.keys())
        return jobs

    def _confirm(self, numbers: Collection[str]) -> frozenset[str]:
        """Return those numbers that are jobs; asks Slurm only where there are new ones."""
        if not self._confirmed.issuperset(numbers):
            self._confirmed = frozenset(self._run("squeue", "--noheader", "--states=all", "--format=%A").split())
        self._confirmed &= frozenset(numbers)
        return self._confirmed

    def _with_tres(self, jobs: Mapping[str, SlurmJob]) -> dict[str, SlurmJob]:
        """Return jobs with what they ask for as `squeue` lists it: in their text, a file's name may hold the same."""
        if not jobs:
            return {}
        widths = [f"jobid:{_NUMBER_WIDTH}", *(f"{name}:{_TRES_WIDTH}" for name in _TRES)]
        chosen = [f"--jobs={','.join(jobs)}"] if len(jobs) <= _SINGLE_LIMIT else []
        try:
            listed = self._run("squeue", "--noheader", "--states=all", *chosen, f"--Format={','.join(widths)}")
        except UnknownSlurmJob:  # forgotten meanwhile
            listed = ""
        rows = {row[:_NUMBER_WIDTH].strip(): row[_NUMBER_WIDTH:] for row in listed.splitlines()}
        return {number: _with_columns(job, rows.get(number, "")) for number, job in jobs.items()}

    def _resolve(self, doubtful: Collection[str]) -> dict[str, SlurmJob]:
        """Return those of the jobs in doubt that can be read in another way."""
        if not doubtful:
            return {}
        if listed := self._listed_by_squeue():
            return {job.number: job for job in listed if job.number in doubtful}
        asked = (self._single(number) for number in sorted(doubtful)[:_SINGLE_LIMIT])
        return {job.number: job for job in asked if job}

    def _single(self, number: str) -> SlurmJob | None:
        try:
            job = self.find(number)
        except (UnknownSlurmJob, SlurmRefused):
            return None  # forgotten meanwhile, or never there
        return job if job and job.number == number else None

    def _listed_by_squeue(self) -> Iterable[SlurmJob]:
        """Return all jobs as JSON has them; nothing where Slurm cannot write it."""
        if not self._squeue_has_json:
            return []
        try:
            return json_list.parse(self._run("squeue", "--json"))
        except SlurmError as error:  # also where it takes too long: nothing may hang on one user's text
            self._squeue_has_json = False
            log.info("slurm_without_json", error=str(error))
            return []


def _with_columns(job: SlurmJob, row: str) -> SlurmJob:
    cells = [row[begin * _TRES_WIDTH : (begin + 1) * _TRES_WIDTH].strip() for begin in range(len(_TRES))]
    per_job, per_node, per_task = ("" if cell in NONE else cell for cell in cells)
    return replace(job, tres_per_job=per_job, tres_per_node=per_node, tres_per_task=per_task)
