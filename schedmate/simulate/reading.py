"""CSV files that others wrote, read row by row. Errors give file, line, what was expected and what was found."""

import csv
import gzip
import math
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from schedmate_records import UserError, in_words

LONGEST_FIELD = 65_536
"""Characters of one field: more is no trace."""


class TraceError(UserError):
    """A trace cannot be read; the message gives file and line, what was expected and what was found."""


class Row:
    """One row, whose fields are read by name.

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
            TraceError: It is missing and there is no default, or it is not a finite number.
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

    def whole_number(self, name: str, most: int) -> int:
        """Return a field as a whole number from 0 to `most`.

        Raises:
            TraceError: It is missing or not such a number.
        """
        value = self.number(name)
        if not 0 <= value <= most or value != int(value):
            raise TraceError(
                f"{self.where}: expected a whole number from 0 to {most} in column {name!r}, found {value:g}"
            )
        return int(value)

    def gpus(self, name: str, default: float | None = None) -> float:
        """Return a field as GPUs: a whole number, or a share of one GPU.

        Raises:
            TraceError: It is missing and there is no default, or it is not such a number.
        """
        gpus = self.number(name, default)
        if not 0 <= gpus <= 1_000_000 or (gpus >= 1 and gpus != int(gpus)):
            raise TraceError(f"{self.where}: expected a share below 1 or a whole number of GPUs, found {gpus:g}")
        return gpus

    def moment(self, name: str) -> float:
        """Return a field with a date and a time as seconds since 1970. See `moment`.

        Raises:
            TraceError: It is missing, or not a date and a time.
        """
        return moment(self.text(name), f"{self.where}, column {name!r}")


def moment(text: str, where: str) -> float:
    """Return an ISO date and time as seconds since 1970. A time without a zone is UTC.

    Raises:
        TraceError: It is not a date and a time.
    """
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError) as error:
        raise TraceError(f"{where}: expected a date and a time, found {text[:40]!r}") from error


def rows(file: Path) -> Iterator[Row]:
    """Read a CSV file with a header, plain or gzip.

    Raises:
        TraceError: It cannot be read, has no header, or a row has more fields than the header.
    """
    name = file.name
    with opened(file) as stream:
        try:
            csv.field_size_limit(LONGEST_FIELD)
            reader = csv.DictReader(stream)
            if not reader.fieldnames:
                raise TraceError(f"{name}: expected a header line, found an empty file")
            reader.fieldnames = [each.strip() for each in reader.fieldnames]
            for fields in reader:
                if None in fields:
                    raise TraceError(
                        f"{name}, line {reader.line_num}: expected {len(reader.fieldnames)} fields, found more"
                    )
                yield Row(f"{name}, line {reader.line_num}", fields)
        except csv.Error as error:
            raise TraceError(f"expected a CSV file in {file}: {in_words(error)}") from error


@contextmanager
def opened(file: Path) -> Iterator[IO[str]]:
    """Open a text file, plain or gzip. Errors while it is read count as well.

    Raises:
        TraceError: It cannot be read.
    """
    try:
        with _open(file) as stream:
            yield stream
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise TraceError(f"expected a trace in {file}: {in_words(error)}") from error


def _open(file: Path) -> IO[str]:
    if file.suffix == ".gz":
        return gzip.open(file, "rt", encoding="utf-8-sig", newline="")
    return file.open(encoding="utf-8-sig", newline="")
