"""One log, followed for a person."""

from pathlib import Path

from processors.job import JobProcessor
from schedmate.analysis.watch_log import watch


def test_a_verdict_that_stands_at_the_end_is_shown_once(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("step 1 | loss 0.5\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n")
    looks = iter([False, False])
    shown = list(watch(log, JobProcessor(), 0.0, lambda: next(looks, True)))
    assert sum("cuda out of memory" in line for line in shown) == 1, shown
    assert sum("| RuntimeError" in line for line in shown) == 1, shown


def test_a_verdict_that_the_end_alone_brings_is_shown(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(
        'step 1 | loss 0.5\nTraceback (most recent call last):\n  File "t.py", line 1, in <module>\nKeyError: 1'
    )
    looks = iter([False, False])
    shown = list(watch(log, JobProcessor(), 0.0, lambda: next(looks, True)))
    assert sum("KeyError" in line for line in shown) >= 1, shown


def test_an_alarm_is_shown_with_the_line_with_which_it_began(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    losses = [2.5] * 40 + [float("nan")] * 300
    log.write_text("".join(f"step {step} | loss {loss} | 0.25 s/it\n" for step, loss in enumerate(losses, 1)))
    looks = iter([False, False])
    shown = list(watch(log, JobProcessor(), 0.0, lambda: next(looks, True)))
    place = next(place for place, line in enumerate(shown) if "alarm: Loss NaN since step 41" in line)
    assert shown[place + 1].endswith("41 | step 41 | loss nan | 0.25 s/it")
