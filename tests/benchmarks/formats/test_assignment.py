"""The step and the loss among the numbers of a log of any form, and what is kept to find them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.formats.generate import generate
from processors.read.assignment import assign, decided
from processors.read.column_search import ColumnSearch, losses, steps
from processors.read.kept import DEAD, ROWS, TEMPLATES, KeptSeries, names_above, observe, series_of
from processors.read.proposer.linear import LinearProposer
from processors.read.series import SeriesReader

PROPOSER = LinearProposer.load()


def found(lines: list[str], cut: int = 1000, seconds: float = 0.5) -> tuple[int | None, float | None]:
    """Return the step and the loss that a stream of `lines` tells, cut into chunks of `cut`."""
    search, state = ColumnSearch(PROPOSER), KeptSeries()
    for begin in range(0, len(lines), cut):
        part = enumerate(lines[begin : begin + cut], begin)
        search.observe([(place, line, 1e9 + place * seconds) for place, line in part], state)
    counted, lossy = steps(state), losses(state)
    return counted[-1].step if counted else None, lossy[-1].loss if lossy else None


FORMS = [
    "step {i} loss {loss:.4f} lr 1.0e-4",
    '{{"it": {i}, "loss": {loss:.4f}}}',
    "Epoch 3 [{i}/90] loss: {loss:.4f}",
    "Epoch 3:  {i}%|███   | {i}/90 [00:07<00:03,  9.8it/s, loss={loss:.4f}]",
    "Schritt {i} von 90: Verlust {loss:.4f}, noch 00:12",
]


@pytest.mark.parametrize("form", FORMS)
def test_step_and_loss_of_any_form(form: str) -> None:
    step, loss = found([form.format(i=i, loss=3 / i) for i in range(1, 90)])
    assert step == 89
    assert loss == pytest.approx(3 / 89, abs=1e-4)


@pytest.mark.parametrize("cut", [1, 7, 1000])
def test_what_is_found_does_not_depend_on_how_lines_are_cut(cut: int) -> None:
    lines = [
        line for i in range(1, 60) for line in (f"upd {i} nll {4 / i + 1:.4f} gn 0.{i:02d}", "cache hits 4711 of 5000")
    ]
    assert found(lines, cut) == found(lines)
    assert found(lines, cut)[0] == 59


def test_columns_take_the_names_that_a_header_gives_them() -> None:
    rows = [f"{i:8d} | {5 / i + 1:8.4f} | {0.4 * i:8.1f}" for i in range(1, 40)]
    step, loss = found(["    step |     loss |  elapsed", "-------- | -------- | --------", *rows])
    assert (step, loss) == (39, pytest.approx(5 / 39 + 1, abs=1e-4))


@pytest.mark.parametrize(
    ("lines", "columns", "names"),
    [
        (["step,loss,lr"], 3, ["step", "loss", "lr"]),
        (["│  step │  loss │", "│ ----- │ ----- │"], 2, ["step", "loss"]),
        (["  step   train loss    lr"], 3, ["step", "train loss", "lr"]),
        (["Loading the data ..."], 3, []),
        ([], 3, []),
    ],
)
def test_names_stand_in_the_last_line_above_rows(lines: list[str], columns: int, names: list[str]) -> None:
    assert names_above(lines, columns) == names


def test_ranks_that_print_the_same_count_once() -> None:
    lines = [f"(proc {rank}) step {i}: loss {3 / i + 1:.4f}" for i in range(1, 40) for rank in range(8)]
    reader, state = SeriesReader(), KeptSeries()
    observe([(place, line, float(place)) for place, line in enumerate(lines)], reader, state)
    [kept] = state.templates
    assert len({row.values[1] for row in kept.rows}) > ROWS // 2
    assert found(lines)[0] == 39


@pytest.mark.parametrize("rank", ["[gpu3] ", "(worker 3) ", "[rank 3]: ", "rank 3 | ", "worker 3: "])
def test_the_rank_before_a_line_is_no_number_of_it(rank: str) -> None:
    row = SeriesReader().read(f"{rank}step 7 loss 0.5", 1, 0.0)
    assert row is not None
    assert (row.rank, row.values) == (3, (7.0, 0.5))


@pytest.mark.parametrize(
    "lines",
    [
        [f"temperature {40 + (i * 7919) % 13} fan {i % 4}" for i in range(200)],
        [f"done {i}%" for i in range(50)],
        [f"epoch {i} accuracy 0.9{i}" for i in range(9)],
        ["x = 3"] * 50,
    ],
)
def test_other_numbers_are_neither(lines: list[str]) -> None:
    assert found(lines) == (None, None)


def test_what_is_kept_is_bounded() -> None:
    reader, state = SeriesReader(), KeptSeries()
    words = ["".join(chr(97 + int(digit)) for digit in str(n)) for n in range(DEAD + 99)]
    lines = [f"{word} {i}" for i in range(3 * ROWS) for word in words[:TEMPLATES]]
    lines += [f"{word} 7" for word in words for _ in range(12)]
    observe([(i, line, 0.0) for i, line in enumerate(lines)], reader, state)
    assert len(state.templates) <= TEMPLATES
    assert len(state.dead) <= DEAD
    assert all(len(kept.rows) <= ROWS for kept in state.templates)


def test_made_up_formats_are_mostly_read() -> None:
    """Seeds that nothing was trained on. Their scores move with the model; below these it is broken."""
    right = {"step": 0, "loss": 0}
    told = {"step": 0, "loss": 0}
    for seed in range(95_000, 95_040):
        log = generate(seed)
        reader, state = SeriesReader(), KeptSeries()
        observe([(place, line.text, line.time) for place, line in enumerate(log.lines)], reader, state)
        assigned = assign(series_of(reader, state), PROPOSER)
        for aspect, candidates in (("step", assigned.steps), ("loss", assigned.losses)):
            best = decided(candidates)
            if log.truth["tells"][aspect]:
                told[aspect] += 1
                values = log.truth[f"last_{aspect}"]
                right[aspect] += best is not None and any(
                    math.isclose(best.best.value, each, rel_tol=0.05) for each in values
                )
    assert right["step"] >= 0.75 * told["step"]
    assert right["loss"] >= 0.6 * told["loss"]


@given(st.lists(st.text(alphabet="01239.,:%|[](){}=e- abcλ\t\x1b", max_size=60), max_size=40))
def test_any_text_is_taken(lines: list[str]) -> None:
    found(lines, 7)
