"""What is told of the GPUs of a job, from samples that were recorded on a real H100."""

from heapq import merge
from itertools import pairwise
from operator import attrgetter

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.activity.gpu import GAP_S, SUSTAINED_S, state_of
from processors.activity.node import GPUS, LAST_S, SETTLE_S, NodeActivityState, follow
from schedmate_records import GpuProcess, GpuSample, GpuState, Placement, Position, Record

from .samples import EVERY_S, at_work, recorded, run, states, stay, stretched, without_work

TRAIN, HELD, ENDLESS, NO_DATA = recorded()
WORK = at_work(TRAIN)
QUIET = {name: without_work(part)[1:] for name, part in (("idle", HELD), ("waiting", ENDLESS), ("no data", NO_DATA))}
SAYS = {"idle": GpuState.IDLE, "waiting": GpuState.WAITING, "no data": GpuState.IDLE}
W, A, IDLE, U, V = GpuState.WORKING, GpuState.WAITING, GpuState.IDLE, GpuState.UNKNOWN, GpuState.VACANT


def in_turn(*parts: object) -> list[Record]:
    """Return what several GPUs show, by time."""
    return [stay(), *merge(*parts, key=attrgetter("time"))]  # type: ignore[call-overload]


def test_each_recorded_sample_says_what_the_job_did() -> None:
    watts = max(each.power_watts or 0 for each in WORK)
    for part in (TRAIN, HELD, ENDLESS, NO_DATA):
        assert {state_of(each, watts) for each in at_work(part)} == {W}
    for part, quiet in ((HELD, IDLE), (ENDLESS, A), (NO_DATA, IDLE)):
        first, *others = without_work(part)
        assert {state_of(each, watts) for each in others} == {quiet}
        assert state_of(first, watts) in (quiet, U), "power is a mean over a second: it still holds some of the work"


def test_a_kernel_without_memory_traffic_that_draws_much_power_may_compute() -> None:
    busy = msgspec.structs.replace(QUIET["waiting"][0], power_watts=600.0)
    assert state_of(busy, 630.0) is U
    assert state_of(busy, 0.0) is U
    assert state_of(msgspec.structs.replace(busy, power_watts=None), 0.0) is A
    assert state_of(msgspec.structs.replace(busy, memory_utilisation=None, power_watts=120.0), 630.0) is U


def test_pauses_of_some_seconds_change_nothing() -> None:
    """The recording as it is: eight seconds without work, and work again."""
    samples = [msgspec.structs.replace(each, processes=[GpuProcess(pid=9, job="7")]) for each in [*TRAIN, *HELD]]
    assert states(run([stay(since=samples[0].time), *samples])) == [[W]]


@pytest.mark.parametrize("what", QUIET)
def test_what_lasts_is_told_with_its_beginning_and_again_ever_more_seldom(what: str) -> None:
    told = run([stay(), *stretched(WORK, 1000, 1300), *stretched(QUIET[what], 1300, 5000)])
    assert states(told) == [[W], [SAYS[what]]]
    first, *again = [each for each in told if each.gpus[0].state is not W]
    assert 1300 - EVERY_S <= first.gpus[0].since <= 1300
    assert first.time <= 1300 + SUSTAINED_S + SETTLE_S + EVERY_S
    assert {each.gpus[0].since for each in again} == {first.gpus[0].since}
    gaps = [later.time - before.time for before, later in zip([first, *again], again, strict=False)]
    assert gaps == sorted(gaps)
    assert max(gaps) <= LAST_S
    assert told[-1].time > 5000 - LAST_S - EVERY_S


def test_seconds_are_counted_in_each_state() -> None:
    told = run(
        [
            *[stay(), *stretched(WORK, 1000, 1600), *stretched(QUIET["idle"], 1600, 2600)],
            stay(until=2600.0),
            *stretched(WORK, 2601, 2602),
        ]
    )
    last = told[-1]
    assert not last.gpus
    assert last.working_s == pytest.approx(600, abs=SUSTAINED_S + 3 * EVERY_S)
    assert last.idle_s == pytest.approx(1000, abs=SUSTAINED_S + 3 * EVERY_S)
    assert last.working_s + last.idle_s + last.unknown_s == pytest.approx(1600, abs=2 * EVERY_S)


def test_missing_samples_are_unknown_and_never_idle() -> None:
    """GPU 1 falls silent while GPU 0 goes on; then nothing is sampled for an hour."""
    told = run(in_turn(stretched(WORK, 1000, 3000), stretched(QUIET["idle"], 1000, 1500, gpu=1)))
    assert states(told)[-1] == [W, U]
    told = run([stay(), *stretched(QUIET["idle"], 1000, 1500), *stretched(QUIET["idle"], 5100, 5400)])
    between = [each for each in told if 1500 < each.time < 5100 + SUSTAINED_S]
    assert {span.state for each in between for span in each.gpus} <= {U}
    assert told[-1].gpus[0].since >= 5100
    assert told[-1].idle_s < 900


def test_input_that_comes_too_slowly_is_no_idleness() -> None:
    """One sample in four shows work."""
    mixed = [*QUIET["no data"][-3:], WORK[0]]
    assert states(run([stay(), *stretched(mixed, 1000, 3000)])) == [[W]]


