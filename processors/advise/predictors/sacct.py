"""Reads Slurm's accounting: what `COMMAND` prints (sacct(1), Slurm 22.05).

Its rows come from a file that a person hands over. A row that cannot be read is counted and passed over, never guessed.
"""

import math
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import msgspec

from .job import Completion, Submission

COLUMNS = (
    "JobID",
    "User",
    "State",
    "Submit",
    "Start",
    "End",
    "WorkDir",
    "SubmitLine",
    "JobName",
    "Partition",
    "ReqTRES",
    "ReqNodes",
    "TimelimitRaw",
)
COMMAND = f"TZ=UTC sacct -a -X -P -S now-90days -o {','.join(COLUMNS)}"
"""Command whose output `schedmate import sacct`, `advise train`, `simulate` and `starts` read. `-X` leaves out steps. SubmitLine needs
Slurm 21.08."""
NEEDED = ("JobID", "State", "Submit", "Start", "End")
FINISHED = (
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
LONGEST_LINE = 65_536
"""Maximum characters of a row: 64 KiB. A limit against damaged files; rows of `sacct` are far shorter."""
LONGEST_TEXT = 256
"""Characters kept of a name or an id. A limit against hostile job names."""
_GIB = {"K": 2**-20, "M": 2**-10, "G": 1.0, "T": 2.0**10, "P": 2.0**20}


class Accounting(msgspec.Struct):
    """The jobs of a file.

    Attributes:
        jobs: Jobs that ran and ended.
        unfinished: Number of jobs that never started or have not ended.
        skipped: Number of rows that could not be read.
    """

    jobs: list[Completion] = []
    unfinished: int = 0
    skipped: int = 0


class NotAccounting(ValueError):
    """The first line does not name the columns that are needed."""


def read_sacct(lines: Iterable[str]) -> Accounting:
    """Return the jobs that ran and ended. Rows of steps are ignored.

    Raises:
        NotAccounting: the first line is not a header with the columns of `NEEDED`.
    """
    rows = iter(lines)
    names = next(rows, "")[:LONGEST_LINE].rstrip("\r\n").split("|")
    if missing := [name for name in NEEDED if name not in names]:
        raise NotAccounting(f"expected a first line with the columns {', '.join(missing)}, as this prints: {COMMAND}")
    found = Accounting()
    for line in rows:
        values = line.rstrip("\r\n").split("|") if len(line) <= LONGEST_LINE else []
        if len(values) != len(names):
            found.skipped += bool(line.strip())
            continue
        row = dict(zip(names, values, strict=True))
        if "." in row["JobID"]:
            continue
        if row["State"].partition(" ")[0] not in FINISHED or row["Start"] in ("Unknown", "None", ""):
            found.unfinished += 1
            continue
        try:
            found.jobs.append(_job(row))
        except (ValueError, OverflowError):
            found.skipped += 1
    return found


def _job(row: dict[str, str]) -> Completion:
    submitted, start, end = (_time(row[name]) for name in ("Submit", "Start", "End"))
    if end < start or start < submitted:
        raise ValueError("a job that ends before it starts, or starts before it is submitted")
    asked = dict(resources(row.get("ReqTRES", "")))
    if "gpu" not in asked:  # an exclusive node, or a file without ReqTRES
        asked |= {name: amount for name, amount in resources(row.get("AllocTRES", "")) if name == "gpu"}
    nodes = int(row.get("ReqNodes") or asked.get("node", 1))
    job = Submission(
        job_id=f"{row['JobID']}@{int(submitted)}"[:LONGEST_TEXT],  # a requeued job has one row an attempt
        submitted=submitted,
        user=row.get("User", "")[:LONGEST_TEXT],
        queue=row.get("Partition", "")[:LONGEST_TEXT],
        group=row.get("JobName", "")[:LONGEST_TEXT],
        gpus=asked.get("gpu", 0.0),
        cpus=asked.get("cpu", 0.0),
        memory_gib=asked.get("mem", 0.0),
        instances=max(1, nodes),
        time_limit_s=60.0 * int(limit) if (limit := row.get("TimelimitRaw", "")).isdecimal() else 0.0,
    )
    return Completion(job=job, ended=end, duration_s=end - start, failed=not row["State"].startswith("COMPLETED"))


def _time(text: str) -> float:
    """Return Unix seconds of `%s` or of ISO time, which is taken as UTC."""
    if text.isdecimal():
        return float(int(text))
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def resources(text: str) -> Iterator[tuple[str, float]]:
    """Yield cpu, node, gpu, and mem in GiB of `cpu=8,gres/gpu=4,mem=64G,node=1`; a count with a type replaces the one without."""
    gpus: dict[str, float] = {}
    for part in text.split(","):
        name, _, amount = part.partition("=")
        if name.startswith("gres/gpu"):
            gpus[name] = float(amount)
        elif name == "mem" and amount:
            scale = _GIB.get(amount[-1].upper())
            yield "mem", float(amount[:-1]) * scale if scale else float(amount) / 2**10
        elif name in ("cpu", "node"):
            yield name, float(amount)
    if gpus:
        yield "gpu", gpus.get("gres/gpu", math.fsum(gpus.values()))
