"""The local scheduler on real processes."""

import os
import signal
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedmate_records import EventKind, JobEvent
from scheduler_bridge.schedulers import ActuatorError, JobView, SchedulerJobState
from scheduler_bridge.schedulers.local.actuator import LocalActuator, LocalScheduler, StreamOutput
from tests.waiting import until

KEY = "restart/0123456789abcdef"
SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


class Cluster:
    def __init__(self, slots: int = 2) -> None:
        self.events: list[JobEvent] = []
        self.outputs: list[StreamOutput] = []
        self.scheduler = LocalScheduler(self.events.append, self.outputs.append, slots=slots, grace=1.0)
        self.actuator = LocalActuator(self.scheduler)

    def run(self, script: str, **options: object) -> str:
        return self.scheduler.submit([sys.executable, "-u", "-c", textwrap.dedent(script)], **options)  # type: ignore[arg-type]

    def wait(self, job: str, *states: SchedulerJobState, attempt: int = 0) -> JobView:
        def reached(jobs: list[JobView]) -> bool:
            return any(seen.job == job and seen.state in states and seen.attempt >= attempt for seen in jobs)

        assert self.scheduler.wait(reached, 20), self.scheduler.jobs()
        seen = self.scheduler.job(job)
        assert seen
        return seen

    def until(self, *kinds: tuple[str, EventKind]) -> list[tuple[str, EventKind]]:
        """Wait until all of `kinds` were emitted, and return all (job, kind) in order."""
        until(lambda: set(kinds) <= {(event.job, event.kind) for event in self.events}, shown=lambda: self.events)
        return [(event.job, event.kind) for event in self.events]

    def event(self, job: str, kind: EventKind, attempt: int = 0) -> JobEvent:
        self.until((job, kind))
        return next(event for event in self.events if (event.job, event.kind, event.attempt) == (job, kind, attempt))

    def printed(self, job: str, stream: str = "stdout") -> bytes:
        return b"".join(output.data for output in self.outputs if (output.job, output.stream) == (job, stream))


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    cluster = Cluster()
    yield cluster
    cluster.scheduler.close()


def test_runs_a_job_and_tells_its_life(cluster: Cluster) -> None:
    job = cluster.run("import sys; print('out'); print('err', file=sys.stderr)")
    cluster.wait(job, SchedulerJobState.COMPLETED)
    kinds = cluster.until((job, EventKind.ENDED))
    assert kinds == [(job, EventKind.SUBMITTED), (job, EventKind.STARTED), (job, EventKind.ENDED)]
    ended = cluster.event(job, EventKind.ENDED)
    assert (ended.exit_code, ended.signal, ended.state, ended.nodes) == (0, 0, "COMPLETED", ["slot-0"])
    assert cluster.printed(job) == b"out\n"
    assert cluster.printed(job, "stderr") == b"err\n"
    assert [output.stream for output in cluster.outputs if not output.data] in (
        ["stdout", "stderr"],
        ["stderr", "stdout"],
    )


@pytest.mark.parametrize(
    ("script", "code", "number"),
    [("raise SystemExit(3)", 3, 0), ("import os; os.kill(os.getpid(), 9)", None, 9)],
)
def test_tells_how_a_job_died(cluster: Cluster, script: str, code: int | None, number: int) -> None:
    ended = cluster.event(cluster.run(script), EventKind.ENDED)
    assert (ended.exit_code, ended.signal, ended.state) == (code, number, "FAILED")


def test_a_job_killed_from_outside_says_so(cluster: Cluster) -> None:
    job = cluster.scheduler.submit(SLEEP)
    cluster.wait(job, SchedulerJobState.RUNNING)
    cluster.scheduler.signal(job, signal.SIGKILL)
    ended = cluster.event(job, EventKind.ENDED)
    assert (ended.exit_code, ended.signal, ended.state) == (None, 9, "FAILED")
    with pytest.raises(ActuatorError, match="running"):
        cluster.scheduler.signal(job, signal.SIGKILL)


def test_a_program_that_is_not_there_fails_its_job_only(cluster: Cluster) -> None:
    job = cluster.scheduler.submit(["/no/such/program"])
    assert cluster.event(job, EventKind.ENDED).exit_code == 127
    assert cluster.event(cluster.run("print(1)"), EventKind.ENDED).exit_code == 0


def test_ranks_know_themselves_and_fall_together(cluster: Cluster) -> None:
    job = cluster.run(
        """
        import os, sys, time
        print(os.environ["RANK"], os.environ["WORLD_SIZE"], os.environ["LOCAL_JOB_ID"], flush=True)
        if os.environ["RANK"] == "1":
            sys.exit(5)
        time.sleep(60)
        """,
        ranks=2,
    )
    ended = cluster.event(job, EventKind.ENDED)
    assert (ended.exit_code, ended.state) == (5, "FAILED")
    by_rank = b"".join(output.data for output in cluster.outputs if output.rank == 1)
    assert by_rank == f"1 2 {job}\n".encode()


def test_output_of_an_ended_job_is_complete(cluster: Cluster) -> None:
    job = cluster.run("import sys; sys.stdout.write('x' * 3_000_000)")
    cluster.until((job, EventKind.ENDED))
    assert len(cluster.printed(job)) == 3_000_000


