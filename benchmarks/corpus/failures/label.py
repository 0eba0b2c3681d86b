"""The label of a log: the truth of its case, with the lines found by the marks that the case is known to print."""

import re
import zlib
from typing import Any

from benchmarks.corpus.failures.case import Case, Truth


class UnexpectedLog(Exception):
    """A log that does not hold what its case is known to print; the message says what was expected."""


def label(family: str, case: Case, text: str) -> dict[str, Any]:
    """Return the label of `text`, the log of `case`.

    Raises:
        UnexpectedLog: The root's mark is missing.
    """
    lines = text.split("\n")
    name = f"{case.name}.log"
    truth = case.truth
    first: dict[str, Any] = {
        "file": name,
        "family": family,
        "lines": len(lines) - (not lines[-1]),
        "error_type": truth.error_type if truth else "none",
        "faulty_component": truth.component if truth else "none",
        "root_line": None,
        "message_line": None,
        "acceptable_lines": None,
        "restartable": truth.restartable if truth else None,
        "kind": case.name,
    }
    if truth:
        found = _blocks(truth, lines, f"{family}/{name}")
        first |= {"root_line": found[0][0], "message_line": found[0][1], "acceptable_lines": [found[0][0], found[0][2]]}
        if found[1:]:
            first["alt_ranges"] = [[low, high] for low, _, high in found[1:]]
        if truth.also_types:
            first["acceptable_error_types"] = [truth.error_type, *truth.also_types]
        if truth.also_components:
            first["acceptable_components"] = [truth.component, *truth.also_components]
    first |= {
        "why": truth.why if truth else "the run did not fail",
        "origin": case.origin,
        "environment": case.environment,
    }
    first |= {"style": case.style, "splice": splice(lines), "development": development(name)}
    if case.source:
        first["source"] = case.source
    return first


def development(file: str) -> bool:
    """Return whether a log belongs to the development half; the other half is held out."""
    return zlib.crc32(file.encode()) % 2 == 0


_PROGRESS = re.compile(
    r"\bstep\b\W{0,4}\d+.*\bloss\b|'loss': |\bloss\b\W{0,3}\d.*(?:it/s|s/step|ms/step)|it/s\]?.*\bloss\b|s/step - loss",
    re.IGNORECASE,
)


def splice(lines: list[str]) -> int:
    """Return how many lines stand before the first report of progress: the long form's prelude goes there."""
    return next((number for number, line in enumerate(lines) if _PROGRESS.search(line)), 0)


def _blocks(truth: Truth, lines: list[str], where: str) -> list[tuple[int, int, int]]:
    """Return (first line, root, last line) of each accepted block, counted from 1."""
    roots = [number for number, line in enumerate(lines) if re.search(truth.root, line)]
    if not roots:
        raise UnexpectedLog(
            f"{where}: expected a line that matches {truth.root!r}; the log ends with\n" + "\n".join(lines[-25:])
        )
    blocks = []
    for root in roots if truth.repeated else roots[:1]:
        low = _search(truth.begin, lines, range(root, -1, -1), root, where)
        high = _search(truth.end, lines, range(root, len(lines)), root, where)
        blocks.append((low + 1, root + 1, high + 1))
    return blocks


def _search(pattern: str, lines: list[str], order: range, otherwise: int, where: str) -> int:
    if not pattern:
        return otherwise
    found = next((number for number in order if re.search(pattern, lines[number])), None)
    if found is None:
        raise UnexpectedLog(f"{where}: expected a line that matches {pattern!r} beside line {otherwise + 1}")
    return found
