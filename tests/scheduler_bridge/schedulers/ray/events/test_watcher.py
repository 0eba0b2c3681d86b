"""Job events from Ray's list of jobs, and from a real cluster."""

import time
import uuid
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate_records import EventKind, JobEvent
from scheduler_bridge.schedulers.ray.actuator import RayActuator
from scheduler_bridge.schedulers.ray.client.client import RayClient
from scheduler_bridge.schedulers.ray.client.connection import RayConnection
from scheduler_bridge.schedulers.ray.client.lineage import INTENT, SubmissionName
from scheduler_bridge.schedulers.ray.client.objects import RayJob
from scheduler_bridge.schedulers.ray.events.changes import PLACING_S, RayPlacement, ReportedJob, changes, ending
from scheduler_bridge.schedulers.ray.events.watcher import RayWatcher
from streams.producers.paths import JobPattern
from tests.docs.pages import ROOT
from tests.metric_values import value
from tests.scheduler_bridge.schedulers.ray.actuator.test_actuator import WORKERS
from tests.scheduler_bridge.schedulers.slurm.kept_events import KeptEvents
from tests.servers import free_port
from tests.servers.ray import RayServer

SUBMITTED, STARTED, REQUEUED, ENDED = EventKind.SUBMITTED, EventKind.STARTED, EventKind.REQUEUED, EventKind.ENDED


def job(name: str = "train", status: str = "RUNNING", start: int = 1000, **fields: Any) -> RayJob:
    made = RayJob(
        submission_id=name, status=status, entrypoint="python train.py", start_time=start, driver_node_id="x1"
    )
    return msgspec.structs.replace(made, **fields)


def placed(_: RayJob) -> RayPlacement:
    return RayPlacement(["n1", "n2"], 2.0, whole=True)


def nowhere(_: RayJob) -> RayPlacement:
    return RayPlacement(["n1"], None, whole=False)


class Looks:
    """Looks at one list after the other."""

    def __init__(self) -> None:
        self.known: dict[str, ReportedJob] = {}
        self.events: list[JobEvent] = []

    def __call__(self, *jobs: RayJob, locate: Any = placed, now: float = 100.0) -> list[EventKind]:
        events, self.known = changes(self.known, jobs, locate, now)
        self.events += events
        return [event.kind for event in events]


def test_a_life_is_told_once() -> None:
    look = Looks()
    assert look(job(status="PENDING", driver_node_id=None)) == [SUBMITTED]
    assert look(job(status="PENDING", driver_node_id=None)) == []
    assert look(job()) == [STARTED]
    assert look(job()) == []
    over = job(status="FAILED", end_time=90_000, driver_exit_code=137, error_type="JOB_ENTRYPOINT_COMMAND_ERROR")
    assert look(over) == [ENDED]
    assert look(over) == []
    submitted, started, ended = look.events
    assert (submitted.time, submitted.command, submitted.user) == (1.0, "python train.py", "")
    assert (started.nodes, started.gpus) == (["n1", "n2"], 2.0)
    assert (ended.time, ended.state, ended.signal, ended.exit_code, ended.nodes) == (
        90.0,
        "FAILED",
        9,
        None,
        ["n1", "n2"],
    )
    assert len({event.id for event in look.events}) == 3


def test_a_watcher_that_comes_late_tells_all_of_it() -> None:
    assert Looks()(job(status="SUCCEEDED", end_time=5000, driver_exit_code=0)) == [SUBMITTED, STARTED, ENDED]


def test_a_start_waits_for_the_workers_for_a_while() -> None:
    look = Looks()
    assert look(job(), locate=nowhere) == [SUBMITTED]
    assert look(job(), locate=nowhere, now=100 + PLACING_S / 2) == []
    assert look(job(), locate=nowhere, now=100 + PLACING_S) == [STARTED]
    assert (look.events[-1].time, look.events[-1].nodes, look.events[-1].gpus) == (100.0, ["n1"], None)


def test_attempts_are_one_job() -> None:
    look = Looks()
    first = job(status="FAILED", end_time=2000, driver_exit_code=1)
    look(first)
    intent = job("schedmate-intent.train", metadata={INTENT: "schedmate:evict/0123456789abcdef"})
    assert look(first, job("train.attempt1", start=3000), intent) == [REQUEUED, STARTED]
    assert look(job("train.attempt1", "STOPPED", 3000, end_time=4000), first) == [ENDED]
    assert {(event.job, event.attempt) for event in look.events} == {("train", 0), ("train", 1)}
    assert look.events[-1].state == "CANCELLED"


def test_a_head_that_has_forgotten_its_jobs_ended_them_nobody_knows_how() -> None:
    look = Looks()
    look(job(), job("done", "SUCCEEDED", end_time=2000))
    assert look() == [ENDED]
    (ended,) = [event for event in look.events if event.kind is ENDED and event.job == "train"]
    assert (ended.state, ended.exit_code) == ("", None)
    assert look(job(start=9000)) == [SUBMITTED, STARTED]  # its id is used again
    assert len({event.id for event in look.events}) == len(look.events)


def test_an_id_that_is_used_again_between_two_looks() -> None:
    look = Looks()
    look(job())
    assert look(job(start=9000)) == [ENDED, SUBMITTED, STARTED]


