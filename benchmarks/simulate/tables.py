"""Figures of policies over seeds, as a table on the terminal and as CSV."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.simulate.intervals import mean_and_interval
from benchmarks.simulate.plots import Interval
from schedmate.simulate.outcomes import Summary, write_table

RESULTS = Path(__file__).parent / "results"
CASES = RESULTS / "cases"
"""What interrupted runs go on from; not kept in git."""
FIGURES: Mapping[str, Callable[[Summary, Summary], float]] = {
    "HP JCT, s": lambda hp, _: hp.jct_mean_s,
    "HP p99, s": lambda hp, _: hp.jct_p99_s,
    "HP queue, s": lambda hp, _: hp.queue_mean_s,
    "spot JCT, s": lambda _, spot: spot.jct_mean_s,
    "spot queue, s": lambda _, spot: spot.queue_mean_s,
    "evictions a start, %": lambda _, spot: 100 * spot.eviction_rate,
    "GPU hours lost": lambda _, spot: spot.lost_gpu_s / 3600,
}
"""Of high-priority and of spot jobs."""
Found = Mapping[tuple[str, str], Sequence[tuple[Summary, Summary]]]
"""By case and policy, one pair a seed."""


def save(file: Path, case: str, found: Found) -> None:
    """Write means and their 95 % confidence intervals as CSV; cases and policies in the order in which they were found."""
    file.parent.mkdir(exist_ok=True)
    columns = (case, "policy", "seeds", *(f"{name}{part}" for name in FIGURES for part in ("", " low", " high")))
    write_table(file, columns, ([*row[:3], *(round(value, 2) for value in row[3])] for row in _rows(found)))


def bars(found: Found) -> Mapping[str, Mapping[str, Mapping[str, Interval]]]:
    """Return what `plots.bars` draws: by figure, case and policy, the mean and its interval."""
    drawn: dict[str, dict[str, dict[str, Interval]]] = {name: {} for name in FIGURES}
    for case, policy, _, values in _rows(found):
        for place, name in enumerate(FIGURES):
            drawn[name].setdefault(case, {})[policy] = (values[3 * place], values[3 * place + 1], values[3 * place + 2])
    return drawn


def show(title: str, case: str, found: Found) -> None:
    """Print means and their 95 % confidence intervals."""
    table = Table(case, "policy", *FIGURES, title=title)
    for case_name, policy, _, values in _rows(found):
        triples = zip(values[::3], values[1::3], values[2::3], strict=True)
        table.add_row(case_name, policy, *(f"{mean:,.1f} ({low:,.1f}-{high:,.1f})" for mean, low, high in triples))
    Console(width=None if sys.stdout.isatty() else 220).print(table)


PARETO = ("evictions a start, %", "spot queue, s", "GPU hours lost")
"""Figures that are compared together; less is better."""


def dominating(found: Found) -> Mapping[tuple[str, str], Sequence[str]]:
    """Return, by case and policy, the policies that are no worse in the mean of each figure of `PARETO`, and better in one."""
    means = {
        key: [float(np.mean([FIGURES[name](hp, spot) for hp, spot in pairs])) for name in PARETO]
        for key, pairs in found.items()
    }
    return {
        (case, policy): [
            other
            for (other_case, other), theirs in means.items()
            if other_case == case and theirs != own and all(one <= two for one, two in zip(theirs, own, strict=True))
        ]
        for (case, policy), own in means.items()
    }


def show_pareto(case: str, found: Found) -> None:
    """Print which policies are better in evictions, queueing and lost work together."""
    table = Table(case, "policy", "better in all three figures", title=f"Pareto: {', '.join(PARETO)}")
    for (case_name, policy), better in dominating(found).items():
        table.add_row(case_name, policy, ", ".join(better) or "none")
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def _rows(found: Found) -> Iterator[tuple[str, str, int, list[float]]]:
    for (case, policy), pairs in found.items():
        values: list[float] = []
        for figure in FIGURES.values():
            values += mean_and_interval(np.array([figure(hp, spot) for hp, spot in pairs]))
        yield case, policy, len(pairs), values
