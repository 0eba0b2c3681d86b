"""Numbers that no training has are told as unknown."""

import msgspec
import pytest

from processors.job import JobProcessor
from processors.track.ranks import over_ranks
from schedmate_records import JobMetric, LogChunk, Position

REPORTS = 10


def metrics_of(line: str) -> list[JobMetric]:
    """Return the metrics of a job whose two ranks print `line` with rising steps."""
    processor = JobProcessor()
    state = processor.fresh("7")
    results = []
    for offset in range(12):
        number, rank = divmod(offset, 2)
        chunk = LogChunk(
            job="7",
            rank=rank,
            producer=f"rank-{rank}",
            seq=number,
            first_line=number * REPORTS + 1,
            first_piece=number * REPORTS + 1,
            lines=[line.format(step=number * REPORTS + i) for i in range(REPORTS)],
            time=1e9 + number * REPORTS,
            after_ms=[1000 * i for i in range(REPORTS)],
        )
        results += processor.process(state, Position(topic="job-logs", partition=0, offset=offset), chunk)
    return [record for record in results if isinstance(record, JobMetric)]


@pytest.mark.parametrize("huge", ["1e308", "1e400", "inf", "9" * 400])
@pytest.mark.parametrize(
    "line",
    [
        "step {{step}} loss 2.0 {} samples/s batch size 1e300",
        "step={{step}} tokens/sec={} loss=1.0",
        "step {{step}} | time per step (h): {} | loss 3.0",
        "step {{step}} global batch size {} it/s {} loss 1",
    ],
)
def test_whatever_is_printed_the_metric_is_read_back_as_it_was_told(line: str, huge: str) -> None:
    metrics = metrics_of(line.replace("{}", huge).replace("{{", "{").replace("}}", "}"))
    assert metrics
    for metric in metrics:
        assert msgspec.json.decode(msgspec.json.encode(metric), type=JobMetric) == metric
        assert (metric.throughput is None) == (metric.throughput_unit is None)


def test_a_throughput_that_comes_to_infinity_leaves_the_step_time() -> None:
    metric = metrics_of("step={step} tokens/sec=1e308 loss=1.0")[-1]
    assert (metric.throughput, metric.throughput_unit, metric.step_time_s) == (None, None, pytest.approx(1.0))


def test_a_rank_whose_step_time_cannot_be_is_left_out_of_the_spread() -> None:
    assert over_ranks({0: 0.5, 1: 5e-324, 2: 1e300}) is None
    spread = over_ranks({0: 0.5, 1: 5e-324, 2: 0.7})
    assert spread is not None
    assert spread.ranks == 2


def test_a_step_shorter_than_a_nanosecond_is_none() -> None:
    """All lines at once: nothing but what they say tells how long a step takes."""
    processor = JobProcessor()
    lines = [f"step {step} loss 2.0 1e-290 s/step" for step in range(40)]
    made = processor.process(processor.fresh("7"), Position("job-logs", 0, 0), LogChunk(job="7", lines=lines, time=1e9))
    metrics = [record for record in made if isinstance(record, JobMetric)]
    assert metrics
    assert {metric.step_time_s for metric in metrics} == {None}
