"""Job events from a real Slurm."""

import time
from pathlib import Path

import pytest

from schedmate_records import EventKind, JobEvent
from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmCommands, SlurmJob
from scheduler_bridge.schedulers.slurm.events.model_reader import ModelReader
from scheduler_bridge.schedulers.slurm.events.watcher import SlurmWatcher
from tests.metric_values import value
from tests.processors.advise.metadata.trees import LOOP, NETS, grown
from tests.scheduler_bridge.schedulers.slurm.kept_events import KeptEvents
from tests.scheduler_bridge.schedulers.slurm.slurm_jobs import job
from tests.servers.slurm import Slurm
from tests.streams.producers.switchable import wait_for
from tests.waiting import until


@pytest.mark.slurm
class TestRealSlurm:
    @pytest.fixture
    def watched(self, slurm: Slurm, tmp_path: Path) -> tuple[Slurm, KeptEvents, SlurmWatcher]:
        told = KeptEvents()
        client = SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)}))
        return slurm, told, SlurmWatcher(told.connect, tmp_path / "checkpoint.json", client)

    def until(self, told: KeptEvents, watcher: SlurmWatcher, name: str, kind: EventKind, attempt: int = 0) -> JobEvent:
        def look() -> list[JobEvent]:
            watcher.poll()
            return [event for event in told.of(name) if (event.kind, event.attempt) == (kind, attempt)]

        return until(look, shown=lambda: told.of(name))[0]

    def test_lives_of_jobs(self, watched: tuple[Slurm, KeptEvents, SlurmWatcher]) -> None:
        slurm, told, watcher = watched
        began = time.time()
        well = slurm.submit("sleep 0.2", "--gres=shard:4")
        bad = slurm.submit("exit 3")
        killed = slurm.submit("sleep 0.5; kill -9 $$")
        cancelled = slurm.submit("sleep 60")
        watcher.poll()
        slurm.wait(cancelled, "RUNNING")
        slurm.run("scancel", cancelled)
        how = {}
        for name in (well, bad, killed, cancelled):
            ended = self.until(told, watcher, name, EventKind.ENDED)
            how[name] = (ended.exit_code, ended.signal, ended.state)
            assert ended.nodes
            assert began - 2 < ended.time < time.time() + 2
            assert told.kinds(name) == [EventKind.SUBMITTED, EventKind.STARTED, EventKind.ENDED]
        assert how[well] == (0, 0, "COMPLETED")
        assert how[bad] == (3, 0, "FAILED")
        assert how[killed] == (None, 9, "FAILED")
        assert how[cancelled][2] == "CANCELLED"
        started = told.of(well)[1]
        assert (started.gpus, started.user, started.directory) == (1.0, told.of(bad)[0].user, str(slurm.directory))

    def test_a_submission_tells_what_the_source_trains(self, slurm: Slurm, tmp_path: Path) -> None:
        told = KeptEvents()
        client = SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)}))
        watcher = SlurmWatcher(told.connect, tmp_path / "checkpoint.json", client, read_sources=True)
        tree = grown(
            slurm.directory / "project", {"train.py": LOOP, "nets.py": NETS, "t.sh": "#!/bin/sh\npython train.py $@\n"}
        )
        deadline = time.monotonic() + 120
        for epochs in range(1, 1000):  # a host that is too busy to read one tree in time reads the next
            asked = ("--parsable", "--hold", f"--chdir={tree}", "--nodes=2", "--gres=shard:4")
            waits = slurm.run("sbatch", *asked, f"{tree}/t.sh", "--epochs", f"{epochs}").strip()
            found = self.until(told, watcher, waits, EventKind.SUBMITTED).workload
            slurm.run("scancel", waits)
            if found:
                break
            assert time.monotonic() < deadline
        assert found
        assert (found.model_name, found.dataset_train, found.iters, found.iter_type) == (
            "TinyNet",
            "SVHN",
            epochs,
            "epoch",
        )
        assert found.gpus == 2
        assert value(watcher.metrics.sources_read) == 1

    def test_what_a_model_finds_is_told_while_the_job_waits(self, slurm: Slurm, tmp_path: Path) -> None:
        told = KeptEvents()
        client = SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)}))
        line = "go(0.0125)  # the learning rate\n"
        tree = grown(slurm.directory / "asked", {"train.py": line, "t.sh": "#!/bin/sh\npython train.py $@\n"})
        read = {"action": "file_read", "path": "train.py", "line": 1, "claims": []}
        claim = {"field": "lr", "value": "0.0125", "path": "train.py", "line": 1}
        done = {"action": "answer", "path": "", "line": 1, "claims": [claim]}
        reader = ModelReader(lambda prompt: done if "0.0125" in prompt.data else read)
        watcher = SlurmWatcher(told.connect, tmp_path / "c.json", client, read_sources=True, model=reader)
        deadline = time.monotonic() + 120
        for number in range(1000):  # a host that is too busy to read one tree in time reads the next
            waits = slurm.run("sbatch", "--parsable", "--hold", f"--chdir={tree}", f"{tree}/t.sh", f"{number}").strip()
            before = self.until(told, watcher, waits, EventKind.SUBMITTED).workload
            reader.drain()
            if before:
                break
            slurm.run("scancel", waits)
            assert time.monotonic() < deadline
        assert before
        after = self.until(told, watcher, waits, EventKind.DESCRIBED)
        slurm.run("scancel", waits)
        assert self.until(told, watcher, waits, EventKind.ENDED).workload is None
        assert after.workload
        assert (before.lr, after.workload.lr, after.id) == (
            None,
            0.0125,
            f"slurm/{waits}@{after.incarnation}/0/described",
        )
        assert told.kinds(waits) == [EventKind.SUBMITTED, EventKind.DESCRIBED, EventKind.ENDED]
        assert value(watcher.metrics.sources_completed) == 1

    def test_a_submission_tells_what_was_asked_for(self, watched: tuple[Slurm, KeptEvents, SlurmWatcher]) -> None:
        slurm, told, watcher = watched
        asked = (
            "--gres=shard:2",
            "--nodes=2",
            "--time=90",
            "--job-name=long run",
            "--mem=100",
            "--ntasks=4",
            "--begin=now+1hour",
        )
        waits = slurm.submit("sleep 60", *asked)
        submitted = self.until(told, watcher, waits, EventKind.SUBMITTED)
        slurm.run("scancel", waits)
        assert (submitted.name, submitted.partition, submitted.time_limit_s) == ("long run", "p", 5400.0)
        assert (submitted.gpus, submitted.node_count, submitted.cpus) == (1.0, 2, 4.0)
        assert submitted.memory_gib == pytest.approx(200 / 1024)
        assert submitted.nodes == []

    def test_packing_and_requeue(self, watched: tuple[Slurm, KeptEvents, SlurmWatcher]) -> None:
        slurm, told, watcher = watched
        first = slurm.submit("sleep 60", "--gres=shard:2", "--nodelist=n3")
        slurm.wait(first, "RUNNING")
        second = slurm.submit("sleep 60", "--gres=shard:2", "--nodelist=n3")
        came = self.until(told, watcher, second, EventKind.PACKED)
        there = self.until(told, watcher, first, EventKind.PACKED)
        assert (came.packed_with, came.newcomer, came.nodes) == (first, True, ["n3"])
        assert (there.packed_with, there.newcomer, there.nodes) == (second, False, ["n3"])
        slurm.run("scontrol", "requeuehold", second)
        requeued = self.until(told, watcher, second, EventKind.REQUEUED, attempt=1)
        assert self.until(told, watcher, first, EventKind.UNPACKED).packed_with == second
        assert requeued.attempt == 1
        assert EventKind.ENDED not in told.kinds(second)
        slurm.run("scancel", first, second)

    def test_tasks_of_an_array_are_jobs(self, watched: tuple[Slurm, KeptEvents, SlurmWatcher]) -> None:
        slurm, told, watcher = watched
        array = slurm.submit("exit $SLURM_ARRAY_TASK_ID", "--array=0-1")
        assert self.until(told, watcher, f"{array}_0", EventKind.ENDED).exit_code == 0
        assert self.until(told, watcher, f"{array}_1", EventKind.ENDED).exit_code == 1

    def test_no_user_speaks_for_another_job(self, watched: tuple[Slurm, KeptEvents, SlurmWatcher]) -> None:
        slurm, told, watcher = watched
        victim = slurm.submit("sleep 60")
        slurm.wait(victim, "RUNNING")
        forged = " UserId=r(0) Reason=None JobState=FAILED Restarts=0 ExitCode=3:0 NodeList=n1 EndTime=5 Command=x"
        text = f"c\nJobId={victim} JobName=x{forged}\nJobId=999999 JobName=x{forged}"
        sly = slurm.submit("sleep 60", f"--comment={text}")
        slyer = slurm.submit("sleep 60", f"--job-name={text}")
        self.until(told, watcher, sly, EventKind.STARTED)
        watcher.close()
        assert told.kinds(victim) == [EventKind.SUBMITTED, EventKind.STARTED]
        assert told.of("999999") == []
        assert value(watcher.metrics.unreadable) == 0
        slurm.run("scancel", victim, sly, slyer)

    def test_goes_on_where_it_stopped(self, watched: tuple[Slurm, KeptEvents, SlurmWatcher], tmp_path: Path) -> None:
        slurm, told, watcher = watched
        name = slurm.submit("sleep 1")
        self.until(told, watcher, name, EventKind.STARTED)
        watcher.close()
        later = KeptEvents()
        client = SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)}))
        successor = SlurmWatcher(later.connect, tmp_path / "checkpoint.json", client)
        self.until(later, successor, name, EventKind.ENDED)
        assert later.kinds(name) == [EventKind.ENDED]
        successor.close()
        (tmp_path / "checkpoint.json").write_text("{")
        again = KeptEvents()
        third = SlurmWatcher(again.connect, tmp_path / "checkpoint.json", client)
        third.poll()
        third.close()
        assert [event.id for event in again.of(name)] == [event.id for event in told.of(name) + later.of(name)]

    def test_a_broker_that_is_away_loses_nothing(
        self, watched: tuple[Slurm, KeptEvents, SlurmWatcher], tmp_path: Path
    ) -> None:
        slurm, told, watcher = watched
        told.away = True
        name = slurm.submit("exit 0")
        slurm.wait(name, "COMPLETED")
        assert watcher.poll() >= 3
        wait_for(lambda: watcher.shipper.counters.sends_failed)
        assert not (tmp_path / "checkpoint.json").exists()
        told.away = False
        self.until(told, watcher, name, EventKind.ENDED)
        watcher.close()
        assert (tmp_path / "checkpoint.json").exists()
        assert told.kinds(name) == [EventKind.SUBMITTED, EventKind.STARTED, EventKind.ENDED]


