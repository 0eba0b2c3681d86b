"""Reads untrusted CSV files row by row. Errors name the file, the line and the value."""

import csv
import gzip
import math
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from schedmate_records import UserError, in_words

LONGEST_FIELD = 65_536
"""Characters of one field: more is no trace."""


class TraceError(UserError):
    """A trace cannot be read; the message states the file and line, what was expected and what came."""


class Row:
    """One row, whose fields are asked for by name.

    Args:
        where: File and line, for errors.
        fields: Text by column.
    """

    __slots__ = ("fields", "where")

    def __init__(self, where: str, fields: Mapping[str, str]) -> None:
        self.where = where
        self.fields = fields

    def has(self, name: str) -> bool:
        """Return whether the column is there and not empty."""
        return bool(self.fields.get(name))

    def text(self, name: str, default: str | None = None) -> str:
        """Return a field.

        Raises:
            TraceError: It is missing and there is no default.
        """
        value = self.fields.get(name) or default
        if value is None:
            raise TraceError(f"{self.where}: expected a value in column {name!r}, found none")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """Return a field as a finite number.

        Raises:
            TraceError: It is missing and there is no default, or it is no finite number.
        """
        text = self.fields.get(name)
        if not text and default is not None:
            return default
        try:
            value = float(text or "")
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise TraceError(f"{self.where}: expected a number in column {name!r}, found {(text or '')[:40]!r}")
        return value


def rows(file: Path) -> Iterator[Row]:
    """Read a CSV file with a header, plain or gzip.

    Raises:
        TraceError: It cannot be read, has no header, or a row has more fields than the header.
    """
    name = file.name
    try:
        with _open(file) as stream:
            csv.field_size_limit(LONGEST_FIELD)
            reader = csv.DictReader(stream)
            if not reader.fieldnames:
                raise TraceError(f"{name}: expected a header line, found an empty file")
            for fields in reader:
                if None in fields:
                    raise TraceError(
                        f"{name}, line {reader.line_num}: expected {len(reader.fieldnames)} fields, found more"
                    )
                yield Row(f"{name}, line {reader.line_num}", fields)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise TraceError(f"expected a CSV file in {file}: {in_words(error)}") from error


def _open(file: Path) -> IO[str]:
    if file.suffix == ".gz":
        return gzip.open(file, "rt", encoding="utf-8", newline="")
    return file.open(encoding="utf-8", newline="")
