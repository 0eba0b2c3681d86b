"""Makes up tables with the schema of the PAI trace, for tests: `python -m benchmarks.lasched make-pai DIR`.

Nothing in them was measured. Users submit groups of jobs that repeat, with log-normal durations, daily rhythm and PAI's quirks.
"""

import csv
import math
from pathlib import Path

import numpy as np

from schedmate.advisor.pai import COLUMNS, TERMINATED

DAY_S = 86_400.0
WORKLOADS = ("", "", "ctr", "bert", "graphlearn")
GPU_TYPES = ("", "", "V100", "T4")
NOTE = "MADE UP: these tables have the schema of the PAI trace, and none of its data.\n"


def write(folder: Path, *, jobs: int, seed: int) -> None:
    """Write seven tables and their headers, of `jobs` jobs in 60 days; the same seed makes the same bytes."""
    lot = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "MADE-UP.txt").write_text(NOTE, encoding="utf-8")
    tables: dict[str, list[list[object]]] = {name: [] for name in COLUMNS}
    groups = [_group(lot, number) for number in range(max(5, jobs // 40))]
    popularity = 1 / np.arange(1, len(groups) + 1)
    chosen = lot.choice(len(groups), size=jobs, p=popularity / popularity.sum())
    days = np.sort(lot.integers(0, 60, jobs))
    hours = np.clip(lot.normal(14, 4, jobs), 0, 23.9)
    submissions = np.sort(DAY_S * days + 3600 * hours)
    for number, (which, submitted) in enumerate(zip(chosen, submissions, strict=True)):
        _job(tables, lot, number, groups[which], round(float(submitted), 1))
    for machine in range(10):
        tables["pai_machine_spec"].append([f"m{machine}", "V100", 96, 512, 8])
    for name, columns in COLUMNS.items():
        (folder / f"{name}.header").write_text(columns + "\n", encoding="utf-8")
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows(tables[name])


def _group(lot: np.random.Generator, number: int) -> dict[str, object]:
    return {
        "name": f"group{number}",
        "user": f"user{lot.integers(0, 40)}",
        "workload": WORKLOADS[lot.integers(len(WORKLOADS))],
        "gpu_type": GPU_TYPES[lot.integers(len(GPU_TYPES))],
        "middle": float(lot.normal(math.log(660), 1.5)),
        "spread": float(lot.choice([0.1, 0.3, 1.0])),
        "tasks": int(lot.choice([1, 1, 1, 2])),
        "instances": int(lot.choice([1, 1, 1, 4, 16])),
        "gpu": float(lot.choice([0, 25, 50, 100, 100, 800])),
    }


def _job(
    tables: dict[str, list[list[object]]],
    lot: np.random.Generator,
    number: int,
    group: dict[str, object],
    submitted: float,
) -> None:
    name, inst = f"job{number}", f"inst{number}"
    middle, spread, tasks = float(str(group["middle"])), float(str(group["spread"])), int(str(group["tasks"]))
    started = round(submitted + float(lot.exponential(60)), 1)
    seconds = round(max(3.0, math.exp(lot.normal(middle, spread))), 1)
    odd = float(lot.random())
    status = "Failed" if odd < 0.08 else TERMINATED
    for task in range(tasks):
        role = "worker" if task == 0 else "ps"
        end: object = "" if odd > 0.99 else round(started + seconds * (1 if task == 0 else 0.9), 1)
        row = [name, role, f"{group['instances']}.0", status, started, end, 600.0, 29.3, group["gpu"], "MISC"]
        tables["pai_task_table"].append(row)
        tables["pai_instance_table"].append(
            [name, role, f"{inst}-{task}", f"w{number}-{task}", inst, status, started, end, "m0"]
        )
        tables["pai_sensor_table"].append([name, role, f"w{number}-{task}", inst, "m0", "/dev/nvidia0", *[1.0] * 10])
        tables["pai_machine_metric"].append([f"w{number}-{task}", "m0", started, end, *[1.0] * 8])
    tables["pai_job_table"].append([name, inst, group["user"], status, submitted, round(started + seconds, 1)])
    if odd < 0.9:
        tables["pai_group_tag_table"].append([inst, group["user"], group["gpu_type"], group["name"], group["workload"]])
