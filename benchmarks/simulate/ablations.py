"""GFS with other guaranteed hours (the shape of its Table 6), and without its parts (Tables 8 to 10), at twice the spot load.

gfs-e forecasts last week's peak, gfs-d keeps the safety coefficient at 1, gfs-s places by best fit alone, gfs-p evicts at random, gfs-sp
does both. Means over seeds, with bootstrap 95 % confidence intervals.
"""

from collections import defaultdict
from functools import partial
from multiprocessing import Pool

from rich.console import Console
from rich.progress import track

from benchmarks.simulate.managers import learn, manager
from benchmarks.simulate.options import add_cluster, parser
from benchmarks.simulate.spot_workloads import FIRST_SEED, NODES, spot_trial
from benchmarks.simulate.tables import RESULTS, save, show
from simulate.outcomes import Summary
from simulate.policies.spot.managed import Managed

HOURS = (1, 2, 4)
PARTS = ("gfs-e", "gfs-d", "gfs-s", "gfs-p", "gfs-sp")
LOAD = 2.0
GUARANTEE = 0.9
Pairs = dict[tuple[str, str], tuple[Summary, Summary]]


def main() -> None:
    made = parser(".ablations", __doc__, seeds=10)
    add_cluster(made, NODES)
    wanted = made.parse_args()
    found: dict[tuple[str, str], list[tuple[Summary, Summary]]] = defaultdict(list)
    with Pool(wanted.processes) as pool:
        answers = pool.imap(
            partial(_run, days=wanted.days, scale=wanted.scale), range(FIRST_SEED, FIRST_SEED + wanted.seeds)
        )
        for pairs in track(answers, "simulating", wanted.seeds, console=Console(stderr=True), transient=True):
            for key, pair in pairs.items():
                found[key].append(pair)
            save(RESULTS / "ablations.csv", "guaranteed hours", found)
    title = f"GFS and its parts, {round(NODES * wanted.scale)} nodes, {wanted.seeds} seeds, 95 % intervals"
    show(title, "guaranteed hours", found)


def _run(seed: int, days: float, scale: float) -> Pairs:
    trial = spot_trial(seed, LOAD, days, scale)
    pairs: Pairs = {}
    for hours in HOURS:
        learnt = learn(trial.past, ("orglinear", "peak") if hours == 1 else ("orglinear",), GUARANTEE, hours)
        for name in ("gfs", *(PARTS if hours == 1 else ())):
            pairs[str(hours), name] = trial.run(name, Managed(manager(name, learnt, hours), past=trial.past))
    return pairs


if __name__ == "__main__":
    main()
