"""GFS with other guaranteed hours (the shape of its Table 6), and without its parts (Tables 8 to 10), at twice the spot load.

gfs-e forecasts last week's peak, gfs-d keeps the safety coefficient at 1, gfs-s places by best fit alone, gfs-p evicts at random, gfs-sp
does both. Means over seeds, with bootstrap 95 % confidence intervals. The table so far is written after every case, and a run that was
interrupted goes on where it was.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec

from benchmarks.simulate import plots
from benchmarks.simulate.cases import Kept, measure
from benchmarks.simulate.managers import Learnt, learn, manager
from benchmarks.simulate.options import add_cluster, add_fresh, parser
from benchmarks.simulate.spot_workloads import FIRST_SEED, NODES, SpotTrial, spot_trial
from benchmarks.simulate.tables import CASES, RESULTS, bars, save, show
from schedmate.simulate.outcomes import Summary
from schedmate.simulate.policies.spot.managed import Managed

HOURS = (1, 2, 4)
PARTS = ("gfs-e", "gfs-d", "gfs-s", "gfs-p", "gfs-sp")
LOAD = 2.0
GUARANTEE = 0.9


class Case(msgspec.Struct, frozen=True):
    """A draw under one variant."""

    seed: int
    hours: int
    policy: str
    days: float
    scale: float


class Result(msgspec.Struct, frozen=True):
    """The figures of high-priority and of spot jobs."""

    hp: Summary
    spot: Summary


def main() -> None:
    made = parser(".ablations", __doc__, seeds=10)
    add_cluster(made, NODES, 0.125)
    add_fresh(made)
    wanted = made.parse_args()
    variants = [*((1, name) for name in ("gfs", *PARTS)), *((hours, "gfs") for hours in HOURS if hours > 1)]
    cases = [
        Case(seed, hours, policy, wanted.days, wanted.scale)
        for seed in range(FIRST_SEED, FIRST_SEED + wanted.seeds)
        for hours, policy in variants
    ]
    kept = Kept(CASES / "ablations.jsonl", Case, Result, fresh=wanted.fresh)
    found = _pairs(measure(kept, cases, _run, wanted.processes, _report))
    plots.bars(RESULTS / "ablations.png", bars(found))
    title = f"GFS and its parts, {round(NODES * wanted.scale)} nodes, {wanted.seeds} seeds, 95 % intervals"
    show(title, "guaranteed hours", found)


def _run(case: Case) -> Result:
    trial = _trial(case.seed, case.days, case.scale)
    learnt = _learnt(case.seed, case.days, case.scale, case.hours)
    policy = Managed(manager(case.policy, learnt, case.hours), past=trial.past)
    return Result(*trial.run(case.policy, policy))


@lru_cache(1)
def _trial(seed: int, days: float, scale: float) -> SpotTrial:
    return spot_trial(seed, LOAD, days, scale)


@lru_cache(len(HOURS))
def _learnt(seed: int, days: float, scale: float, hours: int) -> Learnt:
    return learn(_trial(seed, days, scale).past, ("orglinear", "peak"), GUARANTEE, hours)


def _report(found: Mapping[Case, Result]) -> None:
    save(RESULTS / "ablations.csv", "guaranteed hours", _pairs(found))


def _pairs(found: Mapping[Case, Result]) -> Mapping[tuple[str, str], Sequence[tuple[Summary, Summary]]]:
    pairs: dict[tuple[str, str], list[tuple[Summary, Summary]]] = {}
    for case, result in found.items():
        pairs.setdefault((str(case.hours), case.policy), []).append((result.hp, result.spot))
    return pairs


if __name__ == "__main__":
    main()
