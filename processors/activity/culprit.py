"""Which rank or node is missing from a hang, or fell silent first; unknown is an answer.

In a collective that never ends the GPUs of all ranks wait in its kernel but those of the rank that never came to it: they are idle. Where
GPUs do not show it, the rank that stopped printing well before the others does.
"""

from dataclasses import dataclass
from statistics import median

import msgspec

from schedmate_records import GpuState

from ..classified_chunk import ClassifiedChunk
from .held import HeldGpus


class RankProgress(msgspec.Struct, array_like=True):
    """Times of a rank's first and last progress, number of chunks with progress, and its node."""

    first: float
    last: float
    chunks: int
    node: str = ""


class RankLines(msgspec.Struct):
    """State of the ranks' progress. `many`: there are more ranks than are followed."""

    ranks: dict[int, RankProgress] = {}
    many: bool = False

    def add_chunk(self, chunk: ClassifiedChunk) -> None:
        """Add a chunk with progress."""
        known = self.ranks.get(chunk.rank)
        if known is not None:
            known.last, known.chunks = max(known.last, chunk.newest), known.chunks + 1
        # In a job of more than 1,024 ranks, lines name no rank.
        elif len(self.ranks) < 1024:
            self.ranks[chunk.rank] = RankProgress(chunk.newest, chunk.newest, 1, chunk.node)
        else:
            self.many = True

    def first_silent(self) -> int | None:
        """Return the rank that stopped before all others, where one did."""
        # A rank that showed progress in fewer chunks does not print regularly.
        regular = {rank: each for rank, each in self.ranks.items() if each.chunks >= 3}
        if self.many or len(regular) < 2:
            return None
        (rank, first), (_, second) = sorted(regular.items(), key=lambda item: (item[1].last, item[0]))[:2]
        gap = median((each.last - each.first) / (each.chunks - 1) for each in regular.values())
        # The rank fell silent 5 s before the next one, and twice the usual time between its chunks.
        return rank if second.last - first.last > max(5.0, 2.0 * gap) else None


@dataclass(frozen=True)
class Culprit:
    """The rank, and the node, as far as they are known; `words` end the sentence of an alarm."""

    node: str = ""
    rank: int | None = None
    words: str = ""


def culprit(gpus: HeldGpus, ranks: RankLines, activity: GpuState | None) -> Culprit:
    """Return the rank or node that is missing, where the GPUs or the lines show it."""
    idle = list(gpus.idle_ones()) if activity is GpuState.WAITING else []
    nodes = {node for node, _ in idle}
    if len(nodes) == 1:
        (node,) = nodes
        if len(idle) > 1:
            return Culprit(node, None, f"; {len(idle)} GPUs of {node} are idle and not in it")
        only = idle[0][1]
        named = "" if only.rank is None else f" (rank {only.rank})"
        return Culprit(node, only.rank, f"; GPU {only.gpu} of {node}{named} is idle and not in it")
    rank = ranks.first_silent()
    if rank is None:
        return Culprit()
    node = ranks.ranks[rank].node
    return Culprit(node, rank, f"; rank {rank}{f' on {node}' if node else ''} fell silent first")
