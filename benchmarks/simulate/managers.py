"""GFS as the paper has it, without its parts one by one (Tables 8 to 10), and ours."""

import copy
import random
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from benchmarks.forecast.org_linear import OrgLinear
from benchmarks.simulate.headroom import HeadroomGfs
from benchmarks.simulate.spot_workloads import DAY, PAST_DAYS, START
from processors.spot.cluster import Request, needed, suits
from processors.spot.estimator import DemandEstimator, Estimator
from processors.spot.forecast import Calibrated, Forecaster
from processors.spot.forecast.baselines import Naive
from processors.spot.forecast.boosted_trees import BoostedTrees
from processors.spot.manager import ClusterView, Gfs
from processors.spot.settings import GfsSettings

LEARNT_H = 14 * 24
NEVER_H = 24 * 365
"""Models learn once, from the past; all loads of a seed have the same one."""


class BestFit(Gfs):
    """GFS-s: a pod goes where the fewest idle GPUs suffice; who is there, and who was evicted, does not matter."""

    def choose(self, view: ClusterView, request: Request) -> int | None:
        """Return the first of the fullest nodes that suffice."""
        for idle in range(needed(request), view.largest + 1):
            index = next((index for index in view.nodes_with(idle) if suits(view.node(index), request)), None)
            if index is not None:
                return index
        return None


class RandomVictims(Gfs):
    """GFS-p: nodes, and spot jobs on them, are drawn at random until the pods fit."""

    def __init__(self, start: datetime, settings: GfsSettings, estimator: Estimator) -> None:
        super().__init__(start, settings, estimator)
        self.draws = random.Random(0)

    def evictions(self, view: ClusterView, request: Request) -> tuple[Sequence[str], Sequence[int]] | None:
        """Return who goes."""
        nodes = {node.index: node for node in view.nodes() if suits(node, request)}
        free = {index: float(node.idle) for index, node in nodes.items()}
        victims: list[str] = []
        chosen: list[int] = []
        for _ in range(request.pods):
            for index in self.draws.sample(sorted(nodes), len(nodes)):
                going = []
                room = free[index]
                jobs = [job for job in nodes[index].spot if job.job_id not in victims]
                for job in self.draws.sample(jobs, len(jobs)):
                    if room >= needed(request):
                        break
                    going.append(job)
                    room += int(job.gpus[index])
                if room >= needed(request):
                    for job in going:
                        victims.append(job.job_id)
                        for where, gpus in job.gpus.items():
                            free[where] = free.get(where, 0.0) + int(gpus)
                    free[index] -= needed(request)
                    chosen.append(index)
                    break
            else:
                return None
        return victims, chosen


class Neither(BestFit, RandomVictims):
    """GFS-sp: both."""


Learnt = Mapping[str, Estimator]
"""What forecasts, by the names below; learnt from a past."""


def learn(past: Mapping[str, Sequence[float]], names: Sequence[str], p: float, hours: int) -> Learnt:
    """Learn once."""
    found: dict[str, Estimator] = {}
    for name in names:
        found[name] = ESTIMATORS[name]()
        found[name].forecast(past, 0.0, PAST_DAYS * DAY, p, hours)
    return found


def _estimator(make: Callable[[], Forecaster]) -> DemandEstimator:
    return DemandEstimator(START, ((LEARNT_H, make),), NEVER_H)


ESTIMATORS: Mapping[str, Callable[[], Estimator]] = {
    "orglinear": lambda: _estimator(OrgLinear),
    "live": lambda: _estimator(lambda: Calibrated(BoostedTrees())),
    "peak": lambda: _estimator(lambda: Naive("peak")),
}


def manager(name: str, learnt: Learnt, hours: int = 1) -> Gfs:
    """Return one of the managers, with what was learnt."""
    settings = GfsSettings(guaranteed_h=hours)
    fixed = GfsSettings(guaranteed_h=hours, least_safety=1.0, most_safety=1.0)
    if name == "gfs-e":
        return Gfs(START, settings, copy.deepcopy(learnt["peak"]))
    if name == "gfs, live":
        return Gfs(START, settings, copy.deepcopy(learnt["live"]))
    if name == "ours":
        return HeadroomGfs(START, settings)
    kinds: Mapping[str, type[Gfs]] = {"gfs-s": BestFit, "gfs-p": RandomVictims, "gfs-sp": Neither}
    return kinds.get(name, Gfs)(START, fixed if name == "gfs-d" else settings, copy.deepcopy(learnt["orglinear"]))
