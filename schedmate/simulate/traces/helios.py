"""Helios (Hu et al., SC 2021): `cluster_log.csv`, or the form that Lucid's simulator reads (with `submit_s`, workloads and memory)."""

from ..job import Job, PackedWorkload
from ..reading import Row

COLUMNS = ("job_id", "vc", "gpu_num", "duration")


def job_of(row: Row, _: int) -> Job:
    """Return the job of a row.

    Raises:
        TraceError: A value is missing or not a number.
    """
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
        submit_s=row.number("submit_s") if row.has("submit_s") else row.moment("submit_time"),
        duration_s=row.number("duration", -1),
        gpus=row.gpus("gpu_num"),
        partition=row.text("vc", ""),
        user=row.text("user", ""),
        workload=workload,
        memory_mib=row.number("lucid_gmem", 0.0),
    )
