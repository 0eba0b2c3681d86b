"""What is remembered of nodes: a bounded store of findings, and when each node was heard of."""

from collections.abc import Iterable

import msgspec

from .finding import Finding

KEPT_S = 1800.0
"""Findings are kept so long after they were seen."""
PER_NODE = 64
"""Findings kept of one node, the newest."""
NODES = 8192
"""Nodes remembered; beyond it the one silent for longest is forgotten."""
REPEATED_S = 60.0
"""A finding that comes again within so many seconds is the same one."""


class NodeMemory(msgspec.Struct):
    """One node: its findings, oldest first, and the time of the last line and the last GPU sample."""

    findings: list[Finding] = []
    log_heard: float = 0.0
    gpu_heard: float = 0.0
    gpu_since: float = 0.0

    @property
    def heard(self) -> float:
        """When anything was heard of the node."""
        return max(self.log_heard, self.gpu_heard)


class NodeEvidence(msgspec.Struct):
    """Findings by node. Plain data: it can be stored, and the same input makes the same store."""

    nodes: dict[str, NodeMemory] = {}

    def heard_log(self, node: str, time: float) -> None:
        """Note that the log of `node` was read up to `time`."""
        memory = self._of(node)
        memory.log_heard = max(memory.log_heard, time)

    def heard_gpu(self, node: str, time: float) -> None:
        """Note that GPUs of `node` were sampled at `time`."""
        memory = self._of(node)
        if time - memory.gpu_heard > REPEATED_S:
            memory.gpu_since = time
        memory.gpu_heard = max(memory.gpu_heard, time)

    def add(self, findings: Iterable[Finding]) -> None:
        """Remember `findings`; what came before and is too old goes."""
        for one in findings:
            memory = self._of(one.node)
            again = any(
                old.cause == one.cause and old.gpu == one.gpu and abs(one.time - old.time) < REPEATED_S
                for old in memory.findings
            )
            if not again:
                newest = max([one.time, *(old.time for old in memory.findings)])
                kept = [old for old in [*memory.findings, one] if old.time > newest - KEPT_S]
                memory.findings = sorted(kept, key=lambda old: old.time)[-PER_NODE:]

    def between(self, nodes: Iterable[str], start: float, end: float, job: str) -> list[Finding]:
        """Return the findings on `nodes` from `start` to `end` that may concern `job`, oldest first."""
        found = [
            one
            for node in nodes
            for one in self.nodes.get(node, NodeMemory()).findings
            if start <= one.time <= end and (not one.jobs or job in one.jobs)
        ]
        return sorted(found, key=lambda one: one.time)

    def gpus_watched(self, node: str, start: float, end: float) -> bool:
        """Return whether the GPUs of `node` were sampled without a gap from `start` to `end`."""
        memory = self.nodes.get(node)
        return memory is not None and memory.gpu_since <= start and memory.gpu_heard >= end

    def _of(self, node: str) -> NodeMemory:
        memory = self.nodes.get(node)
        if memory is None:
            if len(self.nodes) >= NODES:
                del self.nodes[min(self.nodes, key=lambda name: self.nodes[name].heard)]
            memory = self.nodes[node] = NodeMemory()
        return memory
