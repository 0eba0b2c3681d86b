"""Reads jobs that ended from files that a person hands over: what sacct prints, or a table of one's own.

A row that cannot be read is counted and passed over, never guessed.
"""

import csv
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from math import isfinite
from posixpath import join, normpath

from processors.advise.past import PastJob, SubmittedJob
from processors.advise.predictors.sacct import COMMAND, resources
from schedmate_records import UserError, Workload, decode

CSV_NEEDS = ("job", "command", "directory", "started", "ended")
CSV_MAY = ("user", "branch", "state", "gpu_utilisation", "workload")
_ENDED = (
    "COMPLETED",
    "FAILED",
    "CANCELLED",
    "TIMEOUT",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "DEADLINE",
    "BOOT_FAIL",
    "PREEMPTED",
)
NEVER = ("Unknown", "None", "")
"""Times of sacct that have not come."""
_FLAGS = frozenset({"--exclusive", "--requeue", "--no-requeue", "--hold", "--parsable", "--wait", "--overcommit", "--quiet", "--verbose",
                    "-H", "-O", "-Q", "-s", "-v", "-W", "-I", "-k"})  # fmt: skip
"""Options of sbatch that take no value (sbatch(1))."""
_LONGEST = 65_536  # characters of a line

Row = Mapping[str, str]
Named = tuple[str, PastJob]


class Accounting:
    """Yields the jobs of a file; `skipped` counts rows that could not be read, `unfinished` those without a start or an end.

    Args:
        lines: Of the file, the first one the header.
        delimiter: Between its columns.
        needs: Columns without which it is no such file.
        job_of: Makes a job of a row; None for one that has not ended. `ValueError` where it cannot be read.
        example: What prints such a file.
    """

    def __init__(
        self,
        lines: Iterable[str],
        delimiter: str,
        needs: tuple[str, ...],
        job_of: Callable[[Row], Named | None],
        example: str,
    ) -> None:
        self.skipped = self.unfinished = 0
        self._job_of = job_of
        bounded = (line[:_LONGEST] for line in lines)
        raw = delimiter == "|"  # sacct quotes nothing
        self._rows = csv.DictReader(bounded, delimiter=delimiter, quoting=csv.QUOTE_NONE if raw else csv.QUOTE_MINIMAL)
        missing = [name for name in needs if name not in (self._rows.fieldnames or ())]
        if missing:
            raise UserError(f"expected a first line with the columns {', '.join(missing)}; {example}")

    def __iter__(self) -> Iterator[Named]:
        while True:
            try:
                row = next(self._rows)
                if None in row:  # a delimiter in a user's text shifts the columns after it
                    raise ValueError("more cells than columns")
                named = self._job_of({name: value or "" for name, value in row.items() if name})
            except StopIteration:
                return
            except (ValueError, OverflowError, csv.Error, AttributeError):
                self.skipped += 1
                continue
            if named is None:
                self.unfinished += 1
            else:
                yield named


def sacct(lines: Iterable[str], job_of: Callable[[Row], Named | None] | None = None) -> Accounting:
    """Return the jobs of what `COMMAND` printed. `job_of` replaces `job_of_sacct`."""
    return Accounting(
        lines, "|", ("JobID", "State", "Start", "End"), job_of or job_of_sacct, f"as this prints: {COMMAND}"
    )


def table(lines: Iterable[str]) -> Accounting:
    """Return the jobs of a table with the columns of `CSV_NEEDS`, and of `CSV_MAY` where there are."""
    about = f"and, where known, {', '.join(CSV_MAY)}; times in seconds since 1970 or ISO"
    return Accounting(lines, ",", CSV_NEEDS, _of_table, about)