def test_jobs_wait_for_a_free_slot(cluster: Cluster) -> None:
    jobs = [cluster.scheduler.submit(SLEEP) for _ in range(3)]
    cluster.wait(jobs[1], SchedulerJobState.RUNNING)
    assert cluster.scheduler.job(jobs[2]).state is SchedulerJobState.PENDING  # type: ignore[union-attr]
    cluster.scheduler.cancel(jobs[0])
    assert cluster.wait(jobs[2], SchedulerJobState.RUNNING).nodes == ("slot-0",)
    assert cluster.event(jobs[0], EventKind.ENDED).state == "CANCELLED"


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no affinity on this system")
def test_packed_jobs_share_one_core_and_are_told_apart(cluster: Cluster) -> None:
    script = "import os, time; time.sleep(0.3); print(os.sched_getaffinity(0)); time.sleep(60)"
    first = cluster.run(script)
    cluster.wait(first, SchedulerJobState.RUNNING)
    second = cluster.run(script, pack_with=first)
    came, was_there = cluster.event(second, EventKind.PACKED), cluster.event(first, EventKind.PACKED)
    assert (came.packed_with, came.newcomer, came.nodes) == (first, True, ["slot-0"])
    assert (was_there.packed_with, was_there.newcomer, was_there.nodes) == (second, False, ["slot-0"])
    deadline = time.monotonic() + 10
    while not (cluster.printed(first) and cluster.printed(second)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert cluster.printed(first) == cluster.printed(second)


def test_a_slot_has_the_core_that_it_was_given() -> None:
    mine = sorted(os.sched_getaffinity(0))
    core = mine[-1]
    events: list[JobEvent] = []
    outputs: list[StreamOutput] = []
    with LocalScheduler(events.append, outputs.append, slots=2, cores=[core]) as scheduler:
        for _ in range(2):
            scheduler.submit([*SLEEP[:2], "import os, time; time.sleep(0.5); print(*os.sched_getaffinity(0))"])
        assert scheduler.wait(lambda jobs: all(job.state is SchedulerJobState.COMPLETED for job in jobs), 60)
    assert b"".join(output.data for output in outputs) == f"{core}\n".encode() * 2


def test_restart_goes_to_another_slot(cluster: Cluster) -> None:
    job = cluster.run(
        "import os, sys; print(os.environ['LOCAL_NODE']); sys.exit(os.environ['LOCAL_RESTART_COUNT'] == '0')"
    )
    cluster.wait(job, SchedulerJobState.FAILED)
    cluster.actuator.restart(job, ("slot-0",), KEY)
    assert cluster.wait(job, SchedulerJobState.COMPLETED, attempt=1).nodes == ("slot-1",)
    cluster.until((job, EventKind.REQUEUED))
    assert cluster.event(job, EventKind.ENDED, attempt=1).exit_code == 0
    assert cluster.printed(job) == b"slot-0\nslot-1\n"


def test_cancel_packing_sends_the_newcomer_back_for_good(cluster: Cluster) -> None:
    first = cluster.scheduler.submit(SLEEP)
    other = cluster.scheduler.submit(SLEEP)
    cluster.wait(first, SchedulerJobState.RUNNING)
    packed = cluster.scheduler.submit(SLEEP, pack_with=first)
    cluster.wait(packed, SchedulerJobState.RUNNING)
    seen = cluster.actuator.cancel_packing(packed, KEY)
    assert (seen.state, seen.attempt, seen.alone) == (SchedulerJobState.PENDING, 1, True)
    assert cluster.event(first, EventKind.UNPACKED).packed_with == packed
    cluster.scheduler.cancel(other)
    assert cluster.wait(packed, SchedulerJobState.RUNNING, attempt=1).nodes == ("slot-1",)
    assert len([event for event in cluster.events if event.kind is EventKind.PACKED]) == 2


def test_refuses_what_cannot_be(cluster: Cluster) -> None:
    job = cluster.scheduler.submit(SLEEP)
    cluster.wait(job, SchedulerJobState.RUNNING)
    with pytest.raises(ActuatorError, match="a job that is failed; came: 1 is running"):
        cluster.actuator.restart(job, (), KEY)
    with pytest.raises(ActuatorError, match="knows"):
        cluster.actuator.evict("99", KEY)
    cluster.scheduler.cancel(job)
    cluster.wait(job, SchedulerJobState.CANCELLED)
    with pytest.raises(ActuatorError, match="a job that is failed; came: 1 is cancelled"):
        cluster.actuator.restart(job, (), KEY)
    completed, failed = cluster.run("print('well')"), cluster.run("import sys; sys.exit(1)")
    cluster.wait(completed, SchedulerJobState.COMPLETED)
    with pytest.raises(ActuatorError, match="a job that is failed; came: 2 is completed"):
        cluster.actuator.restart(completed, (), KEY)
    cluster.wait(failed, SchedulerJobState.FAILED)
    with pytest.raises(ActuatorError, match="slot to be left"):
        cluster.actuator.restart(failed, ("slot-0", "slot-1"), KEY)
    with pytest.raises(ValueError, match="taken"):
        cluster.scheduler.submit(SLEEP, job=job)


def test_no_process_outlives_its_scheduler() -> None:
    cluster = Cluster()
    cluster.run(
        """
        import subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        print(child.pid, flush=True)
        time.sleep(60)
        """
    )
    deadline = time.monotonic() + 10
    while not cluster.printed("1"):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    child = int(cluster.printed("1"))
    cluster.scheduler.close()
    while True:
        try:
            if Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                break
        except OSError:
            break
        assert time.monotonic() < deadline + 5, "the child still lives"
        time.sleep(0.02)
    assert cluster.scheduler.job("1").state is SchedulerJobState.CANCELLED  # type: ignore[union-attr]
