"""What the interference monitor says of trainings that are slowed, and of those that are not: `python -m benchmarks.interference`.

Trainings are made up: a report every so many seconds, a pace that wanders (an autoregressive noise of the logarithm), and pauses of 3 to 20
reports in one of 33. A neighbour comes after 40 to 80 reports and changes the pace by a factor, or not at all; half an hour is watched.
"""

import argparse
import math
import random
from collections import deque
from statistics import median

from rich.console import Console
from rich.table import Table

from processors.interference.monitor import InterferenceMonitor, InterferenceState
from schedmate_records import EventKind, JobEvent, JobMetric, Position

REPORTS = 20
"""Reports that a metric rests on, as the tracker has it."""
SPACED_S = 2.0
STEPS = 10
"""Steps of a report."""
WATCHED_S = 1800.0
KEPT = 0.8
"""Share of the noise that stays from one report to the next."""
_AT = Position("job-events", 0, 0)


def main() -> None:
    """Run all cases and print them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.interference", description=__doc__)
    parser.add_argument("--runs", type=int, default=60, help="of each case (%(default)s)")
    runs = parser.parse_args().runs
    table = Table(
        "report every", "noise", "slowed by", "said", "median after", "median ratio", box=None, pad_edge=False
    )
    for every_s in (0.5, 5.0, 60.0):
        for noise in (0.05, 0.3, 0.6):
            for factor in (1.0, 1.3, 2.0):
                said = [one for seed in range(runs) if (one := run(seed, factor, every_s, noise))]
                after = f"{median(late for late, _ in said):.0f} s" if said else ""
                ratio = f"{median(ratio for _, ratio in said):.2f}" if said else ""
                table.add_row(f"{every_s:g} s", f"{noise:g}", f"{factor:g}", f"{len(said)} of {runs}", after, ratio)
    Console(width=100).print(table)


def run(seed: int, factor: float, every_s: float, noise: float) -> tuple[float, float] | None:
    """Return how long after the packing a slowdown was said, and its ratio; None where none was."""
    chance, monitor, state = random.Random(seed), InterferenceMonitor(), InterferenceState()
    comes = chance.uniform(40, 80) * every_s
    window: deque[tuple[float, int, float]] = deque(maxlen=REPORTS)
    time, step, wander, told, packed = 0.0, 0, 0.0, -math.inf, False
    while time < comes + WATCHED_S:
        wander = KEPT * wander + chance.gauss(0, noise * math.sqrt(1 - KEPT**2))
        took = every_s * math.exp(wander) * (factor if packed else 1.0)
        took += chance.uniform(3, 20) * every_s if chance.random() < 0.03 else 0.0
        time, step = time + took, step + STEPS
        if not packed and time >= comes:
            packed = True
            monitor.on_event(JobEvent(id="e", job="a", kind=EventKind.PACKED, time=comes, packed_with="b"), _AT, state)
        window.append((time, step, took / STEPS))
        if time - told < SPACED_S:
            continue
        told = time
        metric = JobMetric(
            id=str(time),
            job="a",
            time=time,
            step=step,
            step_time_s=median(pace for _, _, pace in window),
            since=window[0][0],
            since_step=window[0][1],
            reports=len(window),
        )
        for slowdown in monitor.on_metric(metric, _AT, state):
            return slowdown.time - comes, slowdown.ratio
    return None


if __name__ == "__main__":
    main()
