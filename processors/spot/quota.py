"""How many GPUs spot jobs may have (GFS, section 3.3)."""

from .forecast.demand import Floats
from .settings import GfsSettings


def inventory(capacity: float, total: Floats) -> float:
    """Return f(p, H): the GPUs that high-priority jobs will not need in the guaranteed hours (Eq. 9).

    Eq. 9 as printed differs in two ways. It reads C - max(C, ...), which is never positive; the text states that the inventory is 0 if
    demand exceeds C, so this uses min. It adds the p-quantiles of the organisations, which assumes that all of them peak together; the
    authors' published code takes one quantile of the cluster's demand (Sjtucitlab/Spot, `update_spot_quota`), and so does this. Their code
    adds means and variances of the organisations; here the total is forecast directly, which assumes nothing of their correlation.

    Args:
        capacity: GPUs of the cluster (C).
        total: p-quantile of the cluster's demand in GPUs, one value for each hour.
    """
    return capacity - min(capacity, float(total.max()))


def spot_quota(available: float, safety: float, idle: float, spot_gpus: float) -> float:
    """Return the GPUs that spot jobs may have in all (Eq. 10).

    Args:
        available: f(p, H).
        safety: The safety coefficient eta.
        idle: GPUs without a job (S0).
        spot_gpus: GPUs of spot jobs (Sa).
    """
    return min(available * safety, idle + spot_gpus)


def next_safety(safety: float, eviction_rate: float, longest_wait_s: float, settings: GfsSettings) -> float:
    """Return the safety coefficient for the next interval (Eq. 11), within its bounds.

    As printed, the eviction rate is compared with the guarantee p = 0.9. A rate of 0.9 is no target: what is meant is the rate that the
    guarantee tolerates, 1 - p.

    Args:
        safety: The present one.
        eviction_rate: Evictions over evictions and guaranteed periods that were kept (e).
        longest_wait_s: Longest wait of a spot job in that time, in seconds (l).
        settings: Guarantee, threshold and bounds.
    """
    tolerated = 1 - settings.guarantee
    if eviction_rate > 1.5 * tolerated:
        safety *= tolerated / eviction_rate
    elif eviction_rate < 0.5 * tolerated and longest_wait_s > settings.long_wait_s:
        safety *= 1.5 - eviction_rate / tolerated
    return min(max(safety, settings.least_safety), settings.most_safety)
