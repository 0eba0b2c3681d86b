"""All processors of a job together: what arrives in another order leads to the same verdict."""

import itertools
from collections.abc import Iterable, Sequence

import pytest

from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import (
    Alarm,
    AlarmKind,
    ErrorType,
    EventKind,
    Failure,
    JobEvent,
    JobMetric,
    LogChunk,
    Placement,
    Position,
    Slowdown,
)

STEPS = [f"step {step} | loss {10 / step:.4f} | step_time 0.0200 s" for step in range(1, 41)]
XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=python, GPU has fallen off the bus."
CUDA = "RuntimeError: CUDA error: unspecified launch failure"
BUG = [
    "Traceback (most recent call last):",
    '  File "/home/u/train.py", line 8, in <module>',
    "    main()",
    "IndexError: list index out of range",
]


def chunk(lines: Sequence[str], time: float, stream: str = "stdout", first: int = 1, job: str = "7") -> LogChunk:
    return LogChunk(
        job=job,
        node="n1",
        producer="p",
        stream=stream,
        lines=list(lines),
        time=time,
        first_line=first,
        first_piece=first,
    )


def ended(code: int, time: float = 200.0) -> JobEvent:
    state = "FAILED" if code else "COMPLETED"
    return JobEvent(
        id="end", job="7", kind=EventKind.ENDED, time=time, exit_code=code, signal=0, state=state, nodes=["n1"]
    )


def run(records: Iterable[LogChunk | JobEvent]) -> list[object]:
    processor, state, made = JobProcessor(), JobState(job="7"), []
    offsets = {LogChunk: itertools.count(), JobEvent: itertools.count()}
    for record in records:
        topic = "job-logs" if isinstance(record, LogChunk) else "job-events"
        made += processor.process(state, Position(topic, 0, next(offsets[type(record)])), record)
    return made


def verdict(records: Iterable[LogChunk | JobEvent]) -> Failure | None:
    """Return the last word on the job."""
    said = [each for each in run(records) if isinstance(each, Failure)]
    return said[-1] if said and said[-1].error_type is not ErrorType.NONE else None


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_order_in_which_streams_and_events_arrive_does_not_matter(order: tuple[int, ...]) -> None:
    parts = [chunk([*STEPS, XID], 100.0), chunk([CUDA], 100.001, "stderr"), ended(1)]
    found = verdict(parts[index] for index in order)
    assert found is not None
    assert (found.error_type, found.signature, found.restartable) == (
        ErrorType.INFRASTRUCTURE,
        "xid_fallen_off_bus",
        True,
    )


def test_a_little_clock_difference_between_streams_does_not_hide_the_cause() -> None:
    found = verdict([chunk([CUDA], 99.998, "stderr"), chunk([*STEPS, XID], 100.0), ended(1)])
    assert found is not None
    assert found.signature == "xid_fallen_off_bus"


def test_an_end_that_overtakes_the_log_is_bettered_by_it() -> None:
    late = [ended(1), chunk(STEPS, 100.0), chunk(BUG[:2], 100.5, first=41), chunk(BUG[2:], 101.0, first=43)]
    made = [each for each in run(late) if isinstance(each, Failure)]
    assert [each.revision for each in made] == list(range(1, len(made) + 1))
    assert (made[0].error_type, made[0].root) == (ErrorType.UNKNOWN, None)
    assert (made[-1].error_type, made[-1].message) == (ErrorType.USER_SCRIPT, BUG[-1])
    assert all(each.final and each.exit_code == 1 for each in made)


def test_a_good_end_before_the_log_stays_good() -> None:
    assert verdict([ended(0), chunk([*STEPS, *BUG], 100.0)]) is None


def paced(first: int, count: int, seconds: float, begin: float, each: int | None = None) -> list[LogChunk]:
    """Return chunks of `each` reports, or of about two seconds."""
    each = each or round(2.0 / seconds)
    return [
        LogChunk(
            job="7",
            node="n1",
            producer="p",
            lines=[f"step {step} | loss 1.0 | step_time {seconds:.4f} s" for step in range(start, start + each)],
            time=begin + (start - first) * seconds,
            after_ms=[round(index * seconds * 1000) for index in range(each)],
            first_line=start,
            first_piece=start,
        )
        for start in range(first, first + count, each)
    ]


