"""Lines of reports that spread over several lines, and of what only looks like one."""

import pytest

from .test_classifier import letters


@pytest.mark.parametrize(
    "line",
    [
        "Epoch 7 ended.",
        "epoch 3/20 completed",
        "\tLoss_Mean/train_part/stream = 0.3121",
        " ====== Running generation 12 ====== ",
        "Generation time: 2.512 sec (2.498 average)",
        "      450 iter, 2 epoch / 12 epochs",
    ],
)
def test_parts_of_reports_are_progress(line: str) -> None:
    assert letters(line) == "p"


@pytest.mark.parametrize(
    "line",
    [
        "Epoch 7 ended with a checkpoint at out/7.pt",
        "\tLoss_Mean/eval_part/stream = 0.8121",
        "  losses_init: 0.0002, head: 0.0121, compute_loss: 0.0441",
        "Evaluation: avg episode reward 31.2",
        "    disk [#########.........................................] 18.00%",
        "Estimated time to finish: 0:04:10.20",
    ],
)
def test_what_looks_like_a_part_is_none(line: str) -> None:
    assert letters(line) == "o"


def test_a_row_with_empty_cells_is_progress_under_its_header() -> None:
    header = "epoch       iteration   main/loss   lr          elapsed_time"
    whole = f"{1:<12}{80:<12}{0.3121:<12}{0.003:<12}{5.25}"
    holes = f"{1:<12}{80:<12}{0.3121:<24}{5.25}"
    assert letters(header, whole, holes) == "opp"
    assert letters(header, f"{1:<12}{80:<12}{5.25}") == "oo"


def test_a_message_with_its_place_in_a_package_is_a_warning() -> None:
    assert (
        letters("/opt/e/lib/python3.12/site-packages/made/loop.py:42: The loader has few workers. HINT: raise them.")
        == "w"
    )
    assert letters("/home/me/made/loop.py:42: built the loader") == "o"