def job_of_sacct(row: Row) -> Named | None:
    """Return the job of a row of sacct; None for a step, and for a job that has not started or not ended.

    Raises:
        ValueError: A value cannot be read.
    """
    if is_step(row) or state_of(row) not in _ENDED or row["Start"] in NEVER or row["End"] in NEVER:
        return None
    start = seconds(row["Start"])
    # Slurm reuses job ids after a wrap: the start time distinguishes two jobs of one id, and two attempts of one job.
    name = f"{row['JobID']}@{int(start)}"
    return name, _past_job(submitted_job(row), start, seconds(row["End"]), state_of(row) == "COMPLETED")


def is_step(row: Row) -> bool:
    """Return whether a row of sacct is a step of a job."""
    return "." in row["JobID"]


def state_of(row: Row) -> str:
    """Return the state in a row of sacct: `CANCELLED` of `CANCELLED by 1000`."""
    return row["State"].partition(" ")[0]


def submitted_job(row: Row) -> SubmittedJob:
    """Return what a row of sacct states about the submission.

    Raises:
        ValueError: A value cannot be read.
    """
    directory = row.get("WorkDir", "")
    command = script_of(row.get("SubmitLine", ""), directory) or row.get("JobName", "")
    asked = dict(resources(row.get("ReqTRES", "")))
    submitted = seconds(row["Submit"]) if row.get("Submit") else 0.0
    return SubmittedJob(
        job=row["JobID"],
        user=row.get("User", ""),
        command=command[:1000],
        directory=directory,
        submitted=submitted if row["Start"] in NEVER else min(submitted, seconds(row["Start"])),
        name=row.get("JobName", "")[:1000],
        partition=row.get("Partition", ""),
        gpus=asked.get("gpu", 0.0),
        cpus=asked.get("cpu", 0.0),
        memory_gib=asked.get("mem", 0.0),
        nodes=int(row.get("ReqNodes") or asked.get("node", 0)),
        time_limit_s=60.0 * int(limit) if (limit := row.get("TimelimitRaw", "")).isdecimal() else 0.0,
    )


def _of_table(row: Row) -> Named | None:
    if not row["started"] or not row["ended"]:
        return None
    about = SubmittedJob(
        job=row["job"], user=row.get("user", ""), command=row["command"][:1000], directory=row["directory"],
        branch=row.get("branch", ""),
        workload=decode(Workload, row["workload"].encode()) if row.get("workload") else None,
    )  # fmt: skip
    used = float(row["gpu_utilisation"]) if row.get("gpu_utilisation") else None
    if used is not None and not 0 <= used <= 100:  # percent
        raise ValueError("a utilisation beyond 0 to 100 %")
    start = seconds(row["started"])
    well = row.get("state", "COMPLETED") in ("COMPLETED", "completed", "")
    return f"{row['job']}@{int(start)}", _past_job(about, start, seconds(row["ended"]), well, used)


def _past_job(about: SubmittedJob, start: float, end: float, well: bool, used: float | None = None) -> PastJob:
    if end < start:
        raise ValueError("a job that ends before it starts")
    return PastJob(about=about, ended=end, duration_s=end - start, completed=well, gpu_utilisation=used)


def seconds(text: str) -> float:
    """Return Unix seconds of a number or of ISO time; one without a zone is UTC."""
    try:
        found = float(text)
    except ValueError:
        moment = datetime.fromisoformat(text)
        found = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not isfinite(found):
        raise ValueError(f"expected a time, got {text}")
    return found


def script_of(submit_line: str, directory: str) -> str:
    """Return script and arguments of a line of sbatch, the script's path made absolute, as Slurm calls it; empty where there is none."""
    try:
        words = iter(shlex.split(submit_line[:_LONGEST]))
    except ValueError:
        return ""
    if not next(words, "").endswith("sbatch"):
        return submit_line
    for word in words:
        if not word.startswith("-"):
            return " ".join([normpath(join(directory, word)), *words])
        takes_next = "=" not in word if word.startswith("--") else len(word) == 2  # `-p gpu`, not `-pgpu`
        if takes_next and word not in _FLAGS and next(words, None) is None:
            break
    return ""
