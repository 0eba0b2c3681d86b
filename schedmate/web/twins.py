"""Every view's twin for programs: the same content as JSON or CSV."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal

import msgspec
from starlette.responses import Response

from schedmate_records import csv_cell

Form = Literal["html", "json", "csv"]
"""The forms of an answer."""
_JSON: Final = msgspec.json.Encoder(enc_hook=str)


def as_json(content: object) -> Response:
    """Return `content` as JSON; what JSON has no form for is text, and numbers that are none are null."""
    return Response(_JSON.encode(content), media_type="application/json")


def as_csv(name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Response:
    """Return `rows` as a CSV file `name`, with a header: lists as JSON, times in ISO 8601, null as nothing.

    A text that a spreadsheet would run gets an apostrophe before it (`csv_cell`).
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in (columns, *rows):
        writer.writerow([csv_cell(_cell(value)) for value in row])
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return Response(out.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)


def picked(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return the `columns` of each row, in that order."""
    return [{name: row[name] for name in columns} for row in rows]


def _cell(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list | tuple | dict):
        return _JSON.encode(value).decode()
    return "" if value is None else value
