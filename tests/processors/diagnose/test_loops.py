"""Loops that go on, or come to their end."""

import pytest

from processors.diagnose.loops import LoopEnd


@pytest.mark.parametrize(
    "reports",
    [
        ["Epoch 2/3 loss 0.5", "Epoch 3/3 loss 0.4"],
        ["| epoch 001:   1999 / 2000 loss=8.1", "| epoch 001:   2000 / 2000 loss=8.0"],
        ["[2/3] step 50/100", "[3/3] step 100/100"],
    ],
)
def test_a_counter_that_reaches_its_end(reports: list[str]) -> None:
    assert LoopEnd().reached(reports)
    loop = LoopEnd()
    assert [loop.reached([one]) for one in reports] == [False, True]


@pytest.mark.parametrize(
    "reports",
    [
        ["100%|####| 120/120 [00:31<00:00]"],
        ["Epoch 1/3 step 99/100", "Epoch 1/3 step 100/100"],
        ["train 9/10", "eval 20/20"],
        ["01/02/2024 loss 0.5", "02/02/2024 loss 0.4"],
        ["step 1 loss 0.5", "step 2 loss 0.4"],
    ],
)
def test_no_loop_at_its_end(reports: list[str]) -> None:
    assert not LoopEnd().reached(reports)


def test_a_table_that_grows() -> None:
    rows = ["4         2.31", "# between", "1024      4.12", "1048576 180.22"]
    assert LoopEnd().tabulated(rows)
    assert not LoopEnd().tabulated(rows[:3])
    assert not LoopEnd().tabulated(["4 2.31", "3 4.12", "2 180.22"])
    loop = LoopEnd()
    assert [loop.tabulated([one]) for one in rows] == [False, False, False, True]