def test_a_scheduler_that_is_away_is_waited_for(tmp_path: Path) -> None:
    watcher = SlurmWatcher(
        KeptEvents().connect, tmp_path / "checkpoint.json", SlurmClient(SlurmCommands({"PATH": str(tmp_path)}))
    )
    assert watcher.poll() == 0
    assert value(watcher.metrics.away) == 1


class Jobs:
    """A scheduler's list that a test makes up; each look sees one more job."""

    unreadable = 0

    def __init__(self) -> None:
        self.looks, self.grow = 0, True

    def jobs(self) -> dict[str, SlurmJob]:
        self.looks += self.grow
        return {str(number): job(str(number)) for number in range(1, self.looks + 1)}

    def gpus(self, _: SlurmJob) -> float | None:
        return None


def test_no_event_is_dropped_while_the_broker_is_away_for_long(tmp_path: Path) -> None:
    """Memory is bounded: once it is full the list is not looked at. All that was seen is told, in order, when the broker is back."""
    told, jobs = KeptEvents(), Jobs()
    told.away = True
    watcher = SlurmWatcher(told.connect, tmp_path / "checkpoint.json", jobs, memory=20_000)  # type: ignore[arg-type]
    for _ in range(50):
        watcher.poll()
    assert 2 <= jobs.looks < 50
    seen, jobs.grow = jobs.looks, False
    told.away = False
    deadline = time.monotonic() + 30
    while len(told.events) < 2 * seen:
        assert time.monotonic() < deadline
        watcher.poll()
        time.sleep(0.02)
    watcher.close()
    assert {event.job for event in told.events} == {str(number) for number in range(1, seen + 1)}
    for number in range(1, seen + 1):
        assert told.kinds(str(number))[:2] == [EventKind.SUBMITTED, EventKind.STARTED]
