"""Parameters of GFS (Table 4), and bounds that the paper has not."""

import msgspec

HOUR = 3600.0
"""Seconds of an hour."""
DAY = 24 * HOUR
CLUSTER = ""
"""The key of the whole cluster's demand among that of organisations. Its peak is less than the sum of theirs, which do not coincide."""


class GfsSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of GFS.

    Attributes:
        guarantee: Probability p with which a spot job is not evicted within the guaranteed hours; 1 - p of evictions are tolerated.
        guaranteed_h: Hours H that are guaranteed, and forecast.
        eviction_window_h: Hours whose evictions and kept guarantees give the eviction rate. The authors' code has four.
        update_every_s: Seconds between two updates of the quota.
        long_wait_s: Threshold theta: the longest wait of a spot job above which a cautious quota grows.
        recent_weight: Gamma of Eq. 15: weight of the last hour's evictions against the last day's.
        penalty: m of Eq. 16.
        waste_weight: Beta of Eq. 19.
        least_safety: Lower bound of the safety coefficient eta. The rule is applied at each update, to evictions of the last H hours:
            without a bound one bad hour takes eta to nothing.
        most_safety: Upper bound of eta.
    """

    guarantee: float = 0.9
    guaranteed_h: int = 1
    eviction_window_h: int = 4
    update_every_s: float = 300.0
    long_wait_s: float = HOUR
    recent_weight: float = 0.8
    penalty: float = 3.0
    waste_weight: float = 0.5
    least_safety: float = 0.25
    most_safety: float = 2.0

    def __post_init__(self) -> None:
        if not 0 < self.guarantee < 1:
            raise ValueError(f"expected a guarantee between 0 and 1, got {self.guarantee}")
        if self.guaranteed_h < 1:
            raise ValueError(f"expected at least one guaranteed hour, got {self.guaranteed_h}")
        if not 0 < self.least_safety <= 1 <= self.most_safety:
            raise ValueError(f"expected bounds of eta around 1, got {self.least_safety} and {self.most_safety}")
