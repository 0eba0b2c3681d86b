"""GPUs and shards of GPUs (Slurm's "generic resources")."""

import re
from collections.abc import Iterable

from .host_list import expand

_HELD = re.compile(r"(gpu|shard)(?::[A-Za-z][^:,(]*)?:(\d+)\(IDX:([0-9,-]+)\)")
_OF_NODE = re.compile(r" Gres=(\S*)")
_COUNT = re.compile(r"(?:^|,)(gpu|shard)(?::[A-Za-z][^:,(]*)?:([0-9]+)")


def held_devices(
    allocated: Iterable[tuple[tuple[str, ...], str]],
) -> tuple[frozenset[tuple[str, int]], int | None, int]:
    """Return the GPUs that a job holds as (host, index), the number of whole ones (null for none), and the number of shards.

    Args:
        allocated: Hosts, and what the job holds on each of them as Slurm writes it: `gpu:2(IDX:0-1),shard:4(IDX:2)`.
    """
    devices: set[tuple[str, int]] = set()
    gpus = shards = 0
    for hosts, gres in allocated:
        for kind, count, indices in _HELD.findall(gres):
            if kind == "gpu":
                gpus += int(count) * len(hosts)
            else:
                shards += int(count) * len(hosts)
            devices |= {(host, int(index)) for host in hosts for index in expand(f"[{indices}]") if index.isdecimal()}
    return frozenset(devices), gpus or None, shards


def shards_per_gpu(nodes: str) -> int:
    """Return how many shards make a whole GPU on the node that has most of them on one; 0 where there are none.

    Args:
        nodes: What `scontrol show node -o` prints.
    """
    most = 0
    for gres in _OF_NODE.findall(nodes):
        counts = {kind: int(number) for kind, number in _COUNT.findall(gres)}
        if counts.get("gpu"):
            most = max(most, counts.get("shard", 0) // counts["gpu"])
    return most
