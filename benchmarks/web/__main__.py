"""Times every view of the page over a made-up history: `python -m benchmarks.web --metrics 10000000`.

Each view is asked for over HTTP on the loopback, one request after the other; what is measured is from the request to the last byte of
the answer, which holds all that is painted first. Beside it stands the processor time that a request took, of all threads together (the
median): it says what a view costs where the machine is shared.
"""

import argparse
import os
import statistics
import tempfile
import time
import urllib.request
from pathlib import Path

from benchmarks.web.history import fill
from sinks.clickhouse.client import open_client
from sinks.clickhouse.migrate import migrate
from sinks.clickhouse.queries import queries
from tests.servers.web import web_server

VIEWS = (
    "/",
    "/jobs",
    "/jobs?show=failed&sort=gpus&page=20",
    "/jobs?q=job-99",
    "/job?id={job}",
    "/decisions",
    "/nodes",
    "/node?id=node-1",
    "/spot",
    "/shadow",
    "/questions",
    *(
        f"/questions/{question.name}?"
        + "&".join(f"{each.name}={{{each.name}}}" for each in question.parameters if each.default is None)
        for question in queries().values()
    ),
)
"""Every page, and every usual question with its defaults."""
WANTED_MS = 300


def main() -> None:
    """Fill a database, or take one that is there, and print a table of times."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--metrics", type=int, default=10_000_000, help="rows of job_metrics")
    given.add_argument("--jobs", type=int, default=100_000)
    given.add_argument("--requests", type=int, default=20, help="of each view")
    given.add_argument("--keep", type=Path, help="directory of the database; filled where it is empty, and kept")
    asked = given.parse_args()
    with tempfile.TemporaryDirectory() as made:
        directory = asked.keep or Path(made)
        ready = directory.exists() and any(directory.iterdir())
        url = f"chdb://{directory.absolute()}"
        if not ready:
            client = open_client(url)
            migrate(client)
            began = time.monotonic()
            fill(client, asked.jobs, asked.metrics)
            print(
                f"filled with {asked.metrics:,} measurements of {asked.jobs:,} jobs in {time.monotonic() - began:.0f} s"
            )
            client.close()
        _measure(url, f"job-{asked.jobs - 1}", asked.requests)


def _measure(url: str, job: str, requests: int) -> None:
    print(
        f"{'view':40}{'bytes':>9}{'p50 ms':>9}{'p95 ms':>9}{'CPU ms':>9}   wanted: p95 {WANTED_MS} ms; load {os.getloadavg()[0]:.1f}"
    )
    with web_server(lambda: open_client(url), {}) as address:
        began = time.perf_counter()
        urllib.request.urlopen(address, timeout=120).close()
        print(f"first visit after the start: {time.perf_counter() - began:.1f} s")
        for view in VIEWS:
            path, taken, used, size = view.format(job=job), [], [], 0
            for _ in range(requests):
                began, before = time.perf_counter(), time.process_time()
                with urllib.request.urlopen(address + path, timeout=60) as answer:
                    size = len(answer.read())
                taken.append((time.perf_counter() - began) * 1000)
                used.append((time.process_time() - before) * 1000)
            p95 = statistics.quantiles(taken, n=20)[-1]
            print(f"{path:40}{size:>9}{statistics.median(taken):>9.0f}{p95:>9.0f}{statistics.median(used):>9.0f}")


if __name__ == "__main__":
    main()
