"""Pictures: are the intervals as wide as they should be, and how large are relative errors."""

from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

from .metrics import Values, relative_error

mpl.use("Agg")

from matplotlib import pyplot as plt

LEAST_IN_GROUP = 50
COLOURS = plt.get_cmap("tab20")


def error_cdf(file: Path, predicted: Mapping[str, Values], true: Values, title: str) -> None:
    """Draw the share of jobs by relative error, as SchedMate's Figure 12 does."""
    figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
    for number, (name, seconds) in enumerate(predicted.items()):
        errors = np.sort(100 * relative_error(seconds, true))
        axes.plot(
            errors,
            100 * np.arange(1, len(errors) + 1) / len(errors),
            label=name,
            linewidth=1.2,
            color=COLOURS(number % 20),
        )
    axes.set(xlim=(0, 300), ylim=(0, 100), xlabel="relative error of the duration, %", ylabel="jobs, %", title=title)
    axes.axvline(100, color="grey", linewidth=0.8, linestyle=":")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", fontsize=8)
    figure.savefig(file, dpi=130)
    plt.close(figure)


def reliability(
    file: Path, bounds: tuple[Values, Values], true: Values, groups: Mapping[str, NDArray[np.bool_]], title: str
) -> None:
    """Draw the share of jobs inside their 90 % intervals, for each group of jobs with enough of them.

    Args:
        file: the PNG to write.
        bounds: low and high in seconds, each of shape (jobs,).
        true: seconds, shape (jobs,).
        groups: rows by name; each an array of booleans of shape (jobs,).
        title: of the picture.
    """
    inside = (bounds[0] <= true) & (true <= bounds[1])
    shown = {name: rows for name, rows in groups.items() if rows.sum() >= LEAST_IN_GROUP}
    shares = [100 * inside[rows.astype(bool)].mean() for rows in shown.values()]
    spread = [100 * 1.96 * np.sqrt(0.09 / rows.sum()) for rows in shown.values()]
    figure, axes = plt.subplots(figsize=(7, 1.2 + 0.25 * len(shown)), layout="constrained")
    axes.axvspan(80, 97, color="grey", alpha=0.15)
    axes.axvline(90, color="grey", linewidth=0.8, linestyle=":")
    axes.errorbar(shares, list(shown), xerr=spread, fmt="o", markersize=4, linewidth=1)
    axes.set(
        xlim=(60, 100), xlabel="jobs inside their 90 % interval, % (bars: sampling error if 90 % held)", title=title
    )
    axes.invert_yaxis()
    figure.savefig(file, dpi=130)
    plt.close(figure)