def test_a_slowdown_follows_from_reports_before_and_after_a_packing() -> None:
    packed = JobEvent(id="packed", job="7", kind=EventKind.PACKED, time=110.0, packed_with="8")
    made = run([*paced(1, 100, 0.1, 100.0), packed, *paced(101, 160, 0.25, 111.0)])
    (slowdown,) = [each for each in made if isinstance(each, Slowdown)]
    assert (slowdown.packed_job, slowdown.before_s, slowdown.after_s) == ("8", pytest.approx(0.1), pytest.approx(0.25))
    assert slowdown.ratio == pytest.approx(0.4)
    assert slowdown.confidence >= 0.95


@pytest.mark.parametrize(("slow_after_s", "found"), [(60.0, True), (3600.0, False)])
def test_a_newcomer_that_takes_its_share_late_is_found_while_it_is_watched(slow_after_s: float, found: bool) -> None:
    packed = JobEvent(id="packed", job="7", kind=EventKind.PACKED, time=110.0, packed_with="8")
    loading = paced(101, 500, 0.1, 111.0)
    made = run([*paced(1, 100, 0.1, 100.0), packed, *loading, *paced(601, 180, 0.3, 110.0 + slow_after_s)])
    assert any(isinstance(each, Slowdown) for each in made) is found


def test_a_job_that_prints_nothing_any_more_hangs_and_its_end_closes_the_alarm() -> None:
    reports = [chunk(STEPS[i : i + 1], 100.0 + i, first=i + 1) for i in range(40)]
    silent = [
        LogChunk(job="7", node="n1", producer="p", lines=[], time=139.0 + s, first_line=41, first_piece=41)
        for s in (60, 120, 240, 480)
    ]
    raised, over = [each for each in run([*reports, *silent, ended(1, 700.0)]) if isinstance(each, Alarm)]
    assert (raised.kind, raised.since, raised.value) == (AlarmKind.HANG, 139.0, 480.0)
    assert raised.evidence[0].text == STEPS[39]
    assert (over.kind, over.raised, over.time) == (AlarmKind.HANG, False, 700.0)


def test_a_loss_that_is_no_number_is_an_alarm() -> None:
    broken = [f"step {step} | loss nan | step_time 0.0200 s" for step in range(41, 61)]
    made = run([chunk(STEPS, 100.0), chunk(broken, 102.0, first=41)])
    (alarm,) = [each for each in made if isinstance(each, Alarm)]
    assert (alarm.kind, alarm.raised) == (AlarmKind.LOSS_NOT_FINITE, True)
    assert alarm.evidence[0].line == 41
    last = made[-2]
    assert isinstance(last, JobMetric)
    assert (last.loss, last.loss_not_finite) == (None, True)


def test_a_slow_rank_is_told_over_the_streams_of_a_job() -> None:
    def part(rank: int, at: int) -> LogChunk:
        seconds = 0.3 if rank == 2 else 0.1
        lines = [f"step {step} | step_time {seconds:.4f} s" for step in range(at, at + 20)]
        return LogChunk(job="7", node=f"n{rank}", rank=rank, producer=f"p{rank}", lines=lines, time=100.0 + at)

    made = run([part(rank, at) for at in range(1, 200, 20) for rank in range(4)])
    (alarm,) = [each for each in made if isinstance(each, Alarm)]
    assert (alarm.kind, alarm.rank, alarm.value) == (AlarmKind.STRAGGLER, 2, pytest.approx(0.3))
    spread = [each.over_ranks for each in made if isinstance(each, JobMetric)][-1]
    assert spread is not None
    assert (spread.ranks, spread.slowest, spread.step_time_s) == (4, 2, pytest.approx(0.1))


def test_a_new_attempt_starts_anew() -> None:
    second = LogChunk(job="7", attempt=1, node="n2", producer="q", lines=STEPS, time=300.0, first_line=1, first_piece=1)
    made = run([chunk([*STEPS, XID], 100.0), ended(1), second])
    metric = [each for each in made if isinstance(each, JobMetric)][-1]
    assert (metric.attempt, metric.node, metric.step) == (1, "n2", 40)


