"""What counters of events count is found from what they agree with, whatever they are called."""

import math
from dataclasses import dataclass

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from processors.read.events import ROWS, Event, EventState, event_of, observe
from processors.read.roles import Role
from processors.read.series import SeriesReader
from processors.read.solver import solve


@dataclass
class Run:
    """A made-up run: blocks of training, evaluations between them, and what its log counts."""

    batch: int = 64
    length: int | None = None
    steps: int = 50
    step_time: float = 0.25
    blocks: int = 12
    evaluation: float = 7.0
    name: str = "samples_count"
    unit: Role = Role.SAMPLE
    marked: bool = True

    def events(self) -> list[Event]:
        sizes = {"global_batch_size": float(self.batch)} | (
            {"max_sequence_length": float(self.length)} if self.length else {}
        )
        made = [Event(1.7e9, name, {name: value}) for name, value in sizes.items()]
        per = {Role.STEP: 1, Role.SAMPLE: self.batch, Role.TOKEN: self.batch * (self.length or 1)}[self.unit]
        time = 1.7e9 + 1
        made.append(Event(time, "run_start"))
        for block in range(self.blocks):
            begun, ended = float(block * self.steps * per), float((block + 1) * self.steps * per)
            if self.marked:
                made.append(Event(time, "block_start", {self.name: begun}))
            time += self.steps * self.step_time
            made.append(Event(time, "block_stop" if self.marked else "tracked_stats", {self.name: ended}))
            made.append(Event(time, "eval_start", {self.name: ended}))
            time += self.evaluation
            made.append(Event(time, "eval_stop", {self.name: ended}))
        return made

    def state(self) -> EventState:
        state = EventState()
        for event in self.events():
            state.add(event)
        return state


@given(
    batch=st.sampled_from([32, 48, 256, 3072]),
    length=st.sampled_from([None, 512, 8192]),
    steps=st.integers(3, 400),
    step_time=st.floats(0.01, 5.0),
    blocks=st.integers(5, 30),
    evaluation=st.floats(0.6, 300.0),
    name=st.sampled_from(["samples_count", "step", "epoch_num", "progress"]),
    unit=st.sampled_from([Role.STEP, Role.SAMPLE, Role.TOKEN]),
    marked=st.booleans(),
)
def test_a_whole_run_is_found_or_left_open(  # noqa: PLR0917  # the dimensions of a run
    batch: int,
    length: int | None,
    steps: int,
    step_time: float,
    blocks: int,
    evaluation: float,
    name: str,
    unit: Role,
    marked: bool,
) -> None:
    assume(unit is not Role.TOKEN or length)
    assume(unit is not Role.STEP or (steps % batch and name != "samples_count"))
    assume(unit is not Role.SAMPLE or not length or steps % length)
    run = Run(batch, length, steps, step_time, blocks, evaluation, name, unit, marked)
    solution = solve(run.state())
    if solution is not None and solution.best.step_time_s is not None:
        assert solution.best.step_time_s == pytest.approx(step_time, rel=0.02)
        assert solution.best.step == steps * blocks


@pytest.mark.parametrize("name", ["samples_count", "step", "epoch_num"])
def test_multiples_of_the_batch_are_samples_whatever_their_name(name: str) -> None:
    solution = solve(Run(name=name).state())
    assert solution is not None
    assert (solution.best.role, solution.best.step) == (Role.SAMPLE, 600)
    assert solution.best.step_time_s == pytest.approx(0.25)


def test_multiples_of_batch_and_length_are_tokens() -> None:
    solution = solve(Run(length=512, unit=Role.TOKEN, name="progress").state())
    assert solution is not None
    assert (solution.best.role, solution.best.step) == (Role.TOKEN, 600)


def test_a_stated_rate_decides_what_counters_do_not() -> None:
    run = Run(unit=Role.STEP, name="step")
    assert solve(run.state(), rate=64 / 0.25) is not None
    assert solve(run.state(), rate=64 / 0.25 * 50) is None


def test_counters_that_are_told_at_once_have_no_clock() -> None:
    state = EventState(batch=64.0, samples=6400.0)
    for event in [
        Event(1.7e9, "run_start"),
        *(Event(1.7e9 + 3600 + 0.6 * i, "train_epoch", {"train_epoch": float(i)}) for i in range(20)),
    ]:
        state.add(event)
    solution = solve(state)
    assert solution is None or solution.best.seconds is None


def test_events_are_read_from_lines_and_told_once_by_many_ranks() -> None:
    state, reader = EventState(), SeriesReader()
    lines = [
        f'{rank}: :::MLLOG {{"time_ms": {1759966714693 + rank}, "key": "block_start", "value": null, "metadata": {{"samples_count": 128}}}}'
        for rank in range(64)
    ]
    assert observe(list(enumerate(lines)), reader, state) == 0
    assert [(event.name, event.numbers) for event in state.events] == [("block_start", {"samples_count": 128.0})]


def test_events_are_bounded() -> None:
    state = EventState()
    for place in range(3 * ROWS):
        state.add(Event(1.7e9 + place, "tracked_stats", {"step": float(place)}))
    assert len(state.events) == ROWS


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["run_start", "eval_start", "eval_stop", "a_start", "a_stop", "x"]),
            st.floats(0, 1e15),
            st.floats(1e9, 2e9),
        ),
        max_size=40,
    )
)
def test_any_events_have_an_answer(told: list[tuple[str, float, float]]) -> None:
    state = EventState(batch=8.0, samples=64.0)
    for name, value, time in told:
        state.add(Event(time, name, {"count": value}))
    solution = solve(state)
    if solution is not None and solution.best.step_time_s is not None:
        assert math.isfinite(solution.best.step_time_s)
        assert solution.best.step_time_s > 0


def test_a_line_without_a_date_is_no_event() -> None:
    row = SeriesReader().read('{"key": "block_start", "value": 3}', 1, 0.0)
    assert row is not None
    assert event_of(row) is None
