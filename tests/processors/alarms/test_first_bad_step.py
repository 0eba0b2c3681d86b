"""A loss that is no number is stated since the first step that printed it, in whichever way the log is written."""

import json
from collections.abc import Callable

import pytest

from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import Alarm, AlarmKind, JobMetric, LogChunk, Position, Record

Form = Callable[[int, str], list[str]]
FORMS: dict[str, Form] = {
    "plain": lambda step, loss: [f"step {step}/600 | loss {loss} | 0.10 s/it"],
    "json": lambda step, loss: [json.dumps({"step": step, "loss": float(loss), "lr": 1e-4, "step_time": 0.1})],
    "bar and a line without a step": lambda step, loss: [
        f" {step // 6}%|##  | {step}/600 [00:10<00:20, 9.8it/s]",
        f"{{'loss': {loss}, 'epoch': {step / 600:.2f}}}",
    ],
    "bar": lambda step, loss: [f"train: {step // 6}%|##  | {step}/600 [00:10<00:20, 9.8it/s, loss={loss}]"],
    "table": lambda step, loss: [f"{step:6d} {loss} 0.100"],
}


def run(form: Form, first_bad: int, reports: int) -> list[Record]:
    """Return what follows from a log whose losses are NaN from the step `first_bad` on, in chunks of some `reports`."""
    processor, state, made = JobProcessor(), JobState(job="j"), list[Record]()
    lines, first, offset = ["step loss step_time"] if form is FORMS["table"] else [], 1, 0
    for step in range(5, 605, 5):
        lines += form(step, "nan" if step >= first_bad else f"{2 / (1 + step / 100):.4f}")
        if step % (5 * reports) == 0:
            offset += 1
            chunk = LogChunk(
                job="j", time=1000.0 + 2 * offset, lines=lines, first_line=first, first_piece=first, producer="p"
            )
            made += processor.process(state, Position("job-logs", 0, offset), chunk)
            first, lines = first + len(lines), []
    return made


@pytest.mark.parametrize("first_bad", [125, 5])
@pytest.mark.parametrize("reports", [1, 8])
@pytest.mark.parametrize("form", FORMS)
def test_the_alarm_names_the_first_bad_step(form: str, reports: int, first_bad: int) -> None:
    made = run(FORMS[form], first_bad, reports)
    details = [each.detail for each in made if isinstance(each, Alarm) and each.kind is AlarmKind.LOSS_NOT_FINITE]
    assert details == [f"Loss NaN since step {first_bad}"]
    last = [each for each in made if isinstance(each, JobMetric)][-1]
    assert (last.step, last.loss, last.loss_not_finite, last.loss_step) == (600, None, True, first_bad)


def test_the_step_is_right_where_it_is_far_back_in_a_chunk() -> None:
    made = run(FORMS["plain"], 125, 120)
    assert [each.detail for each in made if isinstance(each, Alarm)][:1] == ["Loss NaN since step 125"]
    assert [each.loss_step for each in made if isinstance(each, JobMetric)][-1] == 125


def test_a_loss_keeps_the_step_that_printed_it() -> None:
    processor, state = JobProcessor(), JobState(job="j")
    lines = [f"step {step}/600 {'loss 1.5 ' if step % 10 == 0 else ''}0.10 s/it" for step in range(1, 29)]
    chunk = LogChunk(job="j", time=1000.0, lines=lines, first_line=1, first_piece=1, producer="p")
    last = [
        each for each in processor.process(state, Position("job-logs", 0, 1), chunk) if isinstance(each, JobMetric)
    ][-1]
    assert (last.loss, last.loss_step) == (1.5, 20)
