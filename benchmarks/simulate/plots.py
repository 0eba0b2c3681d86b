"""Figures of results. Need matplotlib, the extra `simulate`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.simulate.intervals import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Interval = tuple[float, float, float]
"""A mean, and its 95 % confidence interval."""
COLUMNS = 2


def distributions(file: Path, panels: Mapping[str, Mapping[str, Floats]]) -> None:
    """Draw the distribution of completion times, a panel a case.

    Args:
        file: PNG or SVG.
        panels: By case and policy, completion times in seconds, sorted.
    """
    figure, axes = _panels(list(panels))
    for axis, curves in zip(axes, panels.values(), strict=True):
        for name, times in curves.items():
            axis.plot(np.maximum(times, 1), np.arange(1, len(times) + 1) / len(times), label=name, linewidth=1)
        axis.set(xscale="log", xlabel="completion time, s", ylabel="share of jobs", ylim=(0, 1))
        axis.legend(fontsize="x-small")
    figure.savefig(file, dpi=110)


def bars(file: Path, panels: Mapping[str, Mapping[str, Mapping[str, Interval]]]) -> None:
    """Draw means as bars, grouped, a panel a figure.

    Args:
        file: PNG or SVG.
        panels: By figure, group and bar.
    """
    figure, axes = _panels(list(panels))
    for axis, groups in zip(axes, panels.values(), strict=True):
        names = list(dict.fromkeys(name for bars_of in groups.values() for name in bars_of))
        width = 0.8 / len(names)
        for number, name in enumerate(names):
            places = [place for place, each in enumerate(groups.values()) if name in each]
            values = np.array([groups[list(groups)[place]][name] for place in places])
            errors = np.abs(values[:, 1:].T - values[:, 0])
            at = np.array(places) + (number - (len(names) - 1) / 2) * width
            axis.bar(at, values[:, 0], width, yerr=errors, error_kw={"linewidth": 0.6}, label=name)
        axis.set_xticks(range(len(groups)), list(groups))
    axes[0].legend(fontsize="x-small")
    figure.savefig(file, dpi=110)


def _panels(titles: Sequence[str]) -> "tuple[Figure, list[Axes]]":
    from matplotlib.figure import Figure  # noqa: PLC0415 -- an extra

    rows = -(-len(titles) // COLUMNS)
    figure = Figure(figsize=(10, 3.2 * rows), layout="constrained")
    axes = list(figure.subplots(rows, COLUMNS, squeeze=False).ravel())
    for axis in axes[len(titles) :]:
        axis.remove()
    for axis, title in zip(axes, titles, strict=False):
        axis.set_title(title, fontsize="small")
        axis.grid(visible=True, alpha=0.3)
    return figure, axes[: len(titles)]
