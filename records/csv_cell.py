"""Values as cells of CSV files, which people open in spreadsheets."""

import re

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Beginnings of a text that a spreadsheet may run as a formula (OWASP, "CSV injection")."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def csv_cell(value: object) -> object:
    """Return `value` as a cell that no spreadsheet takes for a formula: such a text gets an apostrophe before it. Numbers stay."""
    if isinstance(value, str) and value.startswith(_FORMULA) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value
