"""Forecasts of GPU demand on Helios Earth's VCs and on the spot trace's GPU models, against simple forecasts.

Models learn from the first part of a trace; the last quarter, which decides, is forecast hour by hour. Where the traces are not there,
nothing is measured. Writes results/forecast.csv (the shape of GFS's Table 7 and Figure 10) and results/forecast.png, unless settings are
being chosen.
"""

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.forecast.deep_ar import DeepAr
from benchmarks.forecast.dlinear import DLinear
from benchmarks.forecast.org_linear import OrgLinear
from benchmarks.forecast.scores import Scores, score
from benchmarks.forecast.traces import helios_earth, spot_2026
from benchmarks.simulate import plots
from processors.spot.forecast import Calibrated, DemandHistory, Forecast, Forecaster
from processors.spot.forecast.baselines import Naive
from processors.spot.forecast.boosted_trees import BoostedTrees
from schedmate.simulate.outcomes import write_table

RESULTS = Path(__file__).parent / "results"
COLUMNS = (
    "model", "MAE", "RMSE", "MAPE %", "0.9-MAQE", "0.95-MAQE", "covered 90 %", "covered 95 %", "training, processor s",
)  # fmt: skip
TRACES = Path(__file__).resolve().parents[3] / "shared" / "traces"
SETS: dict[str, Callable[[Path], DemandHistory]] = {"helios-earth": helios_earth, "spot-2026": spot_2026}
MODELS: dict[str, Callable[[], Forecaster]] = {
    "boosted trees": BoostedTrees,
    "boosted trees, calibrated": lambda: Calibrated(BoostedTrees()),
    "OrgLinear": OrgLinear,
    "OrgLinear, calibrated": lambda: Calibrated(OrgLinear()),
    "DLinear": DLinear,
    "DLinear, calibrated": lambda: Calibrated(DLinear()),
    "DeepAR, small": DeepAr,
    "seasonal naive": lambda: Naive("seasonal"),
    "last week's peak": lambda: Naive("peak"),
    "last value": lambda: Naive("last_value"),
}
TEST = 0.25
DAY = 24
"""Hours after which a calibrated model takes note of what came."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.forecast", description=__doc__)
    parser.add_argument("--traces", type=Path, default=TRACES, help="folder with the traces (default: %(default)s)")
    parser.add_argument("--horizon", type=int, default=4, help="hours forecast (H, default 4)")
    parser.add_argument("--before-test", action="store_true", help="leave the last quarter out, for choosing settings")
    parser.add_argument("--only", action="append", choices=list(MODELS), help="some models (default: all)")
    wanted = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 160)
    found: dict[tuple[str, str], list[str]] = {}
    for name, read in SETS.items():
        if not (wanted.traces / name).is_dir():
            console.print(f"{name}: not in {wanted.traces}; left out")
            continue
        history = read(wanted.traces)
        if wanted.before_test:
            history = history.first_hours(round(history.hours * (1 - TEST)))
        first = round(history.hours * (1 - TEST))
        table = Table(
            *COLUMNS,
            title=f"{name}: {len(history.demand)} series, {first} h learnt, {history.hours - first} h forecast, {wanted.horizon} ahead",
        )  # fmt: skip
        for model, make in MODELS.items():
            if not wanted.only or model in wanted.only:
                with console.status(f"{name}: {model}"):
                    scores, seconds = measure(make(), history, first, wanted.horizon)
                found[name, model] = [*_cells(scores), f"{seconds:.1f}"]
                table.add_row(model, *found[name, model])
        console.print(table)
    if found and not wanted.before_test and not wanted.only:
        save(RESULTS, found)


def save(folder: Path, found: Mapping[tuple[str, str], Sequence[str]]) -> None:
    """Write the figures of each trace and model, as a table and as bars."""
    folder.mkdir(exist_ok=True)
    write_table(folder / "forecast.csv", ("trace", *COLUMNS), ([*key, *cells] for key, cells in found.items()))
    panels: dict[str, dict[str, dict[str, plots.Interval]]] = {}
    for (name, model), cells in found.items():
        for column, cell in zip(COLUMNS[1:6], cells, strict=False):
            value = float(cell)
            panels.setdefault(f"{name}: {column}", {}).setdefault("", {})[model] = (value, value, value)
    plots.bars(folder / "forecast.png", panels)


def measure(model: Forecaster, history: DemandHistory, first: int, horizon: int) -> tuple[Scores, float]:
    """Return how well a model forecasts the hours from `first` on, having learnt from those before, and how long it learnt.

    Time is the processor's, of all threads.
    """
    started = time.process_time()
    model.fit(history.first_hours(first), horizon)
    seconds = time.process_time() - started
    last = history.hours - horizon + 1
    found: list[Forecast] = []
    actual = []
    for start in range(first, last, DAY):
        windows = history.windows(model.length, horizon, start, min(start + DAY, last))
        found.append(model.forecast(windows))
        actual.append(windows.future)
        known = start - horizon + 1
        if isinstance(model, Calibrated) and known >= first + DAY:
            model.observe(history.windows(model.length, horizon, known - DAY, known))
    return score(found, actual), seconds


def _cells(scores: Scores) -> list[str]:
    return [
        f"{scores.mae:.2f}", f"{scores.rmse:.2f}", f"{100 * scores.mape:.1f}", f"{scores.maqe_90:.4f}",
        f"{scores.maqe_95:.4f}", f"{100 * scores.covered_90:.1f}", f"{100 * scores.covered_95:.1f}",
    ]  # fmt: skip


if __name__ == "__main__":
    main()
