"""Seeds: the texts in the tests of a parser are inputs of that parser."""

import ast
import functools
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
LONGEST = 20_000
"""Bytes of a seed. Mutations of a longer one mostly touch what is alike."""
MOST = 300
"""Seeds of one target: the first of each file come first."""
_DATA = {".txt", ".json", ".jsonl", ".csv", ".toml", ".yaml", ".yml", ".log", ".gz", ".md", ""}


@functools.cache
def seeds(*sources: str) -> tuple[bytes, ...]:
    """Return the texts and bytes that the files below `tests` of these names hold, each once.

    Raises:
        FileNotFoundError: There is nothing of one of the names.
    """
    by_file = [list(_of_file(file)) for source in sources for file in _files(source)]
    found: dict[bytes, None] = {}
    for place in range(max(map(len, by_file), default=0)):
        for each in by_file:
            if place < len(each) and len(found) < MOST:
                found[each[place][:LONGEST]] = None
    return tuple(found)


def _files(source: str) -> list[Path]:
    path = TESTS / source
    if not path.exists():
        raise FileNotFoundError(f"expected tests at {path}")
    return [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())


def _of_file(file: Path) -> Iterator[bytes]:
    if file.suffix == ".py":
        yield from _constants(ast.parse(file.read_text(encoding="utf-8")))
    elif file.suffix in _DATA and "__pycache__" not in file.parts:
        data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        yield data[:LONGEST]


def _constants(tree: ast.Module) -> Iterator[bytes]:
    """Yield the texts, the bytes, and the literals of dictionaries and lists as JSON, the longest first."""
    found: dict[bytes, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, bytes):
            found[node.value] = None
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found[node.value.encode(errors="replace")] = None
        elif isinstance(node, (ast.Dict, ast.List)):
            try:
                found[json.dumps(ast.literal_eval(node)).encode()] = None
            except (ValueError, TypeError, RecursionError):
                continue
    yield from sorted((each for each in found if len(each) > 2), key=len, reverse=True)
