"""Jobs that no scheduler reports: what their pipes ship is shown at once, and a job ends when all its ranks have ended."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from schedmate.job_state import StateWord, state_of_status
from sinks.redis.connect import open_redis
from sinks.redis.read_state import read_job
from sinks.redis.status import JobStatus
from tests.servers.clickhouse import ClickHouseServer
from tests.servers.kafka import Kafka
from tests.servers.redis import RedisServer
from tests.streams.runtimes.workers import command, start, until

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.clickhouse,
    pytest.mark.redis,
    pytest.mark.slow,
    pytest.mark.timeout(480),
]
TRAINING = """
import pathlib, sys, time
rank, steps, end, code = sys.argv[1:]
for step in range(1, int(steps) + 1):
    print(f"step {step}/500 loss {2 - step / 500:.3f} 0.100 s/it", flush=True)
    time.sleep(0.01)
while not pathlib.Path(end).exists():
    time.sleep(0.05)
sys.exit(int(code))
"""


class Site:
    """A worker and a sink, and jobs that print into pipes until a file exists."""

    def __init__(self, broker: Kafka, redis: RedisServer, directory: Path) -> None:
        self.broker, self.redis, self.directory = broker, redis, directory
        self.program = directory / "train.py"
        self.program.write_text(TRAINING)

    @contextmanager
    def pipe(self, job: str, rank: int, steps: int, code: int = 0) -> Iterator[Path]:
        """Run a rank; yield the file whose existence ends it."""
        end, log = self.directory / f"end-{job}-{rank}", self.directory / f"{job}-{rank}.log"
        ranked = (sys.executable, str(self.program), str(rank), str(steps), str(end), str(code))
        process = start(
            self.broker, "pipe", "--job", job, "--rank", str(rank), "--node", f"n{rank}", "--", *ranked, log=log,
            SCHEDMATE_PRODUCER__DIRECTORY=str(self.directory / "spool"),
        )  # fmt: skip
        try:
            yield end
        finally:
            end.touch()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def status(self, job: str) -> JobStatus:
        with open_redis(self.redis.url) as client:
            return read_job(client, job) or JobStatus(job=job)


@pytest.fixture
def site(
    own_kafka: Kafka, clickhouse: ClickHouseServer, redis_store: RedisServer, tmp_path: Path
) -> Iterator[tuple[Site, Path]]:
    settings = {"SCHEDMATE_CLICKHOUSE__URL": clickhouse.url, "SCHEDMATE_REDIS__URL": redis_store.url}
    (tmp_path / "spool").mkdir()
    log = tmp_path / "commands.log"
    with command(own_kafka, "migrate", log=log, **settings) as migrating:
        assert migrating.wait(60) == 0
    with ExitStack() as running:
        running.enter_context(command(own_kafka, "worker", log=log))
        running.enter_context(command(own_kafka, "sink", log=log, **settings))
        yield Site(own_kafka, redis_store, tmp_path), log


def test_the_last_report_before_a_silence_is_shown_while_the_job_is_silent(site: tuple[Site, Path]) -> None:
    made, log = site
    with made.pipe("first", 0, 20):
        until(lambda: made.status("first").step == 20, log, 120)  # the worker and the sink are at work
    with made.pipe("silent", 0, 150):
        until(lambda: (made.status("silent").step or 0) > 0, log)
        began = time.monotonic()
        until(lambda: made.status("silent").step == 150, log)
        print(f"step 150 shown {time.monotonic() - began:.1f} s after the first one")
        assert state_of_status(made.status("silent"), time.time()).word is StateWord.RUNNING


@pytest.mark.parametrize(("code", "sentence"), [(0, "completed"), (3, "failed (exit code 3)")])
def test_a_job_of_two_ranks_ends_when_both_have_ended(site: tuple[Site, Path], code: int, sentence: str) -> None:
    made, log = site
    job, other_job = f"two-{code}", f"other-{code}"  # tests share a Redis
    with made.pipe(job, 1, 500, code) as last:
        with made.pipe(job, 0, 500) as first:
            until(lambda: made.status(job).step == 500, log, 120)
            first.touch()
        # A rank that starts and ends after it shows that the end of rank 0 has been read.
        with made.pipe(other_job, 0, 20) as other:
            other.touch()
            until(lambda: made.status(other_job).ended is not None, log)
        assert state_of_status(made.status(job), time.time()).word is StateWord.RUNNING
        last.touch()
        until(lambda: made.status(job).ended is not None, log)
    until(lambda: state_of_status(made.status(job), time.time()).sentence(time.time()) == sentence, log)
    assert made.status(job).step == 500
