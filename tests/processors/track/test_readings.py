"""Which reading of a printed time the evidence favours."""

from processors.track.reports import Report
from processors.track.series import points, template_of
from processors.track.step_time_candidates import THRESHOLD
from processors.track.summary import summarise


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
