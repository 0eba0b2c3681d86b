"""Values as cells of CSV files, which people open in spreadsheets."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Beginnings of a text that a spreadsheet may run as a formula (OWASP, "CSV injection")."""
_OF_NUMBERS = frozenset("0123456789.+-eE")


def csv_cell(value: object) -> object:
    """Return `value` as a cell that no spreadsheet takes for a formula: such a text gets an apostrophe before it. Numbers stay."""
    if isinstance(value, str) and value.startswith(_FORMULA) and not _is_number(value):
        return f"'{value}"
    return value


def _is_number(text: str) -> bool:
    if not _OF_NUMBERS.issuperset(text):
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True
