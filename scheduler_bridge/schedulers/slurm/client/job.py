"""A job as Slurm lists it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil

from .gres import counts

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

NONE = frozenset({"", "(null)", "None", "N/A", "Unknown"})
"""Slurm's texts for an unset field."""


@dataclass(frozen=True, slots=True)
class SlurmShare:
    """Resources of a job on one node: CPUs, MB of memory, and generic resources as Slurm writes them (`gpu:2(IDX:0-1)`)."""

    cpus: int = 0
    memory: float = 0.0
    gres: str = ""


@dataclass(frozen=True, slots=True)
class SlurmJob:
    """A job as Slurm lists it.

    Attributes:
        number: Slurm's own number of the job, for commands.
        job: The id that Slurm prints: `4711`, `4711_3` for a task of an array, `4711+1` for a part of a heterogeneous job, `4711` for the
            whole of one.
        state: Slurm's word.
        restarts: Restart count.
        nodes: Where it runs, or ran last; empty while it waits.
        devices: The GPUs that it holds, whole or in part, as (host, index).
        gpus: Number of whole GPUs; null where it holds none.
        shards: Number of shards that it holds.
        user: Login name.
        command: Script and arguments, or the job's name where Slurm knows no script.
        directory: Working directory.
        name: The name that its user gave it, or its script's.
        submitted: Seconds since 1970; of the last submission, a requeue included.
        started: Seconds since 1970; null where it never ran.
        ended: Seconds since 1970; null while it is not over.
        exit_code: Null while it is not over, or where a signal ended it.
        signal: The signal that ended it; 0 for none.
        reason: Slurm's word for why it waits or why it ended; empty for none.
        held: Someone must release it before it can start.
        requeue: Slurm may put it back in the queue.
        required_nodes: Nodes that it asks for by name.
        excluded_nodes: Nodes that it is kept away from.
        tres_per_node: What it asks for on each node: `gres:shard:2`.
        tres_per_job: What it asks for in all.
        tres_per_task: What it asks for for each task.
        partition: Its partition; several, separated by commas, while it waits.
        account: Its account; empty for none.
        qos: Its quality of service; empty for none.
        priority: Slurm's number; 0 where it is held.
        limit_s: Slurm ends it after so many seconds; null for no limit.
        eligible: Since when nothing but a place is missing, in seconds since 1970.
        node_count: Nodes that it holds, or asks for at least.
        cpus: CPUs that it holds or asks for.
        tasks: Number of tasks.
        memory: MB on each node that it asks for.
        exclusive: It shares its nodes with no other job.
        features: What its nodes must have, as Slurm writes it (`fast&a100`); empty for nothing.
        reservation: The reservation in which it runs or is to run; empty for none.
        shares: What it holds, by node.
        het_numbers: Of a part of a heterogeneous job, and of the whole: the numbers of all parts, the first one first.
        parts: Of a heterogeneous job as a whole: its parts.
        sluid: Slurm's id of this run of the job (`s` and 13 characters), which control groups are named by since 26.05; empty before 25.11.
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
    name: str = ""
    held: bool = False
    requeue: bool = False
    required_nodes: tuple[str, ...] = ()
    excluded_nodes: tuple[str, ...] = ()
    tres_per_node: str = ""
    tres_per_job: str = ""
    tres_per_task: str = ""
    partition: str = ""
    account: str = ""
    qos: str = ""
    priority: int | None = None
    limit_s: float | None = None
    eligible: float | None = None
    node_count: int = 1
    cpus: int = 0
    tasks: int = 1
    memory: float = 0.0
    exclusive: bool = False
    features: str = ""
    reservation: str = ""
    shares: Mapping[str, SlurmShare] = field(default_factory=dict)
    het_numbers: tuple[str, ...] = ()
    parts: tuple["SlurmJob", ...] = ()
    sluid: str = ""

    @property
    def shards_per_node(self) -> int:
        """Shards that the job asks for on each node; 0 where it asks for none."""
        return counts(self.tres_per_node).get("shard", 0)

    @property
    def asked_per_node(self) -> dict[str, float]:
        """Requests of the job on each node: numbers of `gpu` and of `shard`; empty for neither."""
        per_node = {kind: float(number) for kind, number in counts(self.tres_per_node).items()}
        for kind, number in counts(self.tres_per_job).items():
            per_node[kind] = max(per_node.get(kind, 0.0), ceil(number / self.node_count))
        for kind, number in counts(self.tres_per_task).items():
            per_node[kind] = max(per_node.get(kind, 0.0), number * ceil(self.tasks / self.node_count))
        return per_node

    def with_shards(self, shards: int) -> str:
        """Return `tres_per_node` with another number of shards, and all else as it was."""
        return re.sub(
            r"((?:^|,)gres[:/]shard)(?:([:=])[0-9]+)?(?=,|$)",
            lambda found: f"{found[1]}{found[2] or ':'}{shards}",
            self.tres_per_node,
        )

    def is_called(self, name: str) -> bool:
        """True where `name` means this job alone: the id that Slurm prints, or its number where that is not an array's, too."""
        return name == self.job or (name == self.number and not self.job.startswith(f"{name}_"))

    @property
    def is_marked(self) -> bool:
        """True where it was over, `SlurmClient.requeue_hold` put it back in the queue, and it was not released since."""
        return self.state == "SPECIAL_EXIT"

    @property
    def is_array(self) -> bool:
        """True for an array that waits as a whole (`4711_1-9%2`): its tasks appear one by one."""
        return "_" in self.job and not self.job.partition("_")[2].isdecimal()
