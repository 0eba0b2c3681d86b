"""One line of `scontrol show job -d -o`.

A user chooses a job's name, its comment and its command line, with blanks and newlines and text that reads as Slurm's own fields.
What is believed stands between `UserId=` and `Command=`, where nothing of the user's stands.
"""

import re
from dataclasses import dataclass

from .host_list import expand

ENDED = frozenset(
    {
        "BOOT_FAIL",
        "CANCELLED",
        "COMPLETED",
        "DEADLINE",
        "FAILED",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PREEMPTED",
        "REVOKED",
        "TIMEOUT",
    }
)
"""Slurm's words for jobs that are over."""

_HEAD = re.compile(
    r"JobId=(?P<number>\d++)(?: ArrayJobId=(?P<array>\d++) ArrayTaskId=(?P<task>\S++))?(?: ArrayTaskThrottle=\d++)?"
    r"(?: HetJobId=(?P<het>\d++) HetJobOffset=(?P<offset>\d++))?.*? JobName=(?P<name>.*)",
    re.DOTALL,
)
_FIELD = re.compile(r" ([A-Z][A-Za-z]*)=(\S*)")
_DETAIL = re.compile(r" Nodes=(\S+) CPU_IDs=\S* Mem=\S* GRES=(\S*)")
_GRES = re.compile(r"(gpu|shard)(?::[A-Za-z][^:,(]*)?:(\d+)\(IDX:([0-9,-]+)\)")
_DIRECTORY_END = re.compile(r" (?:AdminComment|SystemComment|Comment|StdErr)=")
_NONE = frozenset({"", "(null)", "None", "N/A", "Unknown"})


@dataclass(frozen=True, slots=True)
class SlurmJob:
    """A job as Slurm lists it.

    Attributes:
        number: Slurm's own number of the job, for commands.
        job: The id that Slurm prints: `4711`, `4711_3` for a task of an array, `4711+1` for a part of a heterogeneous job.
        state: Slurm's word.
        restarts: Restart count.
        nodes: Hosts; empty while it waits.
        devices: The GPUs that it holds, whole or in part, as (host, index).
        gpus: Number of whole GPUs; null where it holds none.
        shards: Number of shards.
        user: Login name.
        command: Script and arguments, or the job's name where Slurm knows no script.
        directory: Working directory.
        submitted: Seconds since 1970; of the last submission, a requeue included.
        started: Seconds since 1970; null where it never ran.
        ended: Seconds since 1970; null while it is not over.
        exit_code: Null while it is not over, or where a signal ended it.
        signal: The signal that ended it; 0 for none.
        reason: Slurm's word for why it waits or why it ended.
    """

    number: str
    job: str
    state: str
    restarts: int
    nodes: tuple[str, ...]
    devices: frozenset[tuple[str, int]]
    gpus: int | None
    shards: int
    user: str
    command: str
    directory: str
    submitted: float | None
    started: float | None
    ended: float | None
    exit_code: int | None
    signal: int
    reason: str


def parse(line: str) -> SlurmJob | None:
    """Read one line, written with SLURM_TIME_FORMAT=%s. None where it is no complete record, or not beyond doubt."""
    head, user_id, rest = line.partition(" UserId=")
    found = _HEAD.fullmatch(head)
    if not found or not user_id or " UserId=" in rest:
        return None
    own, _, theirs = (user_id + rest).partition(" Command=")
    fields: dict[str, str] = {}
    for name, value in _FIELD.findall(own):
        fields.setdefault(name, value)
    try:
        state, restarts, code = fields["JobState"], int(fields["Restarts"]), fields["ExitCode"]
        exit_code, signal = (int(part) for part in code.split(":"))
    except (KeyError, ValueError):
        return None
    over = state in ENDED
    nodes = tuple(expand(fields["NodeList"])) if fields.get("NodeList", "") not in _NONE else ()
    devices, gpus, shards = _devices(own)
    command = theirs.partition(" WorkDir=")[0]
    return SlurmJob(
        number=found["number"],
        job=_printed(found),
        state=state,
        restarts=restarts,
        nodes=nodes,
        devices=devices,
        gpus=gpus,
        shards=shards,
        user=fields["UserId"].partition("(")[0],
        command=command if command not in _NONE else _name(found["name"]),
        directory=_DIRECTORY_END.split(theirs.partition(" WorkDir=")[2], maxsplit=1)[0],
        submitted=_time(fields.get("SubmitTime")),
        started=_time(fields.get("StartTime")) if nodes else None,
        ended=_time(fields.get("EndTime")) if over else None,
        exit_code=exit_code if over and not signal else None,
        signal=signal if over else 0,
        reason="" if fields.get("Reason", "") in _NONE else fields["Reason"],
    )


def _name(text: str) -> str:
    """Return a job's name without what Slurm writes behind it for parts of a heterogeneous job."""
    return text.partition(" HetJobIdSet=")[0]


def _printed(found: re.Match[str]) -> str:
    if found["array"]:
        return f"{found['array']}_{found['task']}"
    return f"{found['het']}+{found['offset']}" if found["het"] else found["number"]


def _devices(own: str) -> tuple[frozenset[tuple[str, int]], int | None, int]:
    """Return the devices of the detail lines, the number of whole GPUs, and the number of shards."""
    devices: set[tuple[str, int]] = set()
    gpus = shards = 0
    for host_list, gres in _DETAIL.findall(own):
        hosts = expand(host_list)
        for kind, count, indices in _GRES.findall(gres):
            if kind == "gpu":
                gpus += int(count) * len(hosts)
            else:
                shards += int(count) * len(hosts)
            devices |= {(host, int(index)) for host in hosts for index in expand(f"[{indices}]") if index.isdecimal()}
    return frozenset(devices), gpus or None, shards


def _time(text: str | None) -> float | None:
    return float(text) if text and text.isdecimal() else None
