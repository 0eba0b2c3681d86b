"""What a log's numbers should be, and that they are the same however it is cut."""

import math

from records import JobMetric


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


def fields(metric: JobMetric | None, expected: dict[str, object]) -> list[object]:
    """Return those fields of `metric` that something is expected of."""
    assert metric is not None
    return [getattr(metric, field) for field in expected]
