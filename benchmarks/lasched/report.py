"""Tables on a terminal, and the same as Markdown."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from processors.advise.predictors.dataset import Vector
from processors.advise.predictors.job import Completion

from .metrics import MEASURES
from .scheduling import Row

DAY_S = 86_400.0
FEWEST = 200
"""Jobs that a group needs for its share to be named."""


def blocks_of(jobs: Sequence[Completion]) -> NDArray[np.int64]:
    """Return a number for each user's (else queue's) day: the unit that the bootstrap draws."""
    names = [(done.job.user or done.job.queue, int(done.job.submitted // DAY_S)) for done in jobs]
    known = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([known[name] for name in names], dtype=np.int64)


def prediction_table(
    title: str, found: Mapping[str, Vector], jobs: Sequence[Completion], parts: Mapping[str, NDArray[np.bool_]]
) -> Table:
    """Return one row a method: each measure with its 95 % bootstrap interval, then `<100 %`, Cov@25 and Cov@50 of each part."""
    true, blocks = np.array([done.duration_s for done in jobs]), blocks_of(jobs)
    short = ("<100 %", "Cov@25", "Cov@50")
    split = [f"{part}: {' / '.join(short)}" for part in parts]
    table = Table("method", *MEASURES, *split, title=title, title_justify="left", box=None, pad_edge=False)
    for name, seconds in found.items():
        cells = []
        for measure in MEASURES.values():
            value, (low, high) = measure(seconds, true), measure.interval(seconds, true, blocks)
            digits = 1 if value > 5 else 3
            cells.append(f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]")
        for rows in parts.values():
            values = [f"{MEASURES[one](seconds[rows], true[rows]):.1f}" if rows.any() else "-" for one in short]
            cells += [" / ".join(values)]
        table.add_row(name, *cells)
    return table


def interval_table(title: str, bounds: Mapping[str, tuple[Vector, Vector]], jobs: Sequence[Completion]) -> Table:
    """Return how many jobs are inside their 90 % interval: of all, and in the worst groups with `FEWEST` jobs."""
    table = Table(
        "margins",
        "all",
        "VCs",
        "GPU sizes",
        "VC x GPU size",
        "median high ÷ low",
        title=title,
        title_justify="left",
        box=None,
    )
    true = np.array([done.duration_s for done in jobs])
    for name, (low, high) in bounds.items():
        inside = (low <= true) & (true <= high)
        cells = []
        for groups in groupings(jobs).values():
            shares = [100 * inside[rows].mean() for rows in groups.values() if rows.sum() >= FEWEST]
            cells.append(f"{min(shares):.1f} to {max(shares):.1f} ({len(shares)})" if shares else "-")
        ratio = float(np.median((1 + high) / (1 + low)))
        table.add_row(name, f"{100 * inside.mean():.1f}", *cells, f"{ratio:.0f}")
    return table


def groupings(jobs: Sequence[Completion]) -> dict[str, dict[str, NDArray[np.bool_]]]:
    """Return the rows of each VC, of each GPU size, and of both."""
    keys = {
        "VC": [done.job.queue for done in jobs],
        "GPU": [f"{done.job.gpus:g} GPUs" for done in jobs],
        "both": [f"{done.job.queue}, {done.job.gpus:g} GPUs" for done in jobs],
    }
    return {
        kind: {name: np.array([one == name for one in names]) for name in sorted(set(names))}
        for kind, names in keys.items()
    }


def scheduling_table(found: Mapping[str, Sequence[Row]]) -> Table:
    """Return Table 4: the objectives side by side."""
    table = Table(title="Scheduling, relative to the optimum (Table 4)", title_justify="left", box=None, pad_edge=False)
    for name in found:
        table.add_column(name)
        table.add_column("rho max / p99 / median" if name == "max-stretch" else "ratio", justify="right")
    for line in zip_longest(*found.values()):
        cells: list[str] = []
        for row in line:
            cells += [row[0], " / ".join(f"{value:.3f}" for value in row[1])] if row else ["", ""]
        table.add_row(*cells)
    return table


def show(*tables: Table) -> None:
    """Print tables whole, however narrow the terminal."""
    console = Console(width=max(Console().width, 230))
    for table in tables:
        console.print(table, "")
