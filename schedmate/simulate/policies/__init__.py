"""The policies, by the names that the command line knows."""

from collections.abc import Callable, Mapping
from datetime import datetime

import msgspec

from processors.spot.estimator import DemandEstimator
from processors.spot.manager import Gfs

from ..interference import PackedSpeeds
from ..simulation import Policy
from ..throughput import quiet_times
from .backfill import Backfilled
from .lucid import Cancellation, Lucid
from .ordered import by_estimate, fifo, sjf, sjf_estimated
from .qssf import Qssf
from .spot.chronus import Chronus
from .spot.fgd import Fgd
from .spot.lyra import Lyra
from .spot.managed import Managed
from .spot.yarn import YarnCs
from .srtf import Srtf
from .tiresias import Tiresias

EPOCH = datetime(2024, 1, 1)
"""Second 0 of a trace: a Monday."""
GFS_LEARN_EVERY_H = 7 * 24
"""Hours between two times that GFS learns. `schedmate spot` learns once a day, which takes most of the time of a long simulation."""


class PolicyInfo(msgspec.Struct, frozen=True):
    """Description of a policy on the command line.

    Attributes:
        make: Makes one for a partition, from the measured speeds of pairs and the times of all submissions.
        summary: What it does, in a line.
        profiles: Jobs run on a profiler's nodes first.
        by_pods: It places pods, each on one node; larger jobs are cut into gangs first.
    """

    make: Callable[[PackedSpeeds | None, list[float]], Callable[[], Policy]]
    summary: str
    profiles: bool = False
    by_pods: bool = False


def _plain(make: Callable[[], Policy]) -> Callable[[PackedSpeeds | None, list[float]], Callable[[], Policy]]:
    return lambda _speeds, _submissions: make


def _lucid(cancellation: Cancellation | None) -> Callable[[PackedSpeeds | None, list[float]], Callable[[], Policy]]:
    def make(speeds: PackedSpeeds | None, submissions: list[float]) -> Callable[[], Policy]:
        if speeds is None:
            return lambda: Lucid(PackedSpeeds({}), lambda _: (True, float("inf")))
        quiet = quiet_times(submissions)
        return lambda: Lucid(speeds, quiet, cancellation)

    return make


def _gfs() -> Managed:
    return Managed(Gfs(estimator=DemandEstimator(EPOCH, learn_every_h=GFS_LEARN_EVERY_H)))


POLICIES: Mapping[str, PolicyInfo] = {
    "fifo": PolicyInfo(_plain(fifo), "first in, first out; no backfilling"),
    "sjf": PolicyInfo(_plain(sjf), "shortest job first, by true durations (an oracle)"),
    "sjf-estimated": PolicyInfo(_plain(sjf_estimated), "shortest job first, by estimates"),
    "fifo-backfill": PolicyInfo(
        _plain(lambda: Backfilled(lambda run: run.job.submit_s)), "first in, first out; EASY backfilling by estimates"
    ),
    "sjf-backfill": PolicyInfo(
        _plain(lambda: Backfilled(by_estimate)), "shortest job first, by estimates; EASY backfilling by them"
    ),
    "srtf": PolicyInfo(_plain(Srtf), "shortest remaining time first, preemptive (an oracle)"),
    "qssf": PolicyInfo(_plain(Qssf), "least estimated GPU time first"),
    "tiresias": PolicyInfo(_plain(Tiresias), "least attained GPU time first, preemptive; knows no durations"),
    "lucid": PolicyInfo(
        _lucid(None),
        "least estimated GPU time first, packing after a profile (with --pairs)",
        profiles=True,
    ),
    "lucid-schedmate": PolicyInfo(
        _lucid(Cancellation()), "Lucid, undoing packings that slow a job below 0.65", profiles=True
    ),
    "yarn-cs": PolicyInfo(
        _plain(YarnCs), "spot: first come, first served, best fit, evicting the youngest", by_pods=True
    ),
    "chronus": PolicyInfo(_plain(Chronus), "spot: leases of 5 minutes instead of evictions", by_pods=True),
    "lyra": PolicyInfo(_plain(Lyra), "spot: whole idle nodes on loan, taken back where that costs least", by_pods=True),
    "fgd": PolicyInfo(_plain(Fgd), "spot: placement that fragments nodes least", by_pods=True),
    "gfs": PolicyInfo(
        _plain(_gfs),
        "spot: a quota from forecasts of demand, least waste evicted (the live spot manager)",
        by_pods=True,
    ),
}