def test_a_packing_event_that_comes_late_to_a_chatty_job_still_finds_its_speed_before() -> None:
    packed = JobEvent(id="packed", job="7", kind=EventKind.PACKED, time=112.0, packed_with="8")
    before = paced(1, 2400, 0.005, 100.0, each=10)
    after = [paced(2401, 100, 0.02, 112.0, each=10), paced(2501, 600, 0.02, 114.0, each=10)]
    made = run([*before, *after[0], packed, *after[1]])
    (slowdown,) = [each for each in made if isinstance(each, Slowdown)]
    assert slowdown.ratio == pytest.approx(0.25)


def live(count: int) -> list[LogChunk | JobEvent]:
    """Return chunks of one report each, half a second apart."""
    return [chunk([STEPS[at]], 100.0 + at / 2, first=at + 1) for at in range(count)]


def metrics(records: Iterable[LogChunk | JobEvent]) -> list[JobMetric]:
    return [each for each in run(records) if isinstance(each, JobMetric)]


def test_reports_that_come_fast_make_a_metric_every_two_seconds() -> None:
    assert [each.step for each in metrics(live(17))] == [1, 5, 9, 13, 17]


@pytest.mark.parametrize("last", [ended(0, 120.0), chunk([], 130.0)], ids=["end", "silence"])
def test_what_waited_is_told_at_the_end_or_in_a_silence(last: LogChunk | JobEvent) -> None:
    found = metrics([*live(19), last])
    assert [each.step for each in found] == [1, 5, 9, 13, 17, 19]
    assert found[-1].id == "metric/7/job-logs/0/18/19"
    assert found[-1].evidence[0].text == STEPS[18]
    assert metrics([*live(19), last, last])[5:] == found[5:], "and only once"


def by_pipe(code: int | None, time: float = 190.0, kind: EventKind = EventKind.ENDED) -> JobEvent:
    return JobEvent(id=f"pipe/{kind}/{time}", job="7", kind=kind, time=time, scheduler="pipe", exit_code=code)


def by_slurm(kind: EventKind, time: float, **fields: object) -> JobEvent:
    return JobEvent(id=f"slurm/{kind}", job="7", kind=kind, time=time, scheduler="slurm", **fields)  # type: ignore[arg-type]


def test_a_pipes_word_on_the_end_is_final_where_no_scheduler_is() -> None:
    said = verdict([by_pipe(None, 90.0, EventKind.STARTED), chunk(BUG, 100.0, "stderr"), by_pipe(1)])
    assert said is not None
    assert said.final
    assert said.error_type is ErrorType.USER_SCRIPT
    assert verdict([chunk(["all is well"], 100.0), by_pipe(0)]) is None


def test_what_a_scheduler_says_of_a_job_is_not_said_again_by_a_pipe() -> None:
    """A command of a batch job has failed; the job goes on, and ends well."""
    began = by_slurm(EventKind.STARTED, 90.0, nodes=["n1"])
    assert run([began, by_pipe(3)]) == run([began])
    whole = [began, by_pipe(3), by_slurm(EventKind.ENDED, 200.0, exit_code=0, signal=0, state="COMPLETED")]
    assert verdict(whole) is None


def by_producer(code: int, time: float = 190.0, scheduler: str = "producer") -> JobEvent:
    return JobEvent(
        id=f"{scheduler}/7/0/ended/{time}",
        job="7",
        kind=EventKind.ENDED,
        time=time,
        scheduler=scheduler,
        exit_code=code,
    )


FORGERS = pytest.mark.parametrize("scheduler", ["pipe", "producer"])


@FORGERS
def test_an_end_that_no_scheduler_reported_finalises_nothing_while_the_job_runs(scheduler: str) -> None:
    began = by_slurm(EventKind.STARTED, 90.0, nodes=["n1"])
    printed = chunk([*STEPS, XID], 100.0)
    made = run([began, printed, by_producer(1, scheduler=scheduler)])
    assert made == run([began, printed])
    (said,) = [each for each in made if isinstance(each, Failure)]
    assert not said.final


