"""Synthetic spot jobs at one, two and four times the load of GFS's Table 3, under each policy (the shape of its Table 5).

"gfs" has what it has in the paper: weeks of demand before the window, and the parameters of Table 4. "gfs, live" has the forecaster of
`schedmate spot`. "ours" forecasts nothing: it keeps a few GPUs idle where jobs were evicted recently, starts small spot jobs first, and
evicts the jobs that the live bridge would evict. Chronus saves jobs at the ends of leases, which no other policy can; "chronus, unsaved"
loses what the others lose. The first table has means over seeds, with bootstrap 95 % confidence intervals; the second one shows which
policies are better in evictions, queueing and lost work together. The table so far is written after every seed.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from multiprocessing import Pool

from benchmarks.simulate.managers import learn, manager
from benchmarks.simulate.options import add_cluster, parser
from benchmarks.simulate.progress import show_progress
from benchmarks.simulate.spot_workloads import FIRST_SEED, NODES, spot_trial
from benchmarks.simulate.tables import RESULTS, save, show, show_pareto
from schedmate.simulate.outcomes import Summary
from schedmate.simulate.policies import POLICIES
from schedmate.simulate.policies.spot.chronus import Chronus
from schedmate.simulate.policies.spot.managed import Managed
from schedmate.simulate.simulation import Policy

BASELINES: Mapping[str, Callable[[], Policy]] = {
    **{name: POLICIES[name].make(None, []) for name in ("yarn-cs", "chronus", "lyra", "fgd")},
    "chronus, unsaved": partial(Chronus, saves=False),
}
MANAGERS = ("gfs", "gfs, live", "ours")
LOADS = (1.0, 2.0, 4.0)
GUARANTEE = 0.9
MOST_SKIPPED = 30
"""Draws for each one that is wanted with `--contended`: about one in four is contended at load 4."""
Pairs = dict[tuple[str, str], tuple[Summary, Summary]]


def main() -> None:
    made = parser("", __doc__, seeds=10)
    add_cluster(made, NODES, 1.0)
    made.add_argument("--contended", action="store_true", help="skip draws on which all jobs would find room at once")
    made.add_argument("--load", type=float, action="append", help="spot jobs over Table 3's (default 1, 2 and 4)")
    wanted = made.parse_args()
    run = partial(
        _run, loads=wanted.load or LOADS, days=wanted.days, scale=wanted.scale, only_contended=wanted.contended
    )
    found: dict[tuple[str, str], list[tuple[Summary, Summary]]] = defaultdict(list)
    with Pool(wanted.processes) as pool:
        answers = pool.imap(
            run, range(FIRST_SEED, FIRST_SEED + wanted.seeds * (MOST_SKIPPED if wanted.contended else 1))
        )
        answered = islice((pairs for pairs in answers if pairs), wanted.seeds)
        for pairs in show_progress(answered, "seeds simulated", wanted.seeds):
            for key, pair in pairs.items():
                found[key].append(pair)
            save(RESULTS / "spot.csv", "spot load", found)
    nodes = round(NODES * wanted.scale)
    seeds = max(map(len, found.values()), default=0)
    title = f"Synthetic workload, {nodes} nodes of 8 GPUs, {wanted.days:g} days, {seeds} seeds, 95 % intervals"
    show(title, "spot load", found)
    show_pareto("spot load", found)


def _run(seed: int, loads: tuple[float, ...], days: float, scale: float, *, only_contended: bool) -> Pairs:
    """Return the figures of each policy on a seed's workloads; none if the seed is skipped.

    The past of high-priority jobs is the same at all loads.
    """
    trials = {load: spot_trial(seed, load, days, scale) for load in loads}
    if only_contended and not all(trial.contended for trial in trials.values()):
        return {}
    learnt = learn(next(iter(trials.values())).past, ("orglinear", "live"), GUARANTEE, hours=1)
    pairs: Pairs = {}
    for load, trial in trials.items():
        for name in (*BASELINES, *MANAGERS):
            policy: Policy = BASELINES[name]() if name in BASELINES else Managed(manager(name, learnt), past=trial.past)
            pairs[f"{load:g} x", name] = trial.run(name, policy)
    return pairs


if __name__ == "__main__":
    main()
