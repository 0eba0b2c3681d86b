"""GPUs and shards of GPUs (Slurm's "generic resources")."""

import re
from collections.abc import Iterable, Iterator

from .host_list import expand

_HELD = re.compile(
    r"(?:^|,)(gpu|shard)(?::[^:,()]*)?:([0-9]{1,9})\((?:IDX:([0-9,-]+)|([0-9]+/[0-9]+(?:,[0-9]+/[0-9]+)*))\)", re.ASCII
)
"""A kind, perhaps a type, and a number; then indices, or since 23.11, for shards, how many of how many are held of each GPU. The type of a
MIG instance begins with a number (`1g.10gb`): the instance counts as a GPU, and its index is that of Slurm's list."""
_COUNT = re.compile(r"(?:^|,)(?:gres[:/])?(gpu|shard)(?:[:=](?![0-9]+(?:[,(]|$))[^:=,(]*)?(?:[:=]([0-9]+))?(?=[,(]|$)")
"""A kind, perhaps a type, and a number; `gres:gpu` and `gres:gpu:a100` are one each, as `--gres=gpu` asked for."""


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
        for kind, count, parts in _parse_held(gres):
            if kind == "gpu":
                gpus += count * len(hosts)
            else:
                shards += count * len(hosts)
            devices |= {(host, index) for host in hosts for index in parts}
    return frozenset(devices), gpus or None, shards


def shards_per_gpu(nodes: str) -> int:
    """Return how many shards make a whole GPU on the node that has most of them on one; 0 where there are none.

    Args:
        nodes: What `scontrol show node -o` prints.
    """
    most = 0
    for gres in re.findall(r" Gres=(\S*)", nodes):
        of_node = counts(gres)
        if of_node.get("gpu"):
            most = max(most, of_node.get("shard", 0) // of_node["gpu"])
    return most


def counts(gres: str) -> dict[str, int]:
    """Return how many GPUs and shards a list names, of whatever type: `gpu:a100:2,shard:8`, `gres:gpu:2`, `gres/gpu=2`."""
    found: dict[str, int] = {}
    for kind, number in _COUNT.findall(gres):
        found[kind] = found.get(kind, 0) + int(number or 1)
    return found


def gpu_types(gres: str) -> frozenset[str]:
    """Return the types of GPUs that a list names: `a100` of `gpu:a100:2,shard:8`, `gres/gpu:a100=2`."""
    return frozenset(re.findall(r"(?:^|[,:/])gpu:(?![0-9]+(?:[,(]|$))([^:=,(]+)", gres))


def held_parts(gres: str, shards_per_gpu: int) -> dict[int, float]:
    """Return which part of which GPU is held, by index, of what a job holds on one node (`gpu:1(IDX:0),shard:2(IDX:1)`)."""
    found: dict[int, float] = {}
    for kind, count, parts in _parse_held(gres):
        for device, part in parts.items():
            whole = kind == "gpu" or not shards_per_gpu
            share = 1.0 if whole else count / len(parts) / shards_per_gpu
            found[device] = min(1.0, found.get(device, 0.0) + (share if part is None else part))
    return found


def _parse_held(gres: str) -> Iterator[tuple[str, int, dict[int, float | None]]]:
    """Return what is held of each kind: how many, and of which device which part; None where Slurm does not print the part."""
    for kind, count, indices, counts_of in _HELD.findall(gres):
        if indices:
            yield kind, int(count), dict.fromkeys(int(name) for name in expand(f"[{indices}]") if name.isdecimal())
        else:
            pairs = (each.split("/") for each in counts_of.split(","))
            held = {index: int(part) / int(whole) for index, (part, whole) in enumerate(pairs) if int(whole)}
            yield kind, int(count), {index: part for index, part in held.items() if part}
