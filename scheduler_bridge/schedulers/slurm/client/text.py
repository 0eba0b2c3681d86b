"""One line of `scontrol show job -d -o` as a job (see `job_line`, which keeps a user's text out of Slurm's fields)."""

import re
from collections.abc import Mapping

from .gres import held_devices
from .host_list import expand
from .job import ENDED, NONE, SlurmJob, SlurmShare
from .job_line import JobLine, split

NUMBER = re.compile(r"JobId=(\d+) ")


def parse(line: str) -> SlurmJob | None:
    """Return the job of a line, written with SLURM_TIME_FORMAT=%s; None where it is no complete line, or has two readings."""
    read = split(line)
    return _job(read) if read else None


def parse_certain(line: str) -> tuple[SlurmJob | None, bool]:
    """Return the job as `parse`, and False where what it asks for may be a user's text instead, or is missing for that reason."""
    read = split(line)
    if read is None:
        return None, False
    return _job(read), read.tail_is_certain or not re.search(r" TresPer[A-Za-z]+=\S*gres", line)


def _job(read: JobLine) -> SlurmJob | None:
    fields, tail = read.fields, read.tail
    try:
        number, state, restarts = str(int(fields["JobId"])), fields["JobState"], int(fields["Restarts"])
        exit_code, signal = (int(part) for part in fields["ExitCode"].split(":"))
    except ValueError:
        return None
    over = state in ENDED
    nodes = _hosts(fields.get("NodeList", ""))
    shares = _shares(read.rest)
    devices, gpus, shards = held_devices(((host,), share.gres) for host, share in shares.items())
    cpus = _count(fields.get("NumCPUs"))
    reason = fields.get("Reason", "")
    command = fields["Command"]
    return SlurmJob(
        number=number,
        job=_printed(fields),
        state=state,
        restarts=restarts,
        nodes=nodes,
        devices=devices,
        gpus=gpus,
        shards=shards,
        user=fields["UserId"].rpartition("(")[0] or fields["UserId"],
        command=command if command not in NONE else fields["JobName"],
        directory=fields["WorkDir"],
        submitted=_time(fields.get("SubmitTime")),
        started=_time(fields.get("StartTime")) if nodes else None,
        ended=_time(fields.get("EndTime")) if over else None,
        exit_code=exit_code if over and not signal else None,
        signal=signal if over else 0,
        reason="" if reason in NONE else reason,
        name=fields["JobName"],
        held=state == "PENDING" and (fields.get("Priority") == "0" or "Held" in reason),
        requeue=fields.get("Requeue") == "1",
        required_nodes=_hosts(fields.get("ReqNodeList", "")),
        excluded_nodes=_hosts(fields.get("ExcNodeList", "")),
        tres_per_node=tail.get("TresPerNode", ""),
        tres_per_job=tail.get("TresPerJob", ""),
        tres_per_task=tail.get("TresPerTask", ""),
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
        exclusive=_is_exclusive(fields),
        features=_word(fields.get("Features")),
        reservation=_word(fields.get("Reservation")),
        shares=shares,
        het_numbers=expand(f"[{fields.get('HetJobIdSet', '')}]") if "HetJobId" in fields else (),
        sluid=fields.get("SLUID", ""),
    )


def _is_exclusive(fields: Mapping[str, str]) -> bool:
    """Return whether a job has its nodes for itself. Since 26.05 this is a field of its own; before, `OverSubscribe=NO`."""
    return fields["Exclusive"] in ("NODE", "TOPO") if "Exclusive" in fields else fields.get("OverSubscribe") == "NO"


def _shares(rest: str) -> dict[str, SlurmShare]:
    """Return what a job holds on each of its nodes; memory is 0 where Slurm does not share it out."""
    found: dict[str, SlurmShare] = {}
    for hosts, cpus, memory, gres in re.findall(r" Nodes=(\S+) CPU_IDs=(\S*) Mem=(\S*) GRES=(\S*)", rest):
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
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([KMGT]?)", text, flags=re.ASCII)
    factors = {"": 1.0, "K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0 * 1024}
    return float(found[1]) * factors[found[2]] if found else 0.0


def _count(text: str | None) -> int:
    """Return the first number of `4`, `2-3`; 0 for none."""
    first = (text or "").partition("-")[0]
    return int(first) if first.isdecimal() and len(first) < 12 else 0


def _word(text: str | None) -> str:
    return "" if text is None or text in NONE else text


def _hosts(host_list: str) -> tuple[str, ...]:
    return () if host_list in NONE else expand(host_list)


def _printed(fields: Mapping[str, str]) -> str:
    """Return the id that Slurm prints."""
    if "ArrayJobId" in fields:
        return f"{fields['ArrayJobId']}_{fields.get('ArrayTaskId', '')}"
    return f"{fields['HetJobId']}+{fields.get('HetJobOffset', '')}" if "HetJobId" in fields else fields["JobId"]


def _limit(text: str) -> float | None:
    """Return the seconds of `1-02:03:04`; None for UNLIMITED, and for what is no time."""
    found = re.fullmatch(r"(?:([0-9]{1,6})-)?([0-9]{2}):([0-9]{2}):([0-9]{2})", text, flags=re.ASCII)
    if not found:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def _time(text: str | None) -> float | None:
    return float(text) if text and text.isdecimal() else None
