"""Which reading of a printed time the evidence favours."""

import pytest

from processors.track.reports import Report
from processors.track.series import points, template_of
from processors.track.step_time_candidates import THRESHOLD
from processors.track.summary import summarise

from .expecting import track


def reports(seconds_apart: float, stride: int = 10, **times: float) -> list[Report]:
    return [
        Report(
            i,
            0,
            1e9,
            f"step {stride * i} time",
            7,
            step=stride * i,
            stamp=1000.0 + seconds_apart * i + 0.001,
            times=dict(times),
        )
        for i in range(1, 21)
    ]


def test_the_time_of_an_interval_is_spread_over_its_steps() -> None:
    window = reports(5.0, **{"time:time": 5.0})
    found = summarise(window)
    assert (found.step_time_s, found.method) == (0.5, "stated")
    assert found.readings[0].agrees
    assert found.readings[0].in_report(window[0]) == 0.5


def test_of_two_times_the_one_that_agrees_with_the_clock() -> None:
    found = summarise(reports(5.0, **{"step:iter time": 0.002, "time:train": 0.5}))
    assert found.step_time_s == 0.5
    lost = next(reading for reading in found.readings if "iter time" in reading.what)
    assert lost.score < THRESHOLD
    assert "contradicts" in lost.why


def test_a_part_without_a_clock_is_not_given() -> None:
    window = [Report(i, 0, 1e9, "", 7, step=i, times={"time:data time": 0.2}) for i in range(20)]
    assert summarise(window).step_time_s is None


def test_points_for_a_person() -> None:
    window = reports(5.0)
    best = summarise(window).readings[0]
    made = points(window, best)
    assert [point.step for point in made] == [report.step for report in window]
    assert made[0].seconds is None
    assert all(point.seconds is not None and abs(point.seconds - 0.5) < 1e-6 for point in made[1:])
    assert template_of(window[0]) == "step {} time"


RATES = tuple(218.03 + seconds for seconds in (-1.5, 0.7, 1.1, -0.4, 0.0, 0.9, -0.8, 0.3)) * 4
"""Seconds of steps that a log prints as 0.005 it/s, which alone would be 200 s a step."""


@pytest.mark.parametrize(
    "form",
    [
        "step {step}/100 loss {loss:.3f} {rate:.3f} it/s {seconds:.2f} s/it",
        "step {step}/100 loss {loss:.3f} ({seconds:.2f} s/it, {rate:.3f} it/s)",
        "{{'loss': {loss:.3f}, 'train_steps_per_second': {rate:.3f}, 'step': {step}, 'sec_per_it': {seconds:.2f}}}",
        "  {step}%|#   | {step}/100 [1:00:00<2:00:00, {seconds:.2f}s/it]\nstep {step} loss {loss:.3f} speed {rate:.3f} it/s",
    ],
    ids=["rate first", "time first", "json", "bar"],
)
@pytest.mark.parametrize("sizes", [[], [10, 20, 5]])
def test_of_one_speed_in_two_forms_the_one_with_more_digits_is_given(form: str, sizes: list[int]) -> None:
    lines = [
        line
        for step, seconds in enumerate(RATES, 1)
        for line in form.format(step=step, loss=2 - step / 100, rate=1 / seconds, seconds=seconds).split("\n")
    ]
    metric, _ = track(lines, sizes=sizes)
    assert metric
    assert metric.step_time_s == pytest.approx(218, rel=0.01)