@FORGERS
@pytest.mark.parametrize("code", [0, 1])
def test_a_scheduler_that_speaks_later_takes_a_forged_end_back(scheduler: str, code: int) -> None:
    forged, began = by_producer(code, scheduler=scheduler), by_slurm(EventKind.STARTED, 90.0, nodes=["n1"])
    made = run([chunk([*STEPS, XID], 100.0), forged, began])
    *_, last = [each for each in made if isinstance(each, Failure)]
    assert (last.final, last.error_type, last.exit_code) == (False, ErrorType.INFRASTRUCTURE, None)
    placed = [each for each in made if isinstance(each, Placement)]
    assert [(each.until, each.reported) for each in placed] == [
        (None, False),
        (190.0, False),
        (None, False),
        (None, True),
    ]
    assert placed[-1].seen >= 190.0
    well = by_slurm(EventKind.ENDED, 200.0, exit_code=0, signal=0, state="COMPLETED", nodes=["n1"])
    assert verdict([forged, began, well]) is None
    whole = [forged, by_slurm(EventKind.SUBMITTED, 80.0), began, chunk([*STEPS, *BUG], 100.0)]
    one, other = verdict(whole), verdict(whole[1:])
    assert one
    assert other
    assert one.id == other.id, "the same but for its revision"
    assert not one.final


def test_an_attempt_whose_end_was_forged_is_watched_again() -> None:
    lines = [f"step {step} | loss {'nan' if step > 30 else 2 / step}" for step in range(1, 60)]
    forged, began = by_producer(1, 95.0, "pipe"), by_slurm(EventKind.STARTED, 90.0, nodes=["n1"])

    def kinds(records: Iterable[LogChunk | JobEvent]) -> list[AlarmKind]:
        return [each.kind for each in run(records) if isinstance(each, Alarm)]

    early, late = chunk(lines[:20], 94.0), chunk(lines[20:], 100.0, first=21)
    assert kinds([early, forged, late]) == []
    assert kinds([early, forged, began, late]) == [AlarmKind.LOSS_NOT_FINITE]
    assert kinds([early, began, forged, late]) == [AlarmKind.LOSS_NOT_FINITE]


def test_the_end_of_an_attempt_before_the_one_that_a_scheduler_reports_stands() -> None:
    printed = chunk([*STEPS, XID], 100.0)
    said = verdict([printed, by_pipe(1), by_slurm(EventKind.STARTED, 300.0, attempt=1)])
    assert said is not None
    assert said.final


def test_lines_that_a_producer_lost_are_no_end() -> None:
    lost = JobEvent(
        id="producer/7/0/lines_lost/p", job="7", kind=EventKind.LINES_LOST, time=95.0, scheduler="producer", lines=3
    )
    began = by_slurm(EventKind.STARTED, 90.0, nodes=["n1"])
    said = verdict([began, lost, chunk([*STEPS, XID], 100.0)])
    assert said is not None
    assert not said.final


def test_a_producer_adds_no_attempt_and_no_node_to_a_job_that_a_scheduler_reports() -> None:
    began, printed = by_slurm(EventKind.STARTED, 90.0, nodes=["n1"]), chunk([*STEPS, XID], 100.0)
    for number, kind in enumerate((EventKind.LINES_LOST, EventKind.STARTED, EventKind.ENDED)):
        for attempt in (0, 1, 2):
            forged = JobEvent(
                id=f"{number}/{attempt}", job="7", attempt=attempt, kind=kind, time=95.0, scheduler="pipe", nodes=["n9"]
            )  # fmt: skip
            assert run([began, forged, printed]) == run([began, printed])


@pytest.mark.parametrize("order", list(itertools.permutations(range(2))))
def test_of_two_ends_the_schedulers_counts_whichever_comes_first(order: tuple[int, ...]) -> None:
    slurm = by_slurm(EventKind.ENDED, 200.0, exit_code=None, signal=9, state="OUT_OF_MEMORY", nodes=["n1"])
    ends = [by_pipe(137), slurm]
    said = verdict([chunk(["step 1"], 100.0), *(ends[each] for each in order)])
    assert said is not None
    assert "memory limit" in said.message


def test_a_silence_after_reports_that_were_dropped_tells_nothing() -> None:
    processor, state = JobProcessor(), JobState(job="7")
    processor.process(state, Position("job-logs", 0, 0), chunk(STEPS, 100.0))
    (stream,) = state.streams.values()
    (source,) = stream.sources.values()
    source.track.window.clear()
    assert processor.process(state, Position("job-logs", 0, 1), chunk([], 130.0, first=0)) == []
