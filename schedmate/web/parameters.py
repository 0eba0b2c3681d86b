"""Parameters of links, and the values of rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request


def row_values(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Iterator[list[Any]]:
    """Return the values of `columns` of each row."""
    return ([row[name] for name in columns] for row in rows)


def read_number(request: Request, name: str) -> int | None:
    """Return the parameter `name`, a whole number; None where it is left out. Raises `HTTPException` for what is none."""
    given: Any = request.query_params.get(name, "")
    if not given:
        return None
    if not (given.isascii() and given.isdigit() and len(given) < 11 and int(given) < 2**31):
        raise HTTPException(400, f"Expected a number as {name}, got {given[:40]!r}.")
    return int(given)