def test_a_single_sample_of_work_begins_the_idle_time_anew() -> None:
    told = run(
        [
            *[stay(), *stretched(QUIET["idle"], 1000, 2000), *stretched(WORK, 2000, 2001)],
            *stretched(QUIET["idle"], 2005, 4000),
        ]
    )
    assert told[-1].gpus[0].since == 2000


def test_peers_wait_in_the_kernel_that_one_rank_never_came_to() -> None:
    told = run(
        in_turn(
            *(stretched(WORK, 1000, 1300, gpu=gpu) for gpu in range(4)),
            *(stretched(QUIET["idle" if gpu == 2 else "waiting"], 1300, 1500, gpu=gpu) for gpu in range(4)),
        )
    )
    assert states(told) == [[W] * 4, [A, A, IDLE, A]], "the GPUs change together: one word"
    assert [each.rank for each in told[-1].gpus] == [0, 1, 2, 3]


def test_whose_a_gpu_is() -> None:
    one = list(stretched(WORK, 1000, 1200))
    other = list(stretched(WORK, 1000, 1200, gpu=1, jobs=["8"]))
    free = list(stretched(QUIET["idle"], 1000, 1200, gpu=2, jobs=[]))
    nameless = list(stretched(WORK, 1000, 1200, gpu=3, jobs=[None]))
    both = [stay(), stay("8"), *merge(one, other, free, nameless, key=attrgetter("time"))]
    told = {each.job: [(span.gpu, span.state) for span in each.gpus] for each in run(both)}
    assert told == {"7": [(0, W)], "8": [(1, W)]}
    alone = [stay(), *merge(one, free, nameless, key=attrgetter("time"))]
    assert [(span.gpu, span.state) for span in run(alone)[-1].gpus] == [(0, W), (2, V), (3, W)]
    shared = [stay(), stay("8"), *stretched(WORK, 1000, 1200, jobs=["7", "8"])]
    assert all(span.state is U for each in run(shared) for span in each.gpus), "one of the two works"
    shared = [stay(), stay("8"), *stretched(QUIET["idle"], 1000, 1200, jobs=["7", "8"])]
    assert {(each.job, each.gpus[0].state) for each in run(shared)} == {("7", IDLE), ("8", IDLE)}


def test_a_gpu_whose_process_died_is_still_the_jobs() -> None:
    told = run([stay(), *stretched(WORK, 1000, 1300), *stretched(QUIET["idle"], 1300, 1500, jobs=[])])
    assert states(told) == [[W], [IDLE]]


def test_a_clock_that_is_set_back_does_not_stop_it() -> None:
    told = run([stay(), *stretched(WORK, 9000, 9100), *stretched(QUIET["idle"], 2000, 2300)])
    assert states(told) == [[W], [U], [IDLE]]


ANY_SAMPLE = st.builds(
    GpuSample, id=st.just("s"), node=st.just("n1"), gpu=st.integers(0, 2), time=st.floats(0, 4000),
    utilisation=st.none() | st.integers(0, 100), memory_utilisation=st.none() | st.integers(0, 100),
    power_watts=st.none() | st.floats(0, 700), error=st.sampled_from(["", "lost"]),
    processes=st.lists(st.builds(GpuProcess, pid=st.just(1), job=st.sampled_from([None, "7", "8"]), rank=st.none() | st.integers(0, 2)),
                       max_size=2),
)  # fmt: skip
ANY_STAY = st.builds(
    Placement, job=st.sampled_from(["7", "8"]), node=st.just("n1"), since=st.floats(0, 4000), seen=st.floats(0, 4000),
    until=st.none() | st.floats(0, 4000),
)  # fmt: skip


@given(st.lists(ANY_SAMPLE | ANY_STAY, max_size=30), st.booleans())
def test_any_records_are_taken_and_nothing_is_told_of_what_was_not_sampled(
    records: list[Record], by_time: bool
) -> None:
    if by_time:
        records = sorted(records, key=lambda each: each.time if isinstance(each, GpuSample) else each.since)  # type: ignore[attr-defined]
    told = run(records)
    assert told == run(records), "a replay says the same"
    assert len({each.id for each in told}) == len(told)
    sampled = [each for each in records if isinstance(each, GpuSample)]
    for one in told:
        assert one.time in {each.time for each in sampled}
        for span in one.gpus:
            if span.state in (IDLE, A, V):
                times = sorted(each.time for each in sampled if each.gpu == span.gpu)
                assert span.since in times
                held = [each for each in times if span.since <= each <= one.time]
                assert all(later - before <= GAP_S for before, later in pairwise(held))


def test_what_is_remembered_is_bounded() -> None:
    state = NodeActivityState()
    for gpu in range(100):
        for sample in stretched(WORK, 1000, 1010, gpu=gpu):
            follow(sample, Position("gpu-metrics", 0, gpu), {"7/0": stay()}, state)
    assert len(state.gpus) == GPUS
    assert len(msgspec.json.encode(state)) < 400 * GPUS
