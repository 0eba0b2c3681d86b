"""Job events from a real Slurm, and the reading of its list of jobs."""

import os
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records import EventKind, JobEvent, decode
from streams.producers.slurm_events import Listing, SlurmWatcher
from streams.producers.slurm_events.changes import Known, changes
from streams.producers.slurm_events.host_list import expand
from streams.producers.slurm_events.record import SlurmJob, parse
from streams.transport import Outgoing, TransportError
from tests.metric_values import value
from tests.servers.slurm import Slurm

OWN = (
    " UserId=ada(1000) GroupId=lab(1000) MCS_label=N/A Priority=5 Nice=0 Account=(null) QOS=(null) JobState=FAILED"
    " Reason=NonZeroExitCode Dependency=(null) Requeue=1 Restarts=2 BatchFlag=1 Reboot=0 ExitCode=3:0 RunTime=00:00:01"
    " SubmitTime=100 EligibleTime=100 StartTime=101 EndTime=102 NodeList=n[1-2] BatchHost=n1 JOB_GRES=shard:4  "
    " Nodes=n[1-2] CPU_IDs=0 Mem=0 GRES=shard:2(IDX:0) MinCPUsNode=1 Features=(null)"
)
REST = " Command=/home/ada/train.sh --lr 0.1 WorkDir=/home/ada/my dir StdErr=/x StdIn=/dev/null StdOut=/x Power="


class Told:
    """A producer that keeps events; `away` makes it fail as a broker that is away does."""

    def __init__(self) -> None:
        self.events: list[JobEvent] = []
        self.away = False

    def send(self, message: Outgoing) -> "Future[None]":
        future: Future[None] = Future()
        if self.away:
            future.set_exception(TransportError("away"))
        else:
            assert message.value
            self.events.append(decode(JobEvent, message.value))
            future.set_result(None)
        return future

    def flush(self, timeout: float) -> None:
        pass

    def close(self) -> None:
        pass

    def of(self, job: str) -> list[JobEvent]:
        return [event for event in self.events if event.job == job]

    def kinds(self, job: str) -> list[EventKind]:
        return [event.kind for event in self.of(job)]


def job(name: str, state: str = "RUNNING", **changes: Any) -> SlurmJob:
    fields: dict[str, Any] = {
        "number": name.partition("_")[0],
        "job": name,
        "state": state,
        "restarts": 0,
        "nodes": ("n1",),
        "devices": frozenset({("n1", 0)}),
        "gpus": None,
        "shards": 2,
        "user": "ada",
        "command": "train.sh",
        "directory": "/home/ada",
        "submitted": 90.0,
        "started": 100.0,
        "ended": 200.0 if state in ("FAILED", "COMPLETED") else None,
        "exit_code": None,
        "signal": 0,
        "reason": "",
    }
    return SlurmJob(**fields | changes)


def step(known: dict[str, Known], *jobs: SlurmJob, now: float = 300.0) -> tuple[list[JobEvent], dict[str, Known]]:
    return changes(known, {each.job: each for each in jobs}, now, lambda each: each.shards / 4)


class TestReading:
    def test_a_record_is_read(self) -> None:
        found = parse("JobId=7 JobName=a b" + OWN + REST)
        assert found
        assert (found.job, found.state, found.restarts, found.user) == ("7", "FAILED", 2, "ada")
        assert (found.exit_code, found.signal, found.reason) == (3, 0, "NonZeroExitCode")
        assert (found.submitted, found.started, found.ended) == (100.0, 101.0, 102.0)
        assert found.nodes == ("n1", "n2")
        assert (found.devices, found.shards, found.gpus) == ({("n1", 0), ("n2", 0)}, 4, None)
        assert found.command == "/home/ada/train.sh --lr 0.1"
        assert found.directory == "/home/ada/my dir"

    def test_ids_are_what_slurm_prints(self) -> None:
        names = {
            "JobId=7 JobName=x": "7",
            "JobId=9 ArrayJobId=7 ArrayTaskId=2 ArrayTaskThrottle=1 JobName=x": "7_2",
            "JobId=7 ArrayJobId=7 ArrayTaskId=3-9%2 JobName=x": "7_3-9%2",
            "JobId=8 HetJobId=7 HetJobOffset=1 JobName=x HetJobIdSet=7-8": "7+1",
        }
        assert {head: found.job for head in names if (found := parse(head + OWN + REST))} == names

    def test_a_signal_is_no_exit_code(self) -> None:
        found = parse("JobId=7 JobName=x" + OWN.replace("ExitCode=3:0", "ExitCode=0:9") + REST)
        assert found
        assert (found.exit_code, found.signal) == (None, 9)

    @given(st.text(alphabet=st.characters(exclude_characters="\n", exclude_categories=["Cs"])))
    def test_no_name_and_no_comment_changes_what_is_believed(self, text: str) -> None:
        for line in (f"JobId=7 JobName={text}{OWN}{REST}", f"JobId=7 JobName=x{OWN}{REST} Comment={text}"):
            found = parse(line)
            assert found is None or (found.number, found.state, found.restarts, found.exit_code) == (
                "7",
                "FAILED",
                2,
                3,
            )

    @pytest.mark.parametrize(
        "name", ["x JobState=COMPLETED ExitCode=0:0", "x UserId=root(0) JobState=COMPLETED Restarts=9"]
    )
    def test_a_name_that_reads_as_fields_is_not_believed(self, name: str) -> None:
        found = parse(f"JobId=7 JobName={name}{OWN}{REST}")
        assert found is None or found.state == "FAILED"

    @given(st.text())
    def test_anything_can_come(self, text: str) -> None:
        assert parse(text) is None
        expand(text)

    def test_host_lists(self) -> None:
        assert expand("n[1-3,07],login") == ["n1", "n2", "n3", "n07", "login"]
        assert expand("r[1-2]n[08-10]") == ["r1n08", "r1n09", "r1n10", "r2n08", "r2n09", "r2n10"]
        assert expand("n[1-999999999]") == ["n1-999999999"]
        assert expand("") == []

    @given(st.lists(st.integers(0, 50), min_size=1, max_size=5, unique=True))
    def test_lists_of_numbers_stand_for_their_hosts(self, numbers: list[int]) -> None:
        assert expand(f"n[{','.join(map(str, numbers))}]") == [f"n{number}" for number in numbers]


