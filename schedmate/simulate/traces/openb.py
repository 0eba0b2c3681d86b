"""openb (Weng et al., ATC 2023; Alibaba's cluster-trace-gpu-v2023): `openb_pod_list_*.csv`. Best-effort pods are spot jobs."""

from ..job import Job, JobClass
from ..reading import Row

COLUMNS = ("name", "num_gpu", "gpu_milli", "creation_time", "deletion_time")


def job_of(row: Row, _: int) -> Job:
    """Return the job of a row; its duration is below 0 if it has no end.

    Raises:
        TraceError: A value is missing or not a number.
    """
    created = row.number("creation_time")
    milli = row.number("gpu_milli", 1000)
    shared = row.gpus("num_gpu") == 1 and milli < 1000
    ended = row.number("deletion_time", -1)
    return Job(
        job_id=row.text("name"),
        submit_s=created,
        duration_s=ended - row.number("scheduled_time", created) if ended >= 0 else -1,
        gpus=milli / 1000 if shared else row.gpus("num_gpu"),
        user=row.text("qos", ""),
        job_class=JobClass.SPOT if row.text("qos", "") == "BE" else JobClass.HP,
    )
