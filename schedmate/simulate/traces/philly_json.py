"""Philly (Jeon et al., ATC 2019) as published: `cluster_job_log`, a JSON list of jobs with their attempts."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from schedmate_records import NOT_JSON, in_words

from ..job import Job
from ..reading import TraceError, moment, opened


class _Server(msgspec.Struct):
    gpus: list[str] = []


class _Attempt(msgspec.Struct):
    start_time: str | None = None
    end_time: str | None = None
    detail: list[_Server] = []


class _Job(msgspec.Struct):
    jobid: str
    submitted_time: str | None = None
    vc: str = ""
    user: str | None = None
    attempts: list[_Attempt] = []


def jobs(file: Path) -> Iterator[Job]:
    """Yield the jobs. The duration is that of all attempts together, and the GPUs are those of the largest attempt.

    The file gives no GPUs for a job that never ran, so that such a job counts as one GPU. Its duration is below 0.

    Raises:
        TraceError: The file is not such a list, or a time cannot be read.
    """
    try:
        with opened(file) as stream:
            found = msgspec.json.decode(stream.read(), type=list[_Job])
    except NOT_JSON as error:
        raise TraceError(f"{file.name}: expected Philly's cluster_job_log, a JSON list: {in_words(error)}") from error
    for number, each in enumerate(found):
        where = f"{file.name}, job {number + 1}"
        if not each.submitted_time:
            raise TraceError(f"{where}: expected submitted_time, found none")
        spans = [
            moment(attempt.end_time, where) - moment(attempt.start_time, where)
            for attempt in each.attempts
            if attempt.start_time and attempt.end_time
        ]
        sizes = [sum(len(server.gpus) for server in attempt.detail) for attempt in each.attempts if attempt.start_time]
        yield Job(
            job_id=each.jobid,
            submit_s=moment(each.submitted_time, where),
            duration_s=sum(spans) if spans else -1,
            gpus=max(sizes, default=1),
            partition=each.vc,
            user=each.user or "",
        )