class TestChanges:
    def test_a_job_seen_first_when_it_is_over_has_its_whole_life_told(self) -> None:
        events, _ = step({}, job("1", "FAILED", exit_code=3))
        assert [event.kind for event in events] == [EventKind.SUBMITTED, EventKind.STARTED, EventKind.ENDED]
        assert [event.time for event in events] == [90.0, 100.0, 200.0]

    def test_nothing_new_is_nothing_told(self) -> None:
        _, known = step({}, job("1"), job("2"))
        assert step(known, job("1"), job("2"))[0] == []

    def test_both_of_a_pair_are_told_and_the_later_is_the_newcomer(self) -> None:
        _, known = step({}, job("1"))
        events, known = step(known, job("1"), job("2", started=150.0))
        packed = {event.job: event for event in events if event.kind is EventKind.PACKED}
        assert {name: (event.packed_with, event.newcomer, event.time) for name, event in packed.items()} == {
            "1": ("2", False, 150.0),
            "2": ("1", True, 150.0),
        }
        events, known = step(known, job("1"), job("2", "COMPLETED", exit_code=0, started=150.0))
        assert [(event.job, event.kind) for event in events] == [
            ("1", EventKind.UNPACKED),
            ("2", EventKind.UNPACKED),
            ("2", EventKind.ENDED),
        ]
        assert {event.time for event in events} == {200.0}

    def test_jobs_on_other_gpus_of_the_node_are_not_packed(self) -> None:
        events, _ = step(
            {}, job("1"), job("2", devices=frozenset({("n1", 1)})), job("3", devices=frozenset({("n2", 0)}))
        )
        assert EventKind.PACKED not in {event.kind for event in events}

    def test_a_pair_that_met_again_in_another_attempt_is_told_again(self) -> None:
        _, known = step({}, job("1"), job("2"))
        events, _ = step(known, job("1"), job("2", restarts=1))
        assert [(event.job, event.kind, event.attempt) for event in events] == [
            ("1", EventKind.UNPACKED, 0),
            ("2", EventKind.UNPACKED, 0),
            ("2", EventKind.REQUEUED, 1),
            ("2", EventKind.STARTED, 1),
            ("1", EventKind.PACKED, 0),
            ("2", EventKind.PACKED, 1),
        ]

    def test_a_job_that_slurm_forgot_has_ended_somehow(self) -> None:
        _, known = step({}, job("1"), job("2", "FAILED"))
        events, known = step(known)
        assert [(event.job, event.kind, event.exit_code, event.state) for event in events] == [
            ("1", EventKind.ENDED, None, "")
        ]
        assert known == {}

    @given(st.lists(st.integers(0, 7), max_size=30), st.data())
    def test_told_twice_is_told_under_the_same_ids(self, moments: list[int], data: st.DataObject) -> None:
        """Whatever is seen of a history, and wherever the watcher forgets: no id stands for two events of different kinds."""
        life = [
            (),
            (job("1", "PENDING", nodes=(), devices=frozenset(), started=None),),
            (job("1"),),
            (job("1"), job("2", started=150.0)),
            (job("1"), job("2", "COMPLETING", started=150.0)),
            (job("1"), job("2", "PENDING", restarts=1, nodes=(), devices=frozenset(), started=None)),
            (job("1", "FAILED", exit_code=1), job("2", restarts=1, started=250.0)),
            (job("1", "FAILED", exit_code=1), job("2", "COMPLETED", restarts=1, started=250.0, exit_code=0)),
        ]
        known: dict[str, Known] = {}
        seen: dict[str, tuple[Any, ...]] = {}
        for moment in sorted(moments):
            events, after = step(known, *life[moment])
            for event in events:
                what = (event.job, event.attempt, event.kind, event.packed_with, event.exit_code)
                assert seen.setdefault(event.id, what) == what
            if data.draw(st.booleans()):
                known = after


