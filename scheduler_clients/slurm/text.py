"""One line of `scontrol show job -d -o`.

A user chooses a job's name, its comment and its command line, with blanks and newlines and text that reads as Slurm's own fields.
What is believed stands between `UserId=` and `Command=`, where nothing of the user's stands.
"""

import re
from collections.abc import Mapping

from .gres import held_devices
from .host_list import expand
from .job import ENDED, NONE, SlurmJob, SlurmShare

NUMBER = re.compile(r"JobId=(\d+) ")
_HEAD = re.compile(
    r"JobId=(?P<number>\d++)(?: ArrayJobId=(?P<array>\d++) ArrayTaskId=(?P<task>\S++))?(?: ArrayTaskThrottle=\d++)?"
    r"(?: HetJobId=(?P<het>\d++) HetJobOffset=(?P<offset>\d++))?.*? JobName=(?P<name>.*)",
    re.DOTALL,
)
_FIELD = re.compile(r" ([A-Z][A-Za-z]*)=(\S*)")
_DETAIL = re.compile(r" Nodes=(\S+) CPU_IDs=(\S*) Mem=(\S*) GRES=(\S*)")
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([KMGT]?)", re.ASCII)
_MB = {"": 1.0, "K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0 * 1024}
_LIMIT = re.compile(r"(?:([0-9]{1,6})-)?([0-9]{2}):([0-9]{2}):([0-9]{2})", re.ASCII)
_TRES = re.compile(r" (TresPerJob|TresPerNode|TresPerTask)=(\S*)")
_DIRECTORY_END = re.compile(r" (?:AdminComment|SystemComment|Comment|StdErr)=")


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
        state, restarts = fields["JobState"], int(fields["Restarts"])
        exit_code, signal = (int(part) for part in fields["ExitCode"].split(":"))
    except (KeyError, ValueError):
        return None
    over = state in ENDED
    nodes = _hosts(fields.get("NodeList", ""))
    shares = _shares(own)
    devices, gpus, shards = held_devices(((host,), share.gres) for host, share in shares.items())
    # The only fields used that stand behind texts of the user (Comment, StdOut): the last ones are Slurm's.
    tres = dict(_TRES.findall(theirs.rpartition(" Power=")[2]))
    cpus = _count(fields.get("NumCPUs"))
    command = theirs.partition(" WorkDir=")[0]
    reason = fields.get("Reason", "")
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
        command=command if command not in NONE else _name(found["name"]),
        directory=_DIRECTORY_END.split(theirs.partition(" WorkDir=")[2], maxsplit=1)[0],
        submitted=_time(fields.get("SubmitTime")),
        started=_time(fields.get("StartTime")) if nodes else None,
        ended=_time(fields.get("EndTime")) if over else None,
        exit_code=exit_code if over and not signal else None,
        signal=signal if over else 0,
        reason="" if reason in NONE else reason,
        name=_name(found["name"]),
        held=state == "PENDING" and (fields.get("Priority") == "0" or "Held" in reason),
        requeue=fields.get("Requeue") == "1",
        required_nodes=_hosts(fields.get("ReqNodeList", "")),
        excluded_nodes=_hosts(fields.get("ExcNodeList", "")),
        tres_per_node=tres.get("TresPerNode", ""),
        tres_per_job=tres.get("TresPerJob", ""),
        tres_per_task=tres.get("TresPerTask", ""),
        partition=fields.get("Partition", ""),
        account=_word(fields.get("Account")),
        qos=_word(fields.get("QOS")),
        priority=_count(fields.get("Priority")),
        limit_s=_limit(fields.get("TimeLimit", "")),
        eligible=_time(fields.get("EligibleTime")),
        node_count=_count(fields.get("NumNodes")) or 1,
        cpus=cpus,
        tasks=_count(fields.get("NumTasks")) or 1,
        memory=_memory(fields, cpus),
        exclusive=fields.get("OverSubscribe") == "NO",
        features=_word(fields.get("Features")),
        reservation=_word(fields.get("Reservation")),
        shares=shares,
        het_numbers=_het_numbers(found),
    )


def _shares(own: str) -> dict[str, SlurmShare]:
    """Return what a job holds on each of its nodes; memory is 0 where Slurm does not share it out."""
    found: dict[str, SlurmShare] = {}
    for hosts, cpus, memory, gres in _DETAIL.findall(own):
        share = SlurmShare(len(expand(f"[{cpus}]")) if cpus else 0, _megabytes(memory), gres)
        found |= dict.fromkeys(expand(hosts), share)
    return found


def _memory(fields: Mapping[str, str], cpus: int) -> float:
    """Return the memory that a job asks for on each node, in MB."""
    if "MinMemoryCPU" in fields:
        nodes = _count(fields.get("NumNodes")) or 1
        return _megabytes(fields["MinMemoryCPU"]) * -(-cpus // nodes)
    return _megabytes(fields.get("MinMemoryNode", ""))


def _megabytes(text: str) -> float:
    found = _SIZE.fullmatch(text)
    return float(found[1]) * _MB[found[2]] if found else 0.0


def _count(text: str | None) -> int:
    """Return the first number of `4`, `2-3`; 0 for none."""
    first = (text or "").partition("-")[0]
    return int(first) if first.isdecimal() and len(first) < 12 else 0


def _word(text: str | None) -> str:
    return "" if text is None or text in NONE else text


def _hosts(host_list: str) -> tuple[str, ...]:
    return () if host_list in NONE else expand(host_list)


def _het_numbers(found: re.Match[str]) -> tuple[str, ...]:
    """Return the numbers of the parts. Slurm writes them behind the name, so the last ones are its own."""
    return expand(f"[{found['name'].rpartition(' HetJobIdSet=')[2]}]") if found["het"] else ()


def _name(text: str) -> str:
    """Return a job's name without what Slurm writes behind it for parts of a heterogeneous job."""
    return text.partition(" HetJobIdSet=")[0]


def _printed(found: re.Match[str]) -> str:
    if found["array"]:
        return f"{found['array']}_{found['task']}"
    return f"{found['het']}+{found['offset']}" if found["het"] else found["number"]


def _limit(text: str) -> float | None:
    """Return the seconds of `1-02:03:04`; None for UNLIMITED, and for what is no time."""
    found = _LIMIT.fullmatch(text)
    if not found:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def _time(text: str | None) -> float | None:
    return float(text) if text and text.isdecimal() else None
