"""Views of a cluster for the spot manager. Live clusters and the simulator provide them."""

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec


class Request(Protocol):
    """A job that is to be placed."""

    @property
    def pods(self) -> int:
        """Pods, all placed or none."""

    @property
    def gpus(self) -> float:
        """GPUs of each pod. A share of one is counted as one."""

    @property
    def gpu_type(self) -> str:
        """The model it needs; empty: any."""

    @property
    def spot(self) -> bool:
        """It is a spot job."""


class SpotJob(Protocol):
    """A spot job that runs."""

    @property
    def job_id(self) -> str:
        """Its name."""

    @property
    def gpus(self) -> Mapping[int, float]:
        """GPUs of it, by node."""

    @property
    def unsaved_s(self) -> float:
        """Seconds of work since its last durable checkpoint, or since its start if there is none."""

    @property
    def evictions(self) -> int:
        """Number of evictions so far."""


class Node(Protocol):
    """A node that is up."""

    @property
    def index(self) -> int:
        """Its number."""

    @property
    def gpus(self) -> int:
        """GPUs in it."""

    @property
    def gpu_type(self) -> str:
        """Their model."""

    @property
    def idle(self) -> int:
        """GPUs without a job."""

    @property
    def hp_gpus(self) -> float:
        """GPUs of high-priority jobs."""

    @property
    def spot_gpus(self) -> float:
        """GPUs of spot jobs."""

    @property
    def evictions_1h(self) -> int:
        """Spot jobs evicted from it in the last hour."""

    @property
    def evictions_24h(self) -> int:
        """Spot jobs evicted from it in the last day."""

    @property
    def spot(self) -> Sequence[SpotJob]:
        """Spot jobs on it."""


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
    evictions: int = 0


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
