"""Alibaba's PAI trace (cluster-trace-gpu-v2020), as ATLAS builds its table of jobs (atlas.txt, sections 2.1, 2.2 and 3.1).

Seven tables: CSV without a header line, `pai_NAME.csv`, and the names of its columns in `pai_NAME.header`. Quirks: numbers of
instances as floats ("2.0"), empty times, jobs without tag rows, `plan_cpu` and `plan_gpu` in per cent of a core or GPU *for each instance*,
times in seconds from the trace's start. A job's `start_time` is its submission; only its tasks have the times at which it ran.
"""

import csv
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import msgspec

from processors.advise.predictors.job import Completion, Submission

COLUMNS: dict[str, str] = {
    "pai_job_table": "job_name,inst_id,user,status,start_time,end_time",
    "pai_task_table": "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type",
    "pai_instance_table": "job_name,task_name,inst_name,worker_name,inst_id,status,start_time,end_time,machine",
    "pai_sensor_table": "job_name,task_name,worker_name,inst_id,machine,gpu_name,cpu_usage,gpu_wrk_util,avg_mem,max_mem,"
    "avg_gpu_wrk_mem,max_gpu_wrk_mem,read,write,read_count,write_count",
    "pai_group_tag_table": "inst_id,user,gpu_type_spec,group,workload",
    "pai_machine_spec": "machine,gpu_type,cap_cpu,cap_mem,cap_gpu",
    "pai_machine_metric": "worker_name,machine,start_time,end_time,machine_cpu_iowait,machine_cpu_kernel,machine_cpu_usr,"
    "machine_gpu,machine_load_1,machine_net_receive,machine_num_worker,machine_cpu",
}
"""The tables as published. Predictors learn from job, task and group tag; the others hold what is known only after a job has run."""
READ = ("pai_task_table", "pai_group_tag_table", "pai_job_table")
"""The tables that `read` reads."""
SENSORS = "pai_sensor_table"
UTC_OFFSET_S = 8 * 3600.0
TERMINATED = "Terminated"


class _Demand(msgspec.Struct):
    """Resources that a job's tasks requested, and their start and end."""

    start: float = math.inf
    end: float = -math.inf
    tasks: int = 0
    instances: int = 0
    cpus: float = 0.0
    gpus: float = 0.0
    memory_gib: float = 0.0
    whole: bool = True
    """Whether all tasks ended at known times."""


Advance = Callable[[int], object]


def _nothing(_: int) -> None:
    pass


def read(folder: Path, advance: Advance = _nothing) -> list[Completion]:
    """Return the jobs that terminated, with p* = max end - min start of their tasks and the totals that they asked for.

    Args:
        folder: Holds the tables.
        advance: Called with the number of characters that were read.

    Raises:
        FileNotFoundError: a table or its header is not there.
        ValueError: a header lacks a column.
    """
    demands: dict[str, _Demand] = {}
    for row in rows(folder, "pai_task_table", advance):
        _add(demands.setdefault(row["job_name"], _Demand()), row)
    tags = {row["inst_id"]: row for row in rows(folder, "pai_group_tag_table", advance)}
    found = []
    for row in rows(folder, "pai_job_table", advance):
        demand = demands.get(row["job_name"])
        submitted = _number(row["start_time"])
        if row["status"] != TERMINATED or demand is None or not demand.whole or math.isnan(submitted):
            continue
        if demand.end > demand.start:
            found.append(_job(row, submitted, demand, tags.get(row["inst_id"], {})))
    return found


def gpu_utilisation(folder: Path, advance: Advance = _nothing) -> dict[str, float]:
    """Return the mean utilisation of the GPUs of each job's workers, in percent, by job; of those that asked for GPUs.

    `gpu_wrk_util` is a worker's sum over its GPUs, and `plan_gpu` is their number. A share of a GPU counts as one.

    Raises:
        As `read`.
    """
    planned = {
        (row["job_name"], row["task_name"]): _number(row["plan_gpu"], 0.0) / 100
        for row in rows(folder, READ[0], advance)
    }
    sums: dict[str, tuple[float, int]] = {}
    for row in rows(folder, SENSORS, advance):
        used, gpus = _number(row["gpu_wrk_util"]), planned.get((row["job_name"], row["task_name"]), 0.0)
        if gpus > 0 and used >= 0:
            total, workers = sums.get(row["job_name"], (0.0, 0))
            sums[row["job_name"]] = total + min(100.0, used / max(1.0, gpus)), workers + 1
    return {job: total / workers for job, (total, workers) in sums.items()}


def rows(folder: Path, table: str, advance: Advance = _nothing) -> Iterator[dict[str, str]]:
    """Yield the rows of a table by the names in its header file, one at a time; one that has not as many values is passed over."""
    names = (folder / f"{table}.header").read_text(encoding="utf-8").strip().split(",")
    if missing := set(COLUMNS[table].split(",")) - set(names):
        raise ValueError(f"expected the columns {', '.join(sorted(missing))} in {table}.header; got {', '.join(names)}")
    with (folder / f"{table}.csv").open(encoding="utf-8", newline="") as lines:
        for values in csv.reader(_counted(lines, advance)):
            if len(values) == len(names):
                yield dict(zip(names, values, strict=True))


def _counted(lines: IO[str], advance: Advance) -> Iterator[str]:
    for line in lines:
        advance(len(line))
        yield line


def _add(demand: _Demand, row: dict[str, str]) -> None:
    start, end, instances = (_number(row[name]) for name in ("start_time", "end_time", "inst_num"))
    if row["status"] != TERMINATED or math.isnan(start) or math.isnan(end) or not instances > 0:
        demand.whole = False
        return
    demand.start, demand.end = min(demand.start, start), max(demand.end, end)
    demand.tasks += 1
    demand.instances += int(instances)
    cpus, gpus, memory = (_number(row[name], 0.0) for name in ("plan_cpu", "plan_gpu", "plan_mem"))
    demand.cpus += instances * cpus / 100
    demand.gpus += instances * gpus / 100
    demand.memory_gib += instances * memory


def _job(row: dict[str, str], submitted: float, demand: _Demand, tag: dict[str, str]) -> Completion:
    job = Submission(
        job_id=row["job_name"],
        submitted=submitted,
        user=row["user"],
        group=tag.get("group", ""),
        workload=tag.get("workload", ""),
        gpu_type=tag.get("gpu_type_spec", ""),
        gpus=demand.gpus,
        cpus=demand.cpus,
        memory_gib=demand.memory_gib,
        tasks=demand.tasks,
        instances=demand.instances,
    )
    return Completion(job=job, ended=demand.end, duration_s=demand.end - demand.start)


def _number(text: str, otherwise: float = math.nan) -> float:
    """Return a finite number, or the value for none."""
    try:
        value = float(text)
    except ValueError:
        return otherwise
    return value if math.isfinite(value) else otherwise
