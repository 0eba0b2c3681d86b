import msgspec
import pytest

from processors.interference.monitor import InterferenceMonitor, InterferenceState
from schedmate_records import EventKind, Evidence, JobEvent, JobMetric, Position, Slowdown
from tests.metric_values import value

AT = Position("job-events", 0, 12)


def metric(
    time: float, step_time: float | None, step: int | None = None, window: float = 5.0, **more: object
) -> JobMetric:
    """A report at `time` whose median rests on the last `window` seconds."""
    line = Evidence(topic="job-logs", partition=0, offset=int(time), line=int(time), text=f"step {step}")
    steps = {} if step is None or not step_time else {"step": step, "since_step": step - int(window / step_time)}
    return JobMetric(
        id=f"m{time}",
        job="a",
        time=time,
        step_time_s=step_time,
        since=time - window,
        evidence=[line],
        **steps,
        **more,  # type: ignore[arg-type]
    )


def event(time: float = 100.0, kind: EventKind = EventKind.PACKED, **more: object) -> JobEvent:
    return JobEvent(id="e", job="a", kind=kind, time=time, packed_with="b", nodes=["n1"], **more)  # type: ignore[arg-type]


def slowed(
    monitor: InterferenceMonitor,
    state: InterferenceState,
    factor: float = 2.0,
    start: int = 100,
    end: int = 260,
    **more: object,
) -> list[Slowdown]:
    """Reports every 10 s after the packing; a step takes 0.1 s times `factor`."""
    pace = 0.1 * factor
    reports = [metric(time, pace, 1000 + int((time - 100) / pace), **more) for time in range(start, end, 10)]
    return [one for report in reports for one in monitor.on_metric(report, AT, state)]


def ready(monitor: InterferenceMonitor) -> InterferenceState:
    state = InterferenceState()
    for time in (70.0, 80.0, 90.0, 99.0):
        assert not monitor.on_metric(metric(time, 0.1, int(time * 10)), AT, state)
    monitor.on_event(event(), AT, state)
    return state


def test_a_slowdown_is_said_once_with_both_lines() -> None:
    monitor = InterferenceMonitor()
    state = ready(monitor)
    (one,) = slowed(monitor, state)
    assert one.id == "slowdown/a/job-events/0/12/0"
    assert (one.job, one.packed_job, one.node) == ("a", "b", "n1")
    assert one.ratio == pytest.approx(0.5)
    assert one.confidence is not None
    assert one.confidence > 0.95
    assert one.recovered is None
    assert one.steps_after >= 30
    assert [place.offset for place in one.evidence] == [99, int(one.time)]
    assert (value(monitor.metrics.measured), value(monitor.metrics.slowed)) == (1, 1)


@pytest.mark.parametrize(("factor", "count"), [(1.5, 0), (1.6, 1)])
def test_the_threshold(factor: float, count: int) -> None:
    monitor = InterferenceMonitor()
    assert len(slowed(monitor, ready(monitor), factor)) == count
    assert value(monitor.metrics.measured) == 1


def test_reports_of_before_in_the_median_do_not_lessen_a_slowdown() -> None:
    """While the newcomer loads nothing changes; then the median of the newest reports passes through the middle of the two paces."""
    monitor = InterferenceMonitor()
    state = ready(monitor)
    step, found = 1000, []
    for number in range(12):
        loaded = number > 4
        step += 50 if loaded else 100
        mixed = 0.1 if number < 9 else 0.16 if number == 9 else 0.2
        found += monitor.on_metric(metric(110.0 + 10 * number, mixed, step, window=60.0), AT, state)
    (one,) = found
    assert one.time == 200.0, "the first report whose median says so"
    assert (one.after_s, one.ratio) == (pytest.approx(0.2), pytest.approx(0.5))


def test_no_span_may_touch_the_warm_up() -> None:
    monitor = InterferenceMonitor(warmup_steps=30)
    state = ready(monitor)
    for time, step in ((103.0, 1003), (106.0, 1006), (109.0, 1020), (112.0, 1029)):  # slow, while the newcomer loads
        assert not monitor.on_metric(metric(time, 1.0, step), AT, state)
    assert value(monitor.metrics.measured) == 0
    assert slowed(monitor, state, factor=1.0, start=120) == []
    assert value(monitor.metrics.measured) == 1


def test_without_steps_the_warm_up_is_time_and_windows_do_not_overlap() -> None:
    monitor = InterferenceMonitor(warmup_s=60.0)
    state = InterferenceState()
    for time in (70.0, 76.0, 82.0, 88.0, 94.0):
        monitor.on_metric(metric(time, 0.1), AT, state)
    monitor.on_event(event(), AT, state)
    after = [float(time) for time in range(110, 196)]
    found = [(time, one) for time in after for one in monitor.on_metric(metric(time, 0.3, window=5.0), AT, state)]
    ((time, one),) = found
    assert (time, one.steps_after) == (185.0, 0)  # five windows of 5 s after the first metric past 160


def test_pauses_are_no_slowdown() -> None:
    monitor = InterferenceMonitor()
    state = ready(monitor)
    step, time = 1000, 100.0
    for number in range(60):
        paused = number % 7 in (3, 4)  # an evaluation, then a checkpoint
        time, step = time + (50.0 if paused else 5.0), step + 50
        assert not monitor.on_metric(metric(time, 0.1, step), AT, state)
    assert value(monitor.metrics.measured) == 1


