"""The template of links to lines of jobs in another system."""

import string
from urllib.parse import urlsplit

FIELDS = ("job", "attempt", "rank", "node", "line", "text", "from", "to")
"""Fields of a link template. `from` and `to` are milliseconds since 1970, ten minutes before and after the verdict."""


def checked_template(template: str) -> str:
    """Return `template`; raise `ValueError` where it is no web address, or names other fields than `FIELDS`."""
    if not template:
        return template
    if urlsplit(template).scheme not in ("http", "https"):
        raise ValueError("expected an address that begins with http:// or https://")
    unknown = sorted({name for _, name, _, _ in string.Formatter().parse(template) if name is not None} - set(FIELDS))
    if unknown:
        raise ValueError(f"expected fields {', '.join(f'{{{name}}}' for name in FIELDS)}, got {{{unknown[0]}}}")
    return template
