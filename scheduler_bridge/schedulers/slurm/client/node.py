"""A node as Slurm lists it, from one line of `scontrol show node -o`.

All of it was written by Slurm or by its administrators: users of a cluster cannot change a node.
"""

import re
from dataclasses import dataclass

from .gres import counts as gres_counts
from .gres import gpu_types
from .job import NONE


@dataclass(frozen=True, slots=True)
class SlurmNode:
    """A node as Slurm lists it.

    Attributes:
        name: Its name.
        states: Slurm's words: the state, then its flags (`IDLE`, `DRAIN`).
        partitions: The partitions that it belongs to.
        booted: When it booted, in seconds since 1970; null where Slurm does not know.
        reason: Why it is drained or down, as its author wrote it; empty for none.
        comment: What administrators noted; empty for nothing.
        cpus: CPUs that jobs may use.
        memory: Its memory, in MB.
        gpus: Number of GPUs.
        shards_per_gpu: Shards that make one of them; 0 where it has none.
        features: What jobs may ask for by name (`--constraint`).
        gpu_types: Slurm's names of the types of its GPUs; empty where it names none.
    """

    name: str
    states: tuple[str, ...]
    partitions: tuple[str, ...] = ()
    booted: float | None = None
    reason: str = ""
    comment: str = ""
    cpus: int = 0
    memory: float = 0.0
    gpus: int = 0
    shards_per_gpu: int = 0
    features: frozenset[str] = frozenset()
    gpu_types: frozenset[str] = frozenset()


def parse(line: str) -> SlurmNode | None:
    """Read one line, written with SLURM_TIME_FORMAT=%s. None where it is no node."""
    name = re.match(r"\s*NodeName=(\S+)", line)
    # A reason and a comment may hold anything, and stand at the end.
    head = re.split(r" (?:Reason|Comment)=", line, maxsplit=1)[0]
    fields = dict(
        re.findall(r" (State|Partitions|BootTime|CPUTot|CPUEfctv|RealMemory|Gres|ActiveFeatures)=(\S*)", head)
    )
    if name is None or "State" not in fields:
        return None
    reason = re.search(r" Reason=(.*?) \[\S+@\S+\]", line)
    comment = re.search(
        r" Comment=(.*?)(?= (?:Reason|Extra|InstanceId|InstanceType|ReservationName|TLSCertTokenSet|Topology|Parameters)=|$)",
        line,
    )
    boot = fields.get("BootTime", "")
    partitions = fields.get("Partitions", "")
    # Older releases append a mark to a state (`IDLE*`: the node does not respond).
    return SlurmNode(
        name=name[1],
        states=tuple(word.rstrip("*~#!%$@^-+") for word in fields["State"].split("+")),
        partitions=() if partitions in NONE else tuple(partitions.split(",")),
        booted=float(boot) if boot.isdecimal() else None,
        reason=reason[1] if reason else "",
        comment=comment[1].strip() if comment else "",
        cpus=_count(fields.get("CPUEfctv") or fields.get("CPUTot")),
        memory=float(_count(fields.get("RealMemory"))),
        gpus=(counts := gres_counts(fields.get("Gres", ""))).get("gpu", 0),
        shards_per_gpu=counts.get("shard", 0) // counts["gpu"] if counts.get("gpu") else 0,
        features=frozenset(fields.get("ActiveFeatures", "").split(",")) - NONE,
        gpu_types=gpu_types(fields.get("Gres", "")),
    )


def _count(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0