def test_a_job_whose_pace_varies_that_much_anyway_is_not_found_slowed() -> None:
    monitor = InterferenceMonitor()
    state = InterferenceState()
    step = 0
    for number, time in enumerate(range(0, 100, 10)):
        made = 100 if number % 2 else 20
        step += made
        monitor.on_metric(metric(time, 10 / made, step), AT, state)
    monitor.on_event(event(), AT, state)
    for number, time in enumerate(range(110, 400, 10)):
        made = 20 if number % 3 else 100  # slow twice as often as before, in every two spans of three
        step += made
        assert not monitor.on_metric(metric(time, 10 / made, step), AT, state)


def test_the_pace_after_the_end_of_a_packing_is_told_once() -> None:
    monitor = InterferenceMonitor()
    state = ready(monitor)
    (said,) = slowed(monitor, state)
    monitor.on_event(event(260.0, EventKind.UNPACKED), AT, state)
    monitor.on_event(event(260.0, EventKind.UNPACKED), AT, state)
    after = [metric(270.0 + 10 * number, 0.1, 2000 + 100 * number) for number in range(20)]
    (one,) = [one for report in after for one in monitor.on_metric(report, AT, state)]
    assert one.recovered == pytest.approx(1.0)
    assert one.id == f"{said.id}/recovered"
    assert msgspec.structs.replace(one, id=said.id, recovered=None) == said
    assert state.packings == []
    assert value(monitor.metrics.recovered) == 1


def test_what_cannot_be_tracked_is_skipped() -> None:
    monitor = InterferenceMonitor()
    state = InterferenceState()
    monitor.on_metric(metric(90.0, None), AT, state)
    monitor.on_metric(metric(95.0, 0.1, 950), AT, state)  # one span: whatever comes after it is never certain
    monitor.on_event(event(), AT, state)
    assert slowed(monitor, state) == []
    assert value(monitor.metrics.untrackable) == 1


def test_only_the_job_that_was_there_first_is_watched() -> None:
    monitor = InterferenceMonitor()
    state = InterferenceState()
    monitor.on_metric(metric(90.0, 0.1, 900), AT, state)
    monitor.on_event(event(newcomer=True), AT, state)
    assert (state.packings, value(monitor.metrics.packed)) == ([], 0)


def test_a_packing_that_ended_is_not_measured() -> None:
    monitor = InterferenceMonitor()
    state = ready(monitor)
    monitor.on_event(event(105.0, EventKind.UNPACKED), AT, state)
    assert slowed(monitor, state) == []
    assert value(monitor.metrics.ended) == 1


def test_an_event_that_comes_late_is_compared_with_what_was_before_it() -> None:
    monitor = InterferenceMonitor()
    state = InterferenceState()
    for time in (79.0, 89.0, 99.0):
        monitor.on_metric(metric(time, 0.1, int(time * 10)), AT, state)
    monitor.on_metric(metric(110.0, 0.2, 1045), AT, state)
    monitor.on_event(event(), AT, state)
    monitor.on_event(event(), AT, state)
    (one,) = slowed(monitor, state, start=120)
    assert one.before_s == 0.1
    assert value(monitor.metrics.packed) == 1


def test_slow_first_steps_are_not_taken_for_the_pace_before() -> None:
    monitor = InterferenceMonitor()
    state = InterferenceState()
    for time, step_time in ((84.0, 0.5), (88.0, 0.1), (91.0, 0.1), (94.0, 0.1), (97.5, 0.1)):
        monitor.on_metric(metric(time, step_time, int(time * 10)), AT, state)
    monitor.on_event(event(time=98.0), AT, state)
    (one,) = slowed(monitor, state)
    assert one.before_s == 0.1


def test_the_rank_that_reports_most_is_followed() -> None:
    monitor = InterferenceMonitor()
    state = InterferenceState()
    for time in (85.0, 90.0, 95.0):
        monitor.on_metric(metric(time, 0.1, int(time * 10), rank=1), AT, state)
    monitor.on_metric(metric(96.0, 0.5, 192, rank=0), AT, state)
    monitor.on_event(event(), AT, state)
    assert not slowed(monitor, state, factor=9.0, rank=0)
    assert value(monitor.metrics.measured) == 0
    assert slowed(monitor, state, rank=1)


def test_the_state_can_be_stored_and_is_bounded() -> None:
    monitor = InterferenceMonitor()
    state = ready(monitor)
    for rank in range(100):
        monitor.on_metric(metric(99.5, 0.1, 995, rank=rank), AT, state)
        monitor.on_event(event(), Position("job-events", 0, 100 + rank), state)
    assert msgspec.json.decode(msgspec.json.encode(state), type=InterferenceState) == state
    assert len(msgspec.json.encode(state)) < 20_000


@pytest.mark.parametrize("wrong", [{"threshold": 0.0}, {"threshold": 1.5}, {"warmup_steps": -1}, {"warmup_s": -1.0}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="expected"):
        InterferenceMonitor(**wrong)  # type: ignore[arg-type]
