"""The step and the loss among the numbers of a log, and the counter of one whose reports name none."""

import pytest

from processors.read.counter_search import DEAD, ROWS, TEMPLATES, SearchState, observe, search
from processors.read.names_prior import NamesPrior
from processors.read.series import SeriesReader, read_series
from processors.read.training import find


def columns(lines: list[str]) -> tuple[float | None, float | None]:
    found = find(list(read_series((line, 0.0) for line in lines)), NamesPrior())
    return found.step.best.value if found.step else None, found.loss.best.value if found.loss else None


@pytest.mark.parametrize(
    "form",
    [
        "step {i} loss {loss:.4f} lr 1.0e-4",
        '{{"it": {i}, "loss": {loss:.4f}}}',
        "{i:5d}\tloss={loss:.4f}\tgnorm=1.25",
        "Epoch 3 [{i}/90] loss: {loss:.4f}",
        "Epoch 3:  {i}%|███   | {i}/90 [00:07<00:03,  9.8it/s, loss={loss:.4f}]",
    ],
)
def test_step_and_loss_of_any_form(form: str) -> None:
    step, loss = columns([form.format(i=i, loss=1 / i) for i in range(1, 90)])
    assert step == 89
    assert loss == pytest.approx(1 / 89, abs=1e-4)


def test_the_longer_loop_is_the_training() -> None:
    lines = []
    for epoch in range(3):
        lines += [f"Epoch {epoch}: {i}/40 [00:01<00:03]" for i in range(41)]
        lines += [f"Epoch {epoch}: {i}/8 [00:01<00:03]" for i in range(9)]
    assert columns(lines)[0] == 40


def test_what_counts_epochs_is_no_step() -> None:
    assert columns([f"epoch {i} accuracy 0.9{i}" for i in range(9)])[0] is None


def test_a_share_is_no_counter() -> None:
    assert columns([f"done {i}%" for i in range(50)])[0] is None


def searched(lines: list[str], cut: int, seconds: float = 0.5) -> list[int]:
    reader, state = SeriesReader(), SearchState()
    for begin in range(0, len(lines), cut):
        part = lines[begin : begin + cut]
        observe([(begin + i, line, 1e9 + (begin + i) * seconds) for i, line in enumerate(part)], reader, state)
    return [each.step for each in search(reader, state)]


@pytest.mark.parametrize("cut", [1, 7, 1000])
def test_a_counter_without_a_name_is_found_however_lines_are_cut(cut: int) -> None:
    lines = [line for i in range(60) for line in (f"[{i}] fitness 0.{i:02d} size 12", "cache hits 4711 of 5000")]
    assert searched(lines, cut)[-1] == 59


def test_what_is_kept_is_bounded() -> None:
    reader, state = SeriesReader(), SearchState()
    words = ["".join(chr(97 + int(digit)) for digit in str(n)) for n in range(DEAD + 99)]
    lines = [f"{word} {i}" for i in range(3 * ROWS) for word in words[:TEMPLATES]]
    lines += [f"{word} {9 - i % 5}" for word in words for i in range(12)]
    observe([(i, line, 0.0) for i, line in enumerate(lines)], reader, state)
    assert len(state.templates) <= TEMPLATES
    assert len(state.dead) <= DEAD
    assert all(len(kept.rows) <= ROWS for kept in state.templates)


def test_numbers_that_wander_count_nothing() -> None:
    assert searched([f"temperature {40 + (i * 7919) % 13} fan {i % 4}" for i in range(200)], 50) == []
