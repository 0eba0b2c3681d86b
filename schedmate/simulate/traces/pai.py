"""PAI (Weng et al., NSDI 2022; Alibaba's cluster-trace-gpu-v2020): a directory with tables of jobs and their tasks."""

import math
from collections.abc import Iterator
from pathlib import Path

from ...advisor.pai import rows
from ..cluster import NodeSpec
from ..job import Job
from ..reading import TraceError


class _Demand:
    """Resources that the tasks of a job use.

    Attributes:
        start: The first start of a task, in seconds.
        end: The last end.
        gpus: GPUs of all instances.
        instances: Instances that use GPUs.
    """

    __slots__ = ("end", "gpus", "instances", "start")

    def __init__(self) -> None:
        self.start, self.end, self.gpus, self.instances = math.inf, -math.inf, 0.0, 0

    def add(self, row: dict[str, str]) -> None:
        """Add a task. A time that is missing leaves the job without a duration."""
        self.start = min(self.start, float(row["start_time"] or "-inf"))
        self.end = max(self.end, float(row["end_time"] or "inf"))
        gpus, instances = float(row["plan_gpu"] or 0) / 100, int(float(row["inst_num"] or 0))
        if gpus > 0:
            self.gpus += gpus * instances
            self.instances += instances


def jobs(folder: Path) -> Iterator[Job]:
    """Yield the jobs, each a gang of its instances that use GPUs.

    Instances of different tasks may use different numbers of GPUs. All instances of a job here have their mean, rounded up to whole GPUs
    if it is above one.

    Raises:
        TraceError: A table or its header is missing, or a value is not a number.
    """
    try:
        demands: dict[str, _Demand] = {}
        for row in rows(folder, "pai_task_table"):
            demands.setdefault(row["job_name"], _Demand()).add(row)
        for row in rows(folder, "pai_job_table"):
            demand = demands.get(row["job_name"]) or _Demand()
            each = demand.gpus / demand.instances if demand.instances else 0.0
            duration = demand.end - demand.start
            yield Job(
                job_id=row["job_name"],
                submit_s=float(row["start_time"]),
                duration_s=duration if math.isfinite(duration) else -1,
                gpus=round(each, 4) if each < 1 else math.ceil(each - 1e-9),
                pods=demand.instances or 1,
                user=row["user"],
            )
    except (OSError, ValueError, OverflowError) as error:
        raise TraceError(f"expected PAI's tables as CSV with their .header files in {folder}: {error}") from error


def nodes(folder: Path) -> list[NodeSpec]:
    """Return the machines that have GPUs.

    Raises:
        TraceError: The table or its header is missing, or a value is not a number.
    """
    try:
        found = [
            NodeSpec(gpus=int(float(row["cap_gpu"])), gpu_type=row["gpu_type"], name=row["machine"])
            for row in rows(folder, "pai_machine_spec")
        ]
    except (OSError, ValueError, OverflowError) as error:
        raise TraceError(f"expected pai_machine_spec.csv with its .header file in {folder}: {error}") from error
    return [node for node in found if node.gpus > 0]
