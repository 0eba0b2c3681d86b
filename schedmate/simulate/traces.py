"""Jobs and nodes from public traces. The columns identify the trace."""

from collections.abc import Callable, Iterator
from pathlib import Path

from .cluster import NodeSpec
from .job import Job, JobClass, PackedWorkload
from .reading import Row, TraceError, rows

COLUMNS = {
    "own": ("job_id", "submit_s", "duration_s", "gpus"),
    "helios": ("job_id", "submit_s", "vc", "gpu_num", "duration"),
    "philly": ("timestamp", "duration", "num_gpus", "cluster"),
    "openb": ("name", "num_gpu", "gpu_milli", "creation_time", "deletion_time"),
}
"""The columns by which a trace is known."""


def read_jobs(file: Path) -> list[Job]:
    """Read a trace: jobs in the order in which they were submitted.

    A job that asks for no GPU, or ends before it began, is left out.

    Args:
        file: CSV, plain or gzip, with the columns of `COLUMNS` and any others.

    Raises:
        TraceError: The columns are of no known trace, or a value is missing or no number.
    """
    jobs: list[Job] = []
    make: Callable[[Row, int], Job] | None = None
    order: list[tuple[float, float]] = []
    for number, row in enumerate(rows(file)):
        make = make or _maker(row)
        job = make(row, number)
        if job.total_gpus > 0 and job.duration_s >= 0:
            jobs.append(job)
            order.append((job.submit_s, row.number("tie_order", number)))
    if not jobs:
        raise TraceError(f"{file.name}: expected jobs that ask for GPUs, found none")
    return [jobs[index] for index in sorted(range(len(jobs)), key=order.__getitem__)]


def read_estimates(file: Path) -> dict[str, float]:
    """Read estimated durations by job: columns `job_id` and `estimate_s`, or `priority` as in Lucid's files.

    Lucid's estimator gave negative durations to some jobs; like its simulator, this takes them for 1000 s.

    Raises:
        TraceError: A column is missing, or a value is no number.
    """
    found = {}
    for row in rows(file):
        estimate = row.number("estimate_s" if row.has("estimate_s") else "priority")
        found[row.text("job_id")] = estimate if estimate >= 0 else 1000.0
    return found


def read_nodes(file: Path) -> list[NodeSpec]:
    """Read the nodes of a cluster.

    Columns: `gpus`, and if wanted `partition`, `gpu_type`, `name`, `count`; or those of Helios (`vc_config.csv`: nodes of 8 GPUs by VC)
        or of openb's
    node list (`sn`, `gpu`, `model`).

    Raises:
        TraceError: None of these columns are there, or a value is no number.
    """
    nodes: list[NodeSpec] = []
    for row in rows(file):
        if "num" in row.fields and "" in row.fields:
            nodes += [NodeSpec(gpus=8, partition=row.text(""))] * _count(row, "num", 100_000)
        elif row.has("sn"):
            nodes.append(NodeSpec(gpus=_count(row, "gpu", 64), gpu_type=row.text("model", ""), name=row.text("sn")))
        else:
            spec = NodeSpec(
                gpus=_count(row, "gpus", 64),
                gpu_type=row.text("gpu_type", ""),
                partition=row.text("partition", ""),
                name=row.text("name", ""),
            )
            nodes += [spec] * (_count(row, "count", 100_000) if row.has("count") else 1)
    if not nodes:
        raise TraceError(f"{file.name}: expected nodes, found none")
    return nodes


def _count(row: Row, name: str, most: int) -> int:
    value = row.number(name)
    if not 0 <= value <= most or value != int(value):
        raise TraceError(f"{row.where}: expected a whole number from 0 to {most} in column {name!r}, found {value:g}")
    return int(value)


def _maker(row: Row) -> Callable[[Row, int], Job]:
    makers = {"own": _own, "helios": _helios, "philly": _philly, "openb": _openb}
    for name, columns in COLUMNS.items():
        if all(column in row.fields for column in columns):
            return makers[name]
    wanted = "; ".join(f"{name}: {', '.join(columns)}" for name, columns in COLUMNS.items())
    raise TraceError(f"{row.where}: expected the columns of a trace ({wanted}), found {', '.join(row.fields)[:200]}")


def _own(row: Row, _: int) -> Job:
    job_class = row.text("class", "hp")
    if job_class not in {"hp", "spot"}:
        raise TraceError(f"{row.where}: expected hp or spot in column 'class', found {job_class[:40]!r}")
    every = row.text("checkpoint_every_s", "0")
    return Job(
        job_id=row.text("job_id"),
        submit_s=row.number("submit_s"),
        duration_s=row.number("duration_s"),
        gpus=_gpus(row, row.number("gpus")),
        pods=_count(row, "pods", 100_000) if row.has("pods") else 1,
        partition=row.text("partition", ""),
        user=row.text("user", ""),
        gpu_type=row.text("gpu_type", ""),
        job_class=JobClass(job_class),
        estimate_s=row.number("estimate_s") if row.has("estimate_s") else None,
        checkpoint_every_s=float("inf") if every == "inf" else row.number("checkpoint_every_s", 0.0),
    )


def _helios(row: Row, _: int) -> Job:
    workload = None
    if row.has("lucid_model"):
        workload = PackedWorkload(
            model=row.text("lucid_model"),
            dataset=row.text("lucid_dataset", ""),
            batch_size=int(row.number("lucid_batchsize", 0)),
            amp=bool(row.number("lucid_amp", 0)),
        )
    return Job(
        job_id=row.text("job_id"),
        submit_s=row.number("submit_s"),
        duration_s=row.number("duration", -1),
        gpus=_gpus(row, row.number("gpu_num")),
        partition=row.text("vc", ""),
        user=row.text("user", ""),
        workload=workload,
        memory_mib=row.number("lucid_gmem", 0.0),
    )


def _philly(row: Row, number: int) -> Job:
    from datetime import UTC, datetime  # noqa: PLC0415 -- for this trace alone

    text = row.text("timestamp")
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise TraceError(f"{row.where}: expected a date and time in column 'timestamp', found {text[:40]!r}") from error
    return Job(
        job_id=f"philly-{number}",
        submit_s=at.replace(tzinfo=UTC).timestamp(),
        duration_s=row.number("duration", -1),
        gpus=_gpus(row, row.number("num_gpus")),
        partition=row.text("cluster"),
    )


def _openb(row: Row, _: int) -> Job:
    gpus = row.number("num_gpu")
    milli = row.number("gpu_milli", 1000)
    started = row.number("scheduled_time", row.number("creation_time"))
    return Job(
        job_id=row.text("name"),
        submit_s=row.number("creation_time"),
        duration_s=row.number("deletion_time", -1) - started,
        gpus=_gpus(row, milli / 1000 if gpus == 1 and milli < 1000 else gpus),
        user=row.text("qos", ""),
        job_class=JobClass.SPOT if row.text("qos", "") == "BE" else JobClass.HP,
    )


def _gpus(row: Row, gpus: float) -> float:
    if not 0 <= gpus <= 1_000_000 or (gpus >= 1 and gpus != int(gpus)):
        raise TraceError(f"{row.where}: expected a share below 1 or a whole number of GPUs, found {gpus:g}")
    return gpus


def partitions(jobs: list[Job]) -> Iterator[tuple[str, list[Job]]]:
    """Yield each partition that jobs name, sorted, with its jobs in their order."""
    found: dict[str, list[Job]] = {}
    for job in jobs:
        found.setdefault(job.partition, []).append(job)
    yield from sorted(found.items())
