"""Nodes that fail and are repaired."""

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from .cluster import NodeSpec
from .simulation import NodeEvent


class FaultRates(msgspec.Struct, frozen=True):
    """Rates and durations of node failures. The defaults are those of 400 servers in 349 days of pre-training.

    They follow from 584 faults published with StepFun's InfiniteHBD (SIGCOMM 2025): faults are taken as a Poisson process, repairs as
    log-normal with the median and the mean (133 h) of theirs.

    Attributes:
        mean_days: Days between two faults of one node, on average.
        repair_median_h: Median hours until a node is back.
        repair_spread: Standard deviation of the logarithm of these hours.
    """

    mean_days: float = 239.0
    repair_median_h: float = 20.4
    repair_spread: float = 1.94


def draw_faults(
    nodes: Sequence[NodeSpec],
    start_s: float,
    end_s: float,
    seed: int,
    rates: FaultRates = FaultRates(),  # noqa: B008 -- frozen
) -> dict[str, list[NodeEvent]]:
    """Draw the faults of a time span, by partition.

    Args:
        nodes: Of all partitions.
        start_s: Its beginning.
        end_s: Its end; a node that is away then comes back in its time.
        seed: Of the random numbers.
        rates: How often, and for how long.
    """
    random = np.random.default_rng(seed)
    events: dict[str, list[NodeEvent]] = {}
    seen: dict[str, int] = {}
    for node in nodes:
        index = seen.get(node.partition, 0)
        seen[node.partition] = index + 1
        at = start_s + random.exponential(rates.mean_days * 86_400)
        while at < end_s:
            hours = random.lognormal(math.log(rates.repair_median_h), rates.repair_spread)
            back = at + 3600 * hours
            here = events.setdefault(node.partition, [])
            here += [NodeEvent(at_s=at, node=index, up=False), NodeEvent(at_s=back, node=index, up=True)]
            at = back + random.exponential(rates.mean_days * 86_400)
    return events
