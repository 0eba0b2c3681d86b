"""Tables whose header does not stand right above the first row: written here."""

import pytest

from .expecting import expect_however_cut
from .test_formats import lines, loss


def _bar(i: int) -> str:
    return f"\r{i % 5 * 20:3}%|{'#' * (i % 5 * 2):10}| {i % 5}/5 [00:0{i % 5}<00:01,  1.00it/s]"


PRETRAINING = [
    "epoch,loss,accuracy",
    *(f"{i},{9 + i / 10:.3f},{i / 20:.3f}" for i in range(8)),
]
FORMATS: dict[str, tuple[list[str], dict[str, object]]] = {
    "a bar between a second table's header and its rows": (
        [*PRETRAINING, "epoch,step,loss,step_time", _bar(1), *lines(lambda i: [f"1,{i},{loss(i):.4f},0.25", _bar(i)])],
        {"step": 40, "loss": 2.2, "step_time_s": 0.25},
    ),
    "a bar that begins before the header of a second table": (
        [*PRETRAINING, _bar(1), "epoch,step,loss,step_time", *lines(lambda i: [_bar(i), f"1,{i},{loss(i):.4f},0.25"])],
        {"step": 40, "loss": 2.2, "step_time_s": 0.25},
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_tables(name: str) -> None:
    expect_however_cut(*FORMATS[name])
