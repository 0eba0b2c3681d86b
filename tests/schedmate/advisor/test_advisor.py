"""The history in a file, what fills it, and the answers to submissions."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.advisor.accounting import sacct, script_of, table
from schedmate.advisor.history_file import HistoryFile, history_file
from schedmate.advisor.settings import CURRENT
from schedmate.advisor.submissions import SubmissionAdvisor
from schedmate_records import ANSWERED, Estimate, EventKind, JobEvent, Position, UserError, Workload
from tests.metric_values import value

NO_MODEL = Path("/nowhere/current")
SACCT = """JobID|User|State|Start|End|WorkDir|SubmitLine|JobName
11|ada|COMPLETED|2026-11-01T10:00:00|2026-11-01T11:00:00|/home/ada/p|sbatch -p gpu --gres=gpu:8 train.sh --lr 0.1|train
11.batch|ada|COMPLETED|2026-11-01T10:00:00|2026-11-01T11:00:00|/home/ada/p||batch
12|ada|CANCELLED by 7|2026-11-01T10:00:00|2026-11-01T10:01:00|/home/ada/p|sbatch train.sh|train
13|ada|RUNNING|2026-11-01T10:00:00|Unknown|/home/ada/p|sbatch train.sh|train
14|ada|COMPLETED|2026-11-01T10:00:00|2026-11-01T09:00:00|/home/ada/p|sbatch train.sh|train
15|ada|COMPLETED|yesterday|2026-11-01T09:00:00|/home/ada/p|sbatch train.sh|train
"""


def event(kind: EventKind, job: str, time: float, **fields: object) -> JobEvent:
    about = {
        "command": "/home/ada/p/train.sh",
        "directory": "/home/ada/p",
        "user": "ada",
        "scheduler": "slurm",
    } | fields
    return JobEvent(id=f"slurm/{job}/0/{kind}", job=job, kind=kind, time=time, **about)  # type: ignore[arg-type]


def ran(job: str, start: float, seconds: float) -> list[JobEvent]:
    return [
        event(EventKind.STARTED, job, start),
        event(EventKind.ENDED, job, start + seconds, exit_code=0, signal=0, state="COMPLETED"),
    ]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[HistoryFile]:
    with history_file(tmp_path / "made" / "history.db") as opened:
        yield opened


def handled(store: HistoryFile, events: list[JobEvent], models: Path = NO_MODEL.parent) -> list[Estimate]:
    told: list[Estimate] = []
    advisor = SubmissionAdvisor(store, told.extend, models / CURRENT)
    advisor.handle([(Position("job-events", 0, offset), each) for offset, each in enumerate(events)])
    return told


def test_a_submission_is_answered_from_the_runs_before_it(store: HistoryFile) -> None:
    events = [event(EventKind.SUBMITTED, "1", 0.0), *ran("1", 10.0, 600.0), event(EventKind.SUBMITTED, "2", 700.0)]
    first, second = handled(store, events)
    assert (first.method, first.duration_s, first.revision) == ("unknown", None, 0)
    assert (second.job, second.method, second.similar_jobs) == ("2", "resubmission", ["1"])
    assert second.duration_s == pytest.approx(600, rel=0.01)
    assert second.id == "estimate/2/job-events/0/3/0"


def test_what_a_job_trains_finds_jobs_alike_also_after_a_requeue(store: HistoryFile) -> None:
    vit = Workload(
        model_name="ViT-B/16", task_type="image-classification", dataset_train="ImageNet", iters=90, iter_type="epoch"
    )
    longer = msgspec.structs.replace(vit, iters=180)
    requeued = msgspec.structs.replace(event(EventKind.REQUEUED, "1", 100.0), id="slurm/1/1/requeued", attempt=1)
    again = [msgspec.structs.replace(each, id=f"{each.id}/1", attempt=1) for each in ran("1", 110.0, 600.0)]
    events = [event(EventKind.SUBMITTED, "1", 0.0, workload=vit), requeued, *again]
    events.append(event(EventKind.SUBMITTED, "2", 800.0, workload=longer, command="other", directory="/elsewhere"))
    events.append(event(EventKind.SUBMITTED, "3", 801.0, command="other", directory="/elsewhere"))
    _, similar, unknown = handled(store, events)
    assert (similar.method, similar.similar_jobs, unknown.method) == ("similar", ["1"], "unknown")
    assert similar.duration_s == pytest.approx(1200, rel=0.01)


PART = Workload(task_type="image-classification", iters=90, iter_type="epoch")
WHOLE = msgspec.structs.replace(PART, model_name="ViT-B/16", dataset_train="ImageNet")
ELSEWHERE = {"command": "other", "directory": "/elsewhere"}


def past(job: str, start: float, seconds: float) -> list[JobEvent]:
    """A whole life of a job of which all is known."""
    return [event(EventKind.SUBMITTED, job, start - 1, workload=WHOLE), *ran(job, start, seconds)]


def described(job: str, time: float, workload: Workload = WHOLE) -> JobEvent:
    return JobEvent(
        id=f"slurm/{job}/0/described",
        job=job,
        kind=EventKind.DESCRIBED,
        time=time,
        scheduler="slurm",
        workload=workload,
    )


def test_what_a_model_found_revises_the_estimate_of_that_submission(store: HistoryFile) -> None:
    events = [
        *past("1", 10.0, 600.0),
        event(EventKind.SUBMITTED, "2", 800.0, workload=PART, **ELSEWHERE),
        described("2", 860.0),
    ]
    _, first, answered = handled(store, events)
    assert (first.method, first.revision, first.time) == ("unknown", 0, 800.0)
    assert (answered.method, answered.similar_jobs, answered.revision) == ("similar", ["1"], ANSWERED)
    assert answered.duration_s == pytest.approx(600, rel=0.01)
    assert (answered.id, answered.attempt, answered.time) == ("estimate/2/job-events/0/4/1", 0, 860.0)


def test_what_became_known_of_a_job_finds_jobs_alike_later_also_after_a_requeue(store: HistoryFile) -> None:
    requeued = msgspec.structs.replace(event(EventKind.REQUEUED, "1", 100.0), id="slurm/1/1/requeued", attempt=1)
    again = [msgspec.structs.replace(each, id=f"{each.id}/1", attempt=1) for each in ran("1", 110.0, 600.0)]
    events = [event(EventKind.SUBMITTED, "1", 0.0, workload=PART), described("1", 50.0), requeued, *again]
    events.append(event(EventKind.SUBMITTED, "2", 800.0, workload=WHOLE, **ELSEWHERE))
    *_, similar = handled(store, events)
    assert (similar.job, similar.method, similar.similar_jobs) == ("2", "similar", ["1"])


def test_an_attempt_that_is_over_or_that_a_pipe_describes_is_told_nothing_of(store: HistoryFile) -> None:
    late = [event(EventKind.SUBMITTED, "1", 0.0), *ran("1", 10.0, 600.0), described("1", 620.0), described("9", 630.0)]
    forged = msgspec.structs.replace(described("2", 710.0), scheduler="pipe")
    told = handled(store, [*late, event(EventKind.SUBMITTED, "2", 700.0), forged])
    assert [(each.job, each.revision) for each in told] == [("1", 0), ("2", 0)]


def test_the_estimate_told_last_before_the_start_is_scored_and_each_job_once(store: HistoryFile) -> None:
    """Job 2 is described while it waits, job 3 while it runs."""
    first = Workload(model_name="ResNet-50", task_type="image-classification", dataset_train="CIFAR-10")
    events = [
        *past("1", 10.0, 600.0),
        event(EventKind.SUBMITTED, "2", 800.0, workload=PART, **ELSEWHERE),
        described("2", 860.0),
        *ran("2", 900.0, 590.0),
        event(EventKind.SUBMITTED, "3", 1500.0, workload=first, command="third", directory="/third"),
        *ran("3", 1510.0, 610.0),
    ]
    events.insert(-1, described("3", 1600.0))
    advisor = SubmissionAdvisor(store, lambda _: None, NO_MODEL)
    advisor.handle([(Position("job-events", 0, offset), each) for offset, each in enumerate(events)])
    scored = [(told.job, told.revision, told.method) for told, _ in store.scored()]
    assert scored == [("1", 0, "unknown"), ("2", 1, "similar"), ("3", 0, "unknown")]
    assert value(advisor.metrics.scored, method="similar") == 1
    assert value(advisor.metrics.inside, method="similar") == 1
    assert value(advisor.metrics.completed) == 2


def test_a_replay_tells_the_same_though_more_is_known_by_then(store: HistoryFile) -> None:
    events = [
        event(EventKind.SUBMITTED, "1", 0.0),
        *ran("1", 10.0, 600.0),
        event(EventKind.SUBMITTED, "2", 700.0),
        described("2", 750.0),
        *ran("2", 800.0, 60.0),
        *past("3", 900.0, 6000.0),
    ]
    told = handled(store, events)
    assert [each.revision for each in told] == [0, 0, 1, 0]
    assert handled(store, events) == told
    assert store.count() == 3


def test_what_was_not_acknowledged_is_not_kept(tmp_path: Path) -> None:
    def away(_: object) -> None:
        raise ConnectionError

    position = Position("job-events", 0, 0)
    with history_file(tmp_path / "h.db") as store, pytest.raises(ConnectionError):
        SubmissionAdvisor(store, away, NO_MODEL).handle([(position, event(EventKind.SUBMITTED, "1", 0.0))])
    with history_file(tmp_path / "h.db") as store:
        assert store.estimate_at("slurm/1/0/submitted") is None


def test_what_a_pipe_says_is_no_submission_and_no_history(store: HistoryFile) -> None:
    piped = [
        JobEvent(id=f"p{n}", job="1", kind=each.kind, time=each.time, scheduler="pipe")
        for n, each in enumerate(ran("1", 10.0, 600.0))
    ]
    assert handled(store, piped) == []
    assert store.count() == 0


def test_accounting_is_taken_in_once(store: HistoryFile) -> None:
    jobs = sacct(SACCT.splitlines(keepends=True))
    assert store.add_all(jobs) == 2
    assert (jobs.skipped, jobs.unfinished) == (2, 2)
    assert store.add_all(sacct(SACCT.splitlines(keepends=True))) == 0
    found = handled(store, [event(EventKind.SUBMITTED, "20", 0.0, command="/home/ada/p/train.sh --lr 0.5")])
    assert [(each.method, each.similar_jobs) for each in found] == [("resubmission", ["11"])]
    assert found[0].duration_s == pytest.approx(3600, rel=0.01)


def test_a_table_of_ones_own(store: HistoryFile) -> None:
    lines = ["job,command,directory,started,ended,gpu_utilisation\n", '1,"a.sh, b",/p,100,2026-01-01T00:00:00,50\n', "2,a,/p,9,1,\n",
             "3,a,/p,1,2,101\n", "4,a,/p,,,\n"]  # fmt: skip
    jobs = table(lines)
    assert store.add_all(jobs) == 1
    assert (jobs.skipped, jobs.unfinished) == (2, 1)


def test_a_table_may_say_what_a_job_trains() -> None:
    lines = ["job,command,directory,started,ended,workload\n", '1,a,/p,1,2,"{""model_name"": ""vit"", ""iters"": 3}"\n',
             "2,a,/p,1,2,\n", "3,a,/p,1,2,no json\n"]  # fmt: skip
    jobs = table(lines)
    assert [past.about.workload for _, past in jobs] == [Workload(model_name="vit", iters=3), None]
    assert jobs.skipped == 1


def test_a_file_without_the_columns_is_refused_with_what_prints_them() -> None:
    with pytest.raises(
        UserError,
        match=r"expected a first line with the columns JobID, State, Start, End; as this prints: TZ=UTC sacct",
    ):
        sacct(["a|b\n"])


def test_a_row_whose_text_shifts_the_columns_is_passed_over() -> None:
    header = "JobID|State|Submit|Start|End|WorkDir|SubmitLine|ReqTRES|TimelimitRaw\n"
    row = "7|COMPLETED|1|2|3|/w|{}|cpu=1,gres/gpu=1|60\n"
    jobs = sacct([header, row.format("sbatch a.sh"), row.format("sbatch --wrap='a | b|cpu=1,gres/gpu=64|9|'")])
    assert [past.about.gpus for _, past in jobs] == [1.0]
    assert jobs.skipped == 1
    with pytest.raises(UserError, match="job, command, directory, started, ended"):
        table([])


@given(st.lists(st.text(max_size=80), max_size=20))
def test_rows_of_any_text_are_passed_over(rows: list[str]) -> None:
    assert all(past.duration_s >= 0 for _, past in sacct(["JobID|State|Start|End|WorkDir|SubmitLine\n", *rows]))
    assert all(past.duration_s >= 0 for _, past in table(["job,command,directory,started,ended\n", *rows]))


@pytest.mark.parametrize(
    ("line", "script"),
    [
        ("sbatch train.sh", "/w/train.sh"),
        ("sbatch -p gpu -N2 --gres=gpu:8 --time 10:00 train.sh --lr 1", "/w/train.sh --lr 1"),
        ("sbatch --exclusive /opt/run.sh a", "/opt/run.sh a"),
        ("/usr/bin/sbatch -p", ""),
        ("srun python train.py", "srun python train.py"),
        ("sbatch 'open", ""),
    ],
)
def test_the_script_of_a_line_of_sbatch(line: str, script: str) -> None:
    assert script_of(line, "/w") == script


def test_a_file_that_is_no_history_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("no database at all, but long enough to be looked at")
    with pytest.raises(UserError, match="expected a history of jobs"), history_file(other):
        pass
    later = tmp_path / "later.db"
    with sqlite3.connect(later) as connection:
        connection.execute("PRAGMA user_version = 9")
    with pytest.raises(UserError, match="this release is older"), history_file(later):
        pass
