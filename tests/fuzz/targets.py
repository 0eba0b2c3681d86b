"""The registry of fuzz targets, and what it means that one fails.

A target takes bytes and hands them to a parser. It fails where the parser raises an error that its documentation does not name, where it
takes too long, or where an assertion of the target fails. A new parser adds one function with `@target`.
"""

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .seeds import seeds

SLOWEST_S = 5.0
"""Processor time of one input. Inputs have 200 KB at most, so that this is 100 times what a linear parser takes."""


class TooSlow(Exception):
    """An input took more processor time than `SLOWEST_S`."""


@dataclass(frozen=True)
class Target:
    """A parser to be fuzzed.

    Attributes:
        name: Name on the command line and of the directory of failing inputs.
        run: Hands an input to the parser.
        raises: Errors that the parser documents.
        sources: Files and directories below `tests` whose texts are seeds.
        more: Further seeds.
    """

    name: str
    run: Callable[[bytes], object]
    raises: tuple[type[Exception], ...]
    sources: tuple[str, ...]
    more: Callable[[], Sequence[bytes]]

    def seeds(self) -> list[bytes]:
        """Return the inputs with which mutation begins, at least one."""
        return [*self.more(), *seeds(*self.sources)] or [b""]

    def check(self, data: bytes) -> None:
        """Hand `data` to the parser.

        Raises:
            TooSlow: It took too long.
            Exception: Any error that the parser does not document.
        """
        start = time.process_time()
        with contextlib.suppress(*self.raises):
            self.run(data)
        spent = time.process_time() - start
        if spent > SLOWEST_S:
            raise TooSlow(f"{self.name}: expected at most {SLOWEST_S:g} s for {len(data)} bytes, took {spent:.1f} s")


TARGETS: dict[str, Target] = {}


def target(
    *sources: str,
    raises: type[Exception] | tuple[type[Exception], ...] = (),
    more: Callable[[], Sequence[bytes]] = list,
    name: str = "",
) -> Callable[[Callable[[bytes], object]], Callable[[bytes], object]]:
    """Register a function as a fuzz target under its own name, or under `name`.

    Args:
        sources: Files and directories below `tests` that hold inputs of this parser.
        raises: Errors that the parser documents.
        more: Returns further seeds.
        name: Another name, where one function serves several targets.
    """
    errors = raises if isinstance(raises, tuple) else (raises,)

    def register(run: Callable[[bytes], object]) -> Callable[[bytes], object]:
        found = Target(name or run.__name__, run, errors, sources, more)
        if found.name in TARGETS:
            raise ValueError(f"expected one target of the name {found.name!r}, got two")
        TARGETS[found.name] = found
        return run

    return register


def text(data: bytes) -> str:
    """Return bytes as the text that a program reads: what is no UTF-8 is replaced."""
    return data.decode(errors="replace")


def write(path: Path, data: bytes) -> Path:
    """Return `path` with `data` in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
