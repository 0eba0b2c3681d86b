"""Values as cells of CSV files, which people open in spreadsheets."""


def csv_cell(value: object) -> object:
    """Return `value` as a cell that no spreadsheet takes for a formula: such a text gets an apostrophe before it. Numbers stay."""
    # A spreadsheet may run such a text as a formula (OWASP, "CSV injection").
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) and not _is_number(value):
        return f"'{value}"
    return value


def _is_number(text: str) -> bool:
    if not set(text) <= set("0123456789.+-eE"):
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True