@pytest.mark.slurm
class TestRealSlurm:
    @pytest.fixture
    def watched(self, slurm: Slurm, tmp_path: Path) -> tuple[Slurm, Told, SlurmWatcher]:
        told = Told()
        listing = Listing({"SLURM_CONF": str(slurm.configuration)})
        return slurm, told, SlurmWatcher(told, tmp_path / "checkpoint.json", listing)

    def until(self, told: Told, watcher: SlurmWatcher, name: str, kind: EventKind, attempt: int = 0) -> JobEvent:
        deadline = time.monotonic() + 20
        while True:
            watcher.poll()
            found = [event for event in told.of(name) if (event.kind, event.attempt) == (kind, attempt)]
            if found:
                return found[0]
            assert time.monotonic() < deadline, told.of(name)
            time.sleep(0.05)

    def test_lives_of_jobs(self, watched: tuple[Slurm, Told, SlurmWatcher]) -> None:
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

    def test_packing_and_requeue(self, watched: tuple[Slurm, Told, SlurmWatcher]) -> None:
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

    def test_tasks_of_an_array_are_jobs(self, watched: tuple[Slurm, Told, SlurmWatcher]) -> None:
        slurm, told, watcher = watched
        array = slurm.submit("exit $SLURM_ARRAY_TASK_ID", "--array=0-1")
        assert self.until(told, watcher, f"{array}_0", EventKind.ENDED).exit_code == 0
        assert self.until(told, watcher, f"{array}_1", EventKind.ENDED).exit_code == 1

    def test_no_user_speaks_for_another_job(self, watched: tuple[Slurm, Told, SlurmWatcher]) -> None:
        slurm, told, watcher = watched
        victim = slurm.submit("sleep 60")
        slurm.wait(victim, "RUNNING")
        forged = " UserId=r(0) Reason=None JobState=FAILED Restarts=0 ExitCode=3:0 NodeList=n1 EndTime=5 Command=x"
        text = f"c\nJobId={victim} JobName=x{forged}\nJobId=999999 JobName=x{forged}"
        sly = slurm.submit("sleep 60", f"--comment={text}")
        slyer = slurm.submit("sleep 60", f"--job-name={text}")
        self.until(told, watcher, sly, EventKind.STARTED)
        watcher.poll()
        assert told.kinds(victim) == [EventKind.SUBMITTED, EventKind.STARTED]
        assert told.of("999999") == []
        assert value(watcher.metrics.unreadable)
        slurm.run("scancel", victim, sly, slyer)

    def test_goes_on_where_it_stopped(self, watched: tuple[Slurm, Told, SlurmWatcher], tmp_path: Path) -> None:
        slurm, told, watcher = watched
        name = slurm.submit("sleep 1")
        self.until(told, watcher, name, EventKind.STARTED)
        later = Told()
        listing = Listing({"SLURM_CONF": str(slurm.configuration)})
        successor = SlurmWatcher(later, tmp_path / "checkpoint.json", listing)
        self.until(later, successor, name, EventKind.ENDED)
        assert later.kinds(name) == [EventKind.ENDED]
        (tmp_path / "checkpoint.json").write_text("{")
        again = Told()
        SlurmWatcher(again, tmp_path / "checkpoint.json", listing).poll()
        assert [event.id for event in again.of(name)] == [event.id for event in told.of(name) + later.of(name)]

    def test_a_broker_that_is_away_loses_nothing(self, watched: tuple[Slurm, Told, SlurmWatcher]) -> None:
        slurm, told, watcher = watched
        told.away = True
        name = slurm.submit("exit 0")
        slurm.wait(name, "COMPLETED")
        assert watcher.poll() == 0
        assert value(watcher.metrics.broker_away) == 1
        told.away = False
        watcher.poll()
        assert told.kinds(name) == [EventKind.SUBMITTED, EventKind.STARTED, EventKind.ENDED]

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root submits for others")
    def test_the_owner_of_a_job_is_found_by_each_of_its_names(self, slurm: Slurm) -> None:
        listing = Listing({"SLURM_CONF": str(slurm.configuration)})
        mine = slurm.submit("exit 0")
        theirs = slurm.submit("exit 0", "--uid=65534", "--job-name=x\n1 1 1 0")
        array = slurm.submit("exit 0", "--array=3-4", "--uid=65534")
        wanted = {mine: 0, theirs: 65534, array: 65534, f"{array}_3": 65534, f"{array}_4": 65534}
        assert listing.owners([*wanted, "999999", f"{array}_9", "4711; rm", "$(id)", "--me"]) == wanted
        assert listing.owners([theirs]) == {theirs: 65534}
        assert listing.owners(["999999"]) == {}
        assert listing.owners(["notes"]) == {}


def test_a_scheduler_that_is_away_is_waited_for(tmp_path: Path) -> None:
    watcher = SlurmWatcher(Told(), tmp_path / "checkpoint.json", Listing({"PATH": str(tmp_path)}))
    assert watcher.poll() == 0
    assert value(watcher.metrics.slurm_away) == 1
