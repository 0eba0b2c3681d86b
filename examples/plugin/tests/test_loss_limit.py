"""The stage among those that ship, on what a producer would send."""

from schedmate_site.loss_limit import LossLimit

from processors.job import JobProcessor
from processors.stages import in_order, shipped_stages
from processors.state import JobState
from schedmate_records import Alarm, LogChunk, Position


def test_loss_above_the_limit_raises_one_alarm() -> None:
    processor = JobProcessor(stages=in_order([*shipped_stages(), LossLimit(100.0)]))
    state, made = JobState(job="7"), []
    for number, loss in enumerate((2.0, 3.0, 400.0, 500.0)):
        lines = [f"step {20 * number + step} | loss {loss} | step_time 0.2 s" for step in range(1, 21)]
        chunk = LogChunk(
            job="7",
            node="n1",
            producer="p",
            lines=lines,
            time=1000.0 + 4 * number,
            first_line=20 * number + 1,
            first_piece=20 * number + 1,
        )
        made += processor.process(state, Position("job-logs", 0, number), chunk)
    [alarm] = [each for each in made if isinstance(each, Alarm) and each.id.startswith("loss_limit")]
    assert (alarm.value, alarm.limit) == (400.0, 100.0)
