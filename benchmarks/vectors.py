"""The nearest of 100,000 past jobs in Redis: `python -m benchmarks.vectors [REDIS-SERVER...]`, one row a search and server.

Half of the asked jobs have many alike, half none. Processor time is that of this process and the server's together.
"""

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.estimates import job_like_many, spread
from processors.advise.past import PastJob, SubmittedJob
from processors.advise.past.embedding import command_vector
from processors.advise.past.vectors import MOST, VectorIndex
from schedmate.advisor.redis_similar import RedisSimilarJobs
from sinks.redis.connect import open_redis
from streams.resilience import Outage
from tests.servers.redis import RedisServer, redis_server

SEARCHES = 200
COUNT, THRESHOLD = 3, 0.9
_TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print the table."""
    table = Table("server", "what", "figure", box=None)
    for program in sys.argv[1:] or ["redis-server"]:
        with tempfile.TemporaryDirectory() as scratch, redis_server(Path(scratch), program) as server:
            for what, figure in measure(server):
                table.add_row(program, what, figure)
    Console().print(table)


def measure(server: RedisServer) -> list[tuple[str, str]]:
    """Return (what, figure) rows of one server."""
    client = open_redis(server.url, timeout_s=60.0, binary=True)
    stored = RedisSimilarJobs(client, "bench:", command_vector, Outage("Redis"))
    before, start = _used(server.pid), time.perf_counter()
    stored.extend(
        [PastJob(about=job_like_many(number), ended=float(number), duration_s=60.0) for number in range(MOST)]
    )
    rows = [
        (f"adding {MOST:,} jobs, by the clock", f"{time.perf_counter() - start:.0f} s"),
        (f"adding {MOST:,} jobs, processor time", f"{_used(server.pid) - before:.0f} s"),
        ("memory of the server", f"{int(client.info('memory')['used_memory']) / 2**20:.0f} MiB"),
    ]
    began = _used(server.pid)
    stored.nearest(job_like_many(0), COUNT, THRESHOLD)
    rows.append(("the first search, processor time", f"{1000 * (_used(server.pid) - began):.0f} ms"))
    exact = VectorIndex()
    for number in range(MOST):
        exact.add(_vector(job_like_many(number)))
    for name, asked in (
        ("many alike", [job_like_many(MOST + number) for number in range(SEARCHES)]),
        ("none alike", [SubmittedJob(job="", command=f"tool{number} --deck c{number}") for number in range(SEARCHES)]),
    ):
        rows += _searched(stored, exact, server.pid, name, asked)
    return rows


def _searched(
    stored: RedisSimilarJobs, exact: VectorIndex, pid: int, name: str, asked: Sequence[SubmittedJob]
) -> list[tuple[str, str]]:
    times, found, began = list[float](), list[list[float]](), _used(pid)
    for job in asked:
        start = time.perf_counter()
        found.append([cosine for _, cosine in stored.nearest(job, COUNT, THRESHOLD) or []])
        times.append(time.perf_counter() - start)
    used = (_used(pid) - began) / len(asked)
    best = [[cosine for _, cosine in exact.nearest(_vector(job), COUNT, THRESHOLD)] for job in asked]
    same = sum(
        len(one) == len(other) and np.allclose(one, other, atol=1e-4) for one, other in zip(found, best, strict=True)
    )
    return [
        (f"{name}: by the clock", spread(times, "ms")),
        (f"{name}: processor time, mean", f"{1000 * used:.2g} ms"),
        (f"{name}: as near as an exact search", f"{same} of {len(asked)}"),
    ]


def _vector(job: SubmittedJob) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
    vector = command_vector(job)
    assert vector is not None
    return vector


def _used(pid: int) -> float:
    """Return the processor time of this process and of `pid`, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return time.process_time() + (int(fields[11]) + int(fields[12])) / _TICKS


if __name__ == "__main__":
    main()
