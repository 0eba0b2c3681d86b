"""GPUs and shards of GPUs (Slurm's "generic resources")."""

import re
from collections.abc import Iterable

from .host_list import expand

_HELD = re.compile(r"(gpu|shard)(?::[A-Za-z][^:,(]*)?:(\d+)\(IDX:([0-9,-]+)\)")
_OF_NODE = re.compile(r" Gres=(\S*)")
_COUNT = re.compile(r"(?:^|,)(?:gres[:/])?(gpu|shard)(?:[:=](?![0-9]+(?:[,(]|$))[^:=,(]*)?(?:[:=]([0-9]+))?(?=[,(]|$)")
"""A kind, perhaps a type, and a number; `gres:gpu` and `gres:gpu:a100` are one each, as `--gres=gpu` asked for."""

_TYPE = re.compile(r"(?:^|[,:/])gpu:(?![0-9]+(?:[,(]|$))([^:=,(]+)")


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
    return frozenset(_TYPE.findall(gres))


def held_parts(gres: str, shards_per_gpu: int) -> dict[int, float]:
    """Return which part of which GPU is held, by index, of what a job holds on one node (`gpu:1(IDX:0),shard:2(IDX:1)`)."""
    found: dict[int, float] = {}
    for kind, count, indices in _HELD.findall(gres):
        devices = [int(index) for index in expand(f"[{indices}]") if index.isdecimal()]
        whole = kind == "gpu" or not shards_per_gpu
        for device in devices:
            part = 1.0 if whole else int(count) / len(devices) / shards_per_gpu
            found[device] = min(1.0, found.get(device, 0.0) + part)
    return found
