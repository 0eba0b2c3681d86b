"""Cells that a spreadsheet would run as a formula."""

import pytest

from schedmate_records import csv_cell

FORMULAS = [
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "=",
    "-",
    "+cmd|' /C calc'!A0",
    "-x",
    '=HYPERLINK("http://x")',
]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_gets_an_apostrophe(text: str) -> None:
    assert csv_cell(text) == f"'{text}"


@pytest.mark.parametrize(
    "value", ["-1", "+1.5", "-.5", "-1e-3", "+2E5", -1, -0.5, None, True, "", "a=1", " =1", "loss -1"]
)
def test_numbers_and_other_texts_stay(value: object) -> None:
    assert csv_cell(value) is value
