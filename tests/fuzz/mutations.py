"""Inputs made from seeds: bytes are changed anywhere, and documents of JSON value by value."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

LONGEST = 200_000
"""Bytes of an input."""
TOKENS = (
    b"", b"\0", b"\x1b[31m", b"\xff\xfe", b"\xed\xa0\x80",
    "é😀\u2028\u0660".encode(), b"\r", b"\n", b"\r\n", b"\t", b" ", b'"', b"'", b"\\",
    b"{", b"}", b"[", b"]", b"(", b")", b"<", b">", b",", b";", b":", b"=", b"|", b"/", b"%", b"$", b"#", b"*", b"-", b"..", b"../../",
    b"-1", b"0", b"1", b"1e999", b"NaN", b"-Infinity", b"null", b"true", b"9" * 25, b"9" * 5000, b"9223372036854775808", b"0x10", b"1_0",
    b"\\ud800", b"\\u0000", b"${a}", b"$(a)", b"{{", b"=cmd", b"<script>", b"' OR 1=1 --", b"[" * 3000,
    b"(" * 3000, b"a" * 3000, b" " * 3000,
    b"[1-99999999]", b"2026-11-27T00:00:00Z", b"99999-12-31T00:00:00Z", b"Unknown", b"None",
)  # fmt: skip
"""What is put into an input: characters that formats give a meaning, numbers at the borders of types, nesting, length."""
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**30, 0.5, -0.5, 1e308, float("nan"), float("inf"), "", "x", "\0", "\x1b[31m",
    "\ud800",
    "é😀", "9" * 30, "-1", "1e999", "a" * 5000, "../../etc/passwd", "2026-11-27T00:00:00Z", "0001-01-01T00:00:00Z",
    [], {}, [[]], [None], ["x"],
    {"": None}, {"x": {"x": "x"}}, [1] * 3000, ["x"] * 3000,
)  # fmt: skip
"""What takes the place of a value in a document."""

Change = tuple[int, int, int, int]
"""Kind of change, place in the input, size, and which token."""
_PLACES = st.integers(0, 1 << 16)
_CHANGES = st.lists(st.tuples(st.integers(0, 15), _PLACES, st.integers(0, 64), st.integers(0, 1 << 10)), max_size=8)


def inputs(seeds: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Return a strategy of inputs: a seed, changed up to eight times."""
    return st.tuples(st.integers(0, len(seeds) - 1), _CHANGES).map(lambda drawn: mutated(seeds, *drawn))


def mutated(seeds: Sequence[bytes], first: int, changes: Sequence[Change]) -> bytes:
    """Return seed number `first` with the changes made in turn."""
    data = seeds[first]
    for kind, place, size, which in changes:
        as_document = _in_document(data, place, which) if kind >= _OF_BYTES else None
        data = (as_document or _BYTES[kind % _OF_BYTES](data, place, size, which, seeds))[:LONGEST]
    return data


def _inserted(data: bytes, place: int, size: int, which: int, seeds: Sequence[bytes]) -> bytes:
    at = place % (len(data) + 1)
    return data[:at] + TOKENS[which % len(TOKENS)] + data[at:]


def _replaced(data: bytes, place: int, size: int, which: int, seeds: Sequence[bytes]) -> bytes:
    at = place % (len(data) + 1)
    return data[:at] + TOKENS[which % len(TOKENS)] + data[at + size :]


def _removed(data: bytes, place: int, size: int, which: int, seeds: Sequence[bytes]) -> bytes:
    at = place % (len(data) + 1)
    return data[:at] + data[at + size :]


def _cut(data: bytes, place: int, size: int, which: int, seeds: Sequence[bytes]) -> bytes:
    return data[: place % (len(data) + 1)]


def _flipped(data: bytes, place: int, size: int, which: int, seeds: Sequence[bytes]) -> bytes:
    at = place % max(len(data), 1)
    return data[:at] + bytes([each ^ (1 << which % 8) for each in data[at : at + 1]]) + data[at + 1 :]


def _repeated(data: bytes, place: int, size: int, which: int, seeds: Sequence[bytes]) -> bytes:
    at = place % (len(data) + 1)
    return data[:at] + data[at : at + size] * (1 << which % 12) + data[at + size :]


def _joined(data: bytes, place: int, size: int, which: int, seeds: Sequence[bytes]) -> bytes:
    other = seeds[which % len(seeds)]
    return data[: place % (len(data) + 1)] + other[size:]


_BYTES: tuple[Callable[[bytes, int, int, int, Sequence[bytes]], bytes], ...] = (
    _inserted,
    _replaced,
    _removed,
    _cut,
    _flipped,
    _repeated,
    _joined,
)
_OF_BYTES = len(_BYTES)


def _in_document(data: bytes, place: int, which: int) -> bytes | None:
    """Return a JSON document, or one line of several, with one of its values replaced, removed or repeated; null where it is none."""
    lines = data.splitlines(keepends=True)
    at = place % max(len(lines), 1)
    for before, part, after in (
        (b"", data, b""),
        (b"".join(lines[:at]), b"".join(lines[at : at + 1]), b"".join(lines[at + 1 :])),
    ):
        try:
            document = json.loads(part)
        except (ValueError, RecursionError):
            continue
        holder = [document]
        spots: list[tuple[Any, Any]] = [(holder, 0)]
        for owner, key in spots:
            inner = owner[key]
            if isinstance(inner, (dict, list)) and len(spots) < 5000:
                spots += [(inner, each) for each in (inner if isinstance(inner, dict) else range(len(inner)))]
        owner, key = spots[place % len(spots)]
        if which % 8 == 0 and isinstance(owner, dict):
            del owner[key]
        elif which % 8 == 1 and isinstance(owner, list):
            owner += [owner[key]] * 3
        else:
            owner[key] = VALUES[which // 8 % len(VALUES)]
        return before + json.dumps(holder[0]).encode() + (b"\n" if part.endswith(b"\n") else b"") + after
    return None