@pytest.mark.parametrize(
    ("fields", "lives", "wanted"),
    [
        ({"status": "SUCCEEDED"}, True, (0, 0, "COMPLETED")),
        ({"status": "STOPPED", "driver_exit_code": 143}, True, (None, None, "CANCELLED")),
        ({"status": "FAILED", "driver_exit_code": 3}, True, (3, 0, "FAILED")),
        ({"status": "FAILED", "driver_exit_code": -9}, True, (None, 9, "FAILED")),
        ({"status": "FAILED", "error_type": "JOB_SUPERVISOR_ACTOR_DIED"}, False, (None, None, "NODE_FAIL")),
        ({"status": "FAILED", "error_type": "JOB_SUPERVISOR_ACTOR_DIED"}, True, (None, None, "FAILED")),
        ({"status": "FAILED", "error_type": "RUNTIME_ENV_SETUP_FAILURE"}, True, (None, None, "FAILED")),
    ],
)
def test_how_it_ended(fields: dict[str, Any], lives: bool, wanted: tuple[Any, ...]) -> None:
    assert ending(RayJob(submission_id="a", **fields), lives)[:3] == wanted


def test_the_detail_leaves_out_what_the_job_printed() -> None:
    said = "Job entrypoint command failed with exit code 3, last available logs (truncated to 20,000 chars):\nTOKEN=1\n"
    how = ending(RayJob(submission_id="a", status="FAILED", driver_exit_code=3, error_type="E", message=said), True)
    assert how.detail == "E: Job entrypoint command failed with exit code 3"


STATUSES = st.sampled_from(["PENDING", "RUNNING", "STOPPED", "SUCCEEDED", "FAILED"])


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 2), STATUSES), max_size=12))
def test_whatever_is_listed_no_event_is_told_twice(steps: list[tuple[str, int, str]]) -> None:
    look, listed = Looks(), {}
    for name, attempt, status in steps:
        known = str(SubmissionName(name, attempt))
        if known in listed and listed[known].is_over:
            continue  # what is over stays so
        listed[known] = job(known, status)
        look(*listed.values())
    look(*listed.values())
    ids = [event.id for event in look.events]
    assert len(ids) == len(set(ids))
    for name in {step[0] for step in steps}:
        told = [event.attempt for event in look.events if event.job == name]
        assert told == sorted(told)


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(900)
class TestOnRay:
    def test_what_happens_is_told(self, ray_server: RayServer, tmp_path: Path) -> None:
        told = KeptEvents()
        watcher = RayWatcher(lambda: told, tmp_path / "ray-events.json", ray_server.client)
        name = ray_server.submit(f"watched-{uuid.uuid4().hex[:8]}", f"python {WORKERS} 2 fail")

        def life(attempt: int, *wanted: EventKind) -> list[JobEvent]:
            def mine() -> list[JobEvent]:
                return [event for event in told.events if event.job == name and event.attempt == attempt]

            def reached() -> bool:
                watcher.poll()
                return [event.kind for event in mine()] == list(wanted)

            ray_server.until(reached, f"{wanted} of {name}")
            return mine()

        _, started, ended = life(0, SUBMITTED, STARTED, ENDED)
        assert started.gpus == 2
        assert set(started.nodes) <= {"n1", "n2"}
        assert (ended.state, ended.exit_code) == ("FAILED", 3)
        actuator = RayActuator(ray_server.client)
        actuator.restart(name, (), "restart/0123456789abcdef")
        life(1, REQUEUED, STARTED)
        actuator.cancel(name, "cancel/0123456789abcdef")
        assert life(1, REQUEUED, STARTED, ENDED)[-1].state == "CANCELLED"
        watcher.close()
        again = RayWatcher(lambda: told, tmp_path / "ray-events.json", ray_server.client)
        assert again.poll() == 0
        again.close()

    def test_logs_of_drivers_tell_their_job_and_attempt(self, ray_server: RayServer) -> None:
        """By the pattern of docs/ray.md; what a driver's actors print is in its log, too."""
        page = (ROOT / "docs" / "ray.md").read_text()
        pattern = JobPattern(page.partition("--pattern '")[2].partition("'")[0])
        name = ray_server.submit(f"logged-{uuid.uuid4().hex[:8]}", f"python {WORKERS} 1 fail")
        ray_server.wait(name, "FAILED")
        RayActuator(ray_server.client).restart(name, (), "restart/0123456789abcdef")
        log = ray_server.logs / f"job-driver-{name}.attempt1.log"
        ray_server.until(lambda: log.exists() and "step 1 | loss 2.000" in log.read_text(), "the worker's line")
        RayActuator(ray_server.client).evict(name, "evict/0123456789abcdef")
        read = {file.name: pattern.read(str(file), "n1") for file in ray_server.logs.iterdir()}
        named = {file: (chunk.job, chunk.attempt) for file, chunk in read.items() if chunk}
        assert {told for told in named.values() if told[0] == name} == {(name, 0), (name, 1), (name, 2)}
        assert not [file for file in named if not file.startswith("job-driver-") or "intent" in file]
        ray_server.client.stop(f"{name}.attempt2")

    def test_a_head_that_is_away_is_waited_for(self, tmp_path: Path) -> None:
        client = RayClient(RayConnection(f"http://127.0.0.1:{free_port()}", timeout=1))
        watcher = RayWatcher(KeptEvents, tmp_path / "ray-events.json", client, clock=time.time)
        assert watcher.poll() == 0
        assert value(watcher.metrics.away) == 1
        watcher.close(1)
