"""What the spot manager sees of a cluster. A live state and a simulator both look like this."""

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec


class Request(Protocol):
    """A job that is to be placed.

    Attributes:
        pods: Pods, all placed or none.
        gpus: GPUs of each pod. A share of one is counted as one.
        gpu_type: The model it needs; empty: any.
        spot: It is a spot job.
    """

    @property
    def pods(self) -> int: ...
    @property
    def gpus(self) -> float: ...
    @property
    def gpu_type(self) -> str: ...
    @property
    def spot(self) -> bool: ...


class SpotJob(Protocol):
    """A spot job that runs.

    Attributes:
        job_id: Its name.
        gpus: GPUs of it, by node.
        unsaved_s: Seconds of work since its last durable checkpoint, or since its start if there is none.
    """

    @property
    def job_id(self) -> str: ...
    @property
    def gpus(self) -> Mapping[int, float]: ...
    @property
    def unsaved_s(self) -> float: ...


class Node(Protocol):
    """A node that is up.

    Attributes:
        index: Its number.
        gpus: GPUs in it.
        gpu_type: Their model.
        idle: GPUs without a job.
        hp_gpus: GPUs of high-priority jobs.
        spot_gpus: GPUs of spot jobs.
        evictions_1h: Spot jobs evicted from it in the last hour.
        evictions_24h: In the last day.
        spot: Spot jobs on it.
    """

    @property
    def index(self) -> int: ...
    @property
    def gpus(self) -> int: ...
    @property
    def gpu_type(self) -> str: ...
    @property
    def idle(self) -> int: ...
    @property
    def hp_gpus(self) -> float: ...
    @property
    def spot_gpus(self) -> float: ...
    @property
    def evictions_1h(self) -> int: ...
    @property
    def evictions_24h(self) -> int: ...
    @property
    def spot(self) -> Sequence[SpotJob]: ...


class PodRequest(msgspec.Struct, frozen=True):
    """A request."""

    pods: int
    gpus: float
    gpu_type: str = ""
    spot: bool = False


class RunningSpotJob(msgspec.Struct, frozen=True):
    """A spot job that runs."""

    job_id: str
    gpus: Mapping[int, float]
    unsaved_s: float


class NodeState(msgspec.Struct, frozen=True, kw_only=True):
    """A node."""

    index: int
    gpus: int = 8
    gpu_type: str = ""
    idle: int
    hp_gpus: float = 0.0
    spot_gpus: float = 0.0
    evictions_1h: int = 0
    evictions_24h: int = 0
    spot: Sequence[RunningSpotJob] = ()


def needed(request: Request) -> int:
    """Return the GPUs of a node that one pod takes."""
    return max(1, math.ceil(request.gpus))


def suits(node: Node, request: Request) -> bool:
    """Return whether a node has the GPUs that a request names."""
    return request.gpu_type in {"", node.gpu_type}
