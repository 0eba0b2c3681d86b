"""Nodes and their GPUs: which are free, and who has which."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence

import msgspec

from .job import Slice


class NodeSpec(msgspec.Struct, frozen=True):
    """A node of the cluster.

    Attributes:
        gpus: GPUs in it.
        gpu_type: Their model.
        partition: The virtual cluster that it belongs to.
        name: Its name; empty where it does not matter.
    """

    gpus: int = 8
    gpu_type: str = ""
    partition: str = ""
    name: str = ""


class Node:
    """The state of one node.

    Attributes:
        index: Its place in the cluster.
        shares: Jobs that have a share of one of its GPUs.
        spec: What it is.
        tenants: Jobs on each GPU.
        used: Share of each GPU that is given away, for jobs that want less than one.
        free: GPUs without a job.
        up: Whether jobs can be placed on it.
    """

    __slots__ = ("free", "index", "shares", "spec", "tenants", "up", "used")

    def __init__(self, index: int, spec: NodeSpec) -> None:
        self.index = index
        self.spec = spec
        self.tenants = [0] * spec.gpus
        self.used = [0.0] * spec.gpus
        self.free = spec.gpus
        self.shares = 0
        self.up = True

    def fits_share(self, share: float) -> int | None:
        """Return the GPU, already shared, that has `share` left and least beyond it; None where none has."""
        best, least = None, 2.0
        for gpu, used in enumerate(self.used):
            if 0 < used <= 1 - share + 1e-9 and self.tenants[gpu] and 1 - used < least:
                best, least = gpu, 1 - used
        return best


class Cluster:
    """Nodes of one partition, found by how many GPUs they have free.

    Args:
        specs: The nodes, in the order in which equals are tried.
    """

    def __init__(self, specs: Iterable[NodeSpec]) -> None:
        self.nodes = [Node(index, spec) for index, spec in enumerate(specs)]
        self.largest = max((node.spec.gpus for node in self.nodes), default=0)
        self.by_free: list[list[int]] = [[] for _ in range(self.largest + 1)]
        """Indices, ascending, of the nodes that are up, by their free GPUs."""
        self.shared: list[int] = []
        """Indices, ascending, of the nodes with a job that has a share of a GPU."""
        self.free = 0
        self.capacity = 0
        for node in self.nodes:
            self.by_free[node.free].append(node.index)
            self.free += node.free
            self.capacity += node.spec.gpus

    def allocate(self, node_index: int, count: int) -> Slice:
        """Give `count` free GPUs of a node, those of the lowest index first.

        Raises:
            ValueError: It has not so many free.
        """
        node = self.nodes[node_index]
        if not node.up or count > node.free:
            raise ValueError(
                f"expected {count} free GPUs on node {node_index}, which has {node.free if node.up else 0}"
            )
        gpus = tuple([gpu for gpu, tenants in enumerate(node.tenants) if not tenants][:count])
        for gpu in gpus:
            node.tenants[gpu] = 1
            node.used[gpu] = 1.0
        self._set_free(node, node.free - count)
        return Slice(node_index, gpus)

    def allocate_share(self, node_index: int, share: float) -> Slice:
        """Give a share of one GPU: of one that is shared already, if possible.

        Raises:
            ValueError: No GPU of the node has so much left.
        """
        node = self.nodes[node_index]
        gpu = node.fits_share(share)
        if gpu is None:
            if not node.up or not node.free:
                raise ValueError(f"expected {share} of a GPU on node {node_index}, where none has it left")
            gpu = node.tenants.index(0)
            self._set_free(node, node.free - 1)
        node.tenants[gpu] += 1
        node.used[gpu] += share
        node.shares += 1
        if node.shares == 1:
            insort(self.shared, node_index)
        return Slice(node_index, (gpu,), share)

    def join(self, placement: Sequence[Slice]) -> None:
        """Give the GPUs of a running job to a second one too (packing).

        Raises:
            ValueError: There are two on it already.
        """
        for piece in placement:
            tenants = self.nodes[piece.node].tenants
            for gpu in piece.gpus:
                if tenants[gpu] != 1:
                    raise ValueError(f"expected one job on GPU {gpu} of node {piece.node}, where {tenants[gpu]} are")
                tenants[gpu] = 2

    def release(self, placement: Sequence[Slice]) -> None:
        """Take back what a job had."""
        for piece in placement:
            node = self.nodes[piece.node]
            freed = 0
            for gpu in piece.gpus:
                node.tenants[gpu] -= 1
                if piece.share < 1:
                    node.used[gpu] -= piece.share
                if not node.tenants[gpu]:
                    node.used[gpu] = 0.0
                    freed += 1
            if freed:
                self._set_free(node, node.free + freed)
            if piece.share < 1:
                node.shares -= 1
                if not node.shares:
                    del self.shared[bisect_left(self.shared, piece.node)]

    def take_down(self, node_index: int) -> None:
        """Place nothing more on a node. Who is on it is the caller's affair."""
        node = self.nodes[node_index]
        if node.up:
            self._forget(node)
            node.up = False
            self.free -= node.free
            self.capacity -= node.spec.gpus

    def bring_up(self, node_index: int) -> None:
        """Use a node again."""
        node = self.nodes[node_index]
        if not node.up:
            node.up = True
            insort(self.by_free[node.free], node_index)
            self.free += node.free
            self.capacity += node.spec.gpus

    def _set_free(self, node: Node, free: int) -> None:
        if node.up:
            self._forget(node)
            self.free += free - node.free
            insort(self.by_free[free], node.index)
        node.free = free

    def _forget(self, node: Node) -> None:
        bucket = self.by_free[node.free]
        del bucket[bisect_left(bucket, node.index)]
