"""Files of log formats, one JSON object a line: what `schedmate formats export` and `teach` write, and `processors.formats` names."""

from collections.abc import Iterable
from pathlib import Path

from schedmate_records import InvalidRecord, KnownFormat, UserError, check, decode, encode, in_words

from ..settings.settings import SettingsError


class FormatError(UserError):
    """A format cannot be read or stored. The message states what was expected and what came."""


def read_formats(file: Path) -> list[KnownFormat]:
    """Return the formats of a file, one JSON object a line.

    Raises:
        FormatError: The file cannot be read, or a line is not a format.
    """
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise FormatError(f"expected a file of formats at {file}: {in_words(error)}") from error
    found = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = decode(KnownFormat, line)
            check(record)
        except InvalidRecord as error:
            raise FormatError(f"{file}, line {number}: {error}") from error
        found.append(record)
    return found


def configured_formats(file: str) -> list[KnownFormat]:
    """Return the formats of the file that `processors.formats` names; none for an empty name.

    Raises:
        SettingsError: The file cannot be read, or a line is not a format.
    """
    try:
        return read_formats(Path(file)) if file else []
    except FormatError as error:
        raise SettingsError(f"processors.formats: {error}") from error


def write_formats(file: Path, formats: Iterable[KnownFormat], *, append: bool = False) -> None:
    """Write formats into a file, one JSON object a line. Raises `FormatError`."""
    try:
        with file.open("ab" if append else "wb") as stream:
            stream.writelines(encode(each) + b"\n" for each in formats)
    except OSError as error:
        raise FormatError(f"expected to write {file}: {in_words(error)}") from error
