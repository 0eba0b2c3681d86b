r"""Streams that move the cursor are read as a terminal shows them, whatever chunks they come in."""

import pytest

from processors.grammar.prefix import clean
from processors.job import JobProcessor
from processors.screen import HEIGHT, WIDTH, Screen, drawn
from processors.state import JobState
from records import JobMetric, LogChunk, Position

SHOWN = {
    "a value is written over at its column": (["step    1 loss 2.31", "\x1b[1A\x1b[6G   2\x1b[16G2.25"], "step    2 loss 2.25"),
    "a column of another row": (["epoch 1", "step 10", "\x1b[2A\x1b[6C2\x1b[1B"], "epoch 2"),
    "erased, then written": (["epoch 1: saving\x1b[2K\x1b[1Gstep 7 loss 2.1"], "step 7 loss 2.1"),
    "the rest of a row is erased": (["step 7 of 100\x1b[6D\x1b[Kdone"], "step 7 done"),
    "blanks as a move": (["step\x1b[3C7\x1b[2Closs 2.1"], "step   7  loss 2.1"),
    "up and a new line": (["val 3", "train 8\x1b[1Fval 4"], "val 4"),
    "a shorter line after a longer one": (["loading the whole dataset", "\x1b[1Astep 1"], "step 1"),
    "screen erased": (["old", "\x1b[2J\x1b[Hstep 9"], "step 9"),
    "no row that high": (["\x1b[40Astep 3"], "step 3"),
    "colours are none of the text": (["a\x1b[1A\r\x1b[32mstep\x1b[0m 3\x1b[2D #"], "step #"),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "shown"), SHOWN.values(), ids=SHOWN)
def test_the_newest_line_is_what_a_terminal_shows(lines: list[str], shown: str) -> None:
    assert drawn(lines, Screen())[-1] == shown


@pytest.mark.parametrize(("lines", "shown"), SHOWN.values(), ids=SHOWN)
def test_cuts_between_chunks_make_no_difference(lines: list[str], shown: str) -> None:
    lines = ["\x1b[1A", *lines]  # the screen is known from here on
    whole, screen = drawn(lines, Screen()), Screen()
    assert [drawn([line], screen)[0] for line in lines] == list(whole)


def test_a_stream_without_moves_passes_untouched() -> None:
    lines, screen = ["\x1b[32mstep 1\x1b[0m\x1b[K", "\x1b[2Kstep 2\r", "step 3"], Screen()
    assert drawn(lines, screen) is lines
    assert screen == Screen()


def test_nested_bars_read_as_before() -> None:
    bars = [
        " 5%| | 1/20 [00:01<00:19,  1.0it/s]\r",
        "80%|## | 8/10 [00:08<00:02,  1.0it/s]\x1b[A\r",
        "10%| | 2/20 [00:02<00:18,  1.0it/s]\r",
    ]
    assert [clean(line) for line in drawn(bars, Screen())] == [clean(line) for line in bars]


def test_what_is_remembered_is_bounded() -> None:
    screen = Screen()
    drawn(["\x1b[1A", *["x" * 5000 + f"\x1b[999B\x1b[{9**40}C\x1b[9999;9999H\x1b[9999A" for _ in range(300)]], screen)
    assert len(screen.rows) <= HEIGHT
    assert max(map(len, screen.rows)) <= WIDTH
    assert screen.row < len(screen.rows)


def test_a_dashboard_is_read() -> None:
    moved = [f"\x1b[2A\x1b[6G{step:>6}\x1b[26G{2.5 - step / 100:.4f}\x1b[1B" for step in range(1, 60)]
    lines = ["Training", "step      0 of 500  loss 2.5000  0.200 s/step", "", *moved]
    processor, state = JobProcessor(), JobState(job="7")
    metrics: list[JobMetric] = []
    for number, start in enumerate(range(0, len(lines), 10)):
        chunk = LogChunk(
            job="7",
            producer="p",
            lines=lines[start : start + 10],
            time=1000.0 + 2 * number,
            after_ms=[200 * place for place in range(len(lines[start : start + 10]))],
            first_line=start + 1,
            first_piece=start + 1,
        )
        made = processor.process(state, Position("job-logs", 0, number), chunk)
        metrics += [each for each in made if isinstance(each, JobMetric)]
    newest = metrics[-1]
    assert newest.step is not None
    assert newest.step > 40  # the last reports wait for more
    assert (newest.loss, newest.step_time_s) == pytest.approx((2.5 - newest.step / 100, 0.2))
