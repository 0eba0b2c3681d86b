"""Feeding the tracker, and what a log's numbers should be, however it is cut."""

import math

import msgspec

from processors.classified_chunk import ClassifiedChunk
from processors.classify import ClassifyContext, LineClassifier
from processors.grammar.extractor import templates
from processors.track import MetricTracker, TrackState
from schedmate_records import JobMetric, Position

CLASSIFIER = LineClassifier()


def track(
    lines: list[str],
    times: list[float] | None = None,
    sizes: list[int] | None = None,
    tracker: MetricTracker | None = None,
) -> tuple[JobMetric | None, TrackState]:
    tracker, state, context = tracker or MetricTracker(), TrackState(), ClassifyContext()
    metric, place = None, 0
    for size in [*(sizes or []), len(lines)]:
        part = lines[place : place + size]
        view = ClassifiedChunk(
            job="j",
            attempt=0,
            node="n1",
            rank=0,
            stream="stdout",
            position=Position("job-logs", 0, place),
            time=times[place] if times else 1e9,
            lines=part,
            numbers=range(place + 1, place + 1 + len(part)),
            times=times[place : place + size] if times else [1e9] * len(part),
            classes=CLASSIFIER.classify(part, context),
            templates=templates(part),
        )
        metric = tracker.observe(view, state) or metric
        state = msgspec.json.decode(msgspec.json.encode(state), type=TrackState)  # as after a restart
        place += size
    return metric, state


def clock(second: float) -> str:
    return f"2031-02-03 {int(second // 3600) % 24:02}:{int(second // 60) % 60:02}:{int(second % 60):02},{int(second * 1000) % 1000:03}"


def expect(metric: JobMetric | None, expected: dict[str, object]) -> None:
    """Fail where a field of `metric` is another than expected; numbers within 2 %."""
    assert metric is not None
    for field, value in expected.items():
        found = getattr(metric, field)
        if isinstance(value, float):
            assert found is not None, field
            assert math.isclose(found, value, rel_tol=0.02), (field, found, value)
        else:
            assert found == value, (field, found, value)


def expect_however_cut(made: list[str], expected: dict[str, object]) -> None:
    """Fail where the numbers of the lines `made` are others than expected, whole or in chunks of some sizes."""
    whole = track(made)[0]
    expect(whole, expected)
    for sizes in ([1] * len(made), [3] * len(made), [7, 1, 30]):
        metric = track(made, sizes=sizes)[0]
        assert metric is not None
        assert [getattr(metric, field) for field in expected] == [getattr(whole, field) for field in expected], sizes
