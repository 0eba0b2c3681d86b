"""Reading the catalogue's files."""

import tomllib
from collections import Counter
from collections.abc import Iterable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from .entry import InvalidSignature, Signature, checked


def parse(text: str, where: str) -> list[Signature]:
    """Return the signatures in `text` (TOML), which came from `where`.

    Raises:
        InvalidSignature: The text is not TOML or holds no entry, or an entry is refused.
    """
    return [checked(one, where) for one in _tables(text, where)]


def _tables(text: str, where: str) -> list[dict[str, Any]]:
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidSignature(f"{where}: expected TOML: {error}") from error
    except RecursionError as error:
        raise InvalidSignature(f"{where}: expected [[signature]] tables, got values nested too deeply") from error
    entries = raw.get("signature", [])
    if set(raw) - {"signature"} or not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise InvalidSignature(f"{where}: expected only [[signature]] tables, got {', '.join(sorted(raw))}")
    if not entries:
        raise InvalidSignature(
            f"{where}: expected [[signature]] tables, found none; leave the file out if it has no entry"
        )
    return entries


@cache
def _own() -> dict[str, tuple[Signature, ...]]:
    here = resources.files(__package__)
    files = sorted((one for one in here.iterdir() if one.name.endswith(".toml")), key=lambda one: one.name)
    # Tests check these; at every start it would take longer than to read a log.
    return {
        one.name[:-5]: msgspec.convert(_tables(one.read_text(encoding="utf-8"), one.name), tuple[Signature, ...])
        for one in files
    }


def families() -> dict[str, tuple[Signature, ...]]:
    """Return the signatures that ship, by family: the name of their file."""
    return dict(_own())


def load(extra: Iterable[Path] = ()) -> list[Signature]:
    """Return all signatures: those that ship, then those of the operator's `extra` files; an equal name replaces.

    Raises:
        InvalidSignature: A file is no catalogue, an entry is refused, or one file holds two entries of one name and pattern.
        OSError: A file cannot be read.
    """
    own = [entry for entries in _own().values() for entry in entries]
    read = [(path, parse(_text(path), str(path))) for path in extra]
    kept: list[Signature] = []
    for path, entries in [(None, own), *read]:
        (name, pattern), times = Counter((entry.name, entry.pattern) for entry in entries).most_common(1)[0]
        if times > 1:
            raise InvalidSignature(
                f"{path or 'catalogue'}: signature {name!r}: {times} entries have this name and the pattern {pattern!r}; keep one"
            )
        names = {entry.name for entry in entries}
        kept = [entry for entry in kept if entry.name not in names] + entries
    return kept


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise InvalidSignature(
            f"{path}: expected TOML in UTF-8, got byte 0x{byte:02x} at {error.start}; is it the right file?"
        ) from error
