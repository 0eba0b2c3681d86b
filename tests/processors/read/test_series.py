"""Lines of any format become templates with number columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.read.series import TemplateSeries

from .whole_logs import read_series


def series(*lines: str) -> list[TemplateSeries]:
    return list(read_series((line, 1e9 + place) for place, line in enumerate(lines)))


def test_one_print_statement_is_one_template() -> None:
    (found,) = series(*(f"step {i} loss {1 / (i + 1):.3f} lr 1e-4" for i in range(9)))
    assert [column.before.strip() for column in found.columns] == ["step", "loss", "lr"]
    assert found.columns[0].values == tuple(range(9))
    assert (found.columns[0].integer, found.columns[1].integer) == (True, False)
    assert (found.places, found.count) == (tuple(range(1, 10)), 9)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ('{"loss": 0.5, "step": 7}', '"step": '),
        ("{'loss': 0.5, 'step': 7}", "'step': "),
        ("loss=0.5 step=7", "step="),
        ("| loss 0.5 | step 7 |", "step "),
    ],
)
def test_notations_become_the_same(line: str, name: str) -> None:
    (found,) = series(line)
    assert [column.values for column in found.columns] == [(0.5,), (7.0,)]
    assert found.columns[1].before.endswith(name)


def test_a_row_takes_the_names_of_its_header() -> None:
    found = series("epoch,loss,time", "1,0.5,2.0", "2,0.4,2.1")
    assert [column.before for column in found[-1].columns] == ["epoch: ", "loss: ", "time: "]
    assert found[-1].columns[0].values == (1.0, 2.0)


@pytest.mark.parametrize(
    "line",
    [
        "2024-03-01 10:00:00,123 INFO loss 0.5",
        "saved at 2024-03-01 10:00:00 loss 0.5",
        "[rank3]: 2024-03-01T10:00:00.5Z loss 0.5",
    ],
)
def test_dates_are_no_numbers(line: str) -> None:
    (found,) = series(line)
    assert [column.values for column in found.columns] == [(0.5,)]
    assert found.stamps[0] is not None


def test_a_number_of_seconds_since_1970_is_the_time_of_the_line() -> None:
    (found,) = series('{"time_ms": 1759966714693, "key": "block_start", "samples_count": 4096}')
    assert found.stamps == (1759966714.693,)


def test_a_bar_that_grows_is_one_template() -> None:
    (found,) = series(*(f"Epoch 1: {10 * i}%|{'█' * i}{' ' * (9 - i)}| {i}/9 [00:0{i}<00:09]" for i in range(1, 9)))
    assert found.count == 8
    assert found.columns[-1].duration


@given(
    st.lists(
        st.text(alphabet=st.sampled_from("0123456789.,:-/|{}[]\"'= eEnaN\t\r\x1b[Kstepls"), max_size=80), max_size=12
    )
)
def test_any_text_makes_columns_of_one_length(lines: list[str]) -> None:
    for each in series(*lines):
        assert {len(column.values) for column in each.columns} == {len(each.places)}
        assert len(each.places) == len(each.stamps) == len(each.arrivals) == len(each.ranks)
