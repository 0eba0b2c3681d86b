"""Follows the program of a job and returns what it was seen to do."""

import ast
import posixpath
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from .interpreter import Interpreter, Stopped
from .launch import Program
from .library.commands import split_words
from .library.configurations import overrides
from .trace import Trace
from .tree import SourceTree
from .values import Config, Module, Scope

DEEPEST_STACK = 12_000
"""Frames of Python that following a program may take: each call of it takes some twenty."""


def observe(tree: SourceTree, program: Program, devices: int, nodes: int) -> Trace:
    """Return the trace of a program.

    Args:
        tree: Tree of the job.
        program: What the job starts.
        devices: GPUs of a node.
        nodes: Nodes.
    """
    processes = max(1, devices) * max(1, nodes)
    environment = {
        "RANK": "0",
        "LOCAL_RANK": "0",
        "WORLD_SIZE": str(processes),
        "LOCAL_WORLD_SIZE": str(max(1, devices)),
        **program.environment,
    }
    here = posixpath.dirname(program.file) or "."
    first = program.directory if program.module or not program.file else here
    search = list(
        dict.fromkeys(
            [first, here, program.directory, ".", "src", posixpath.join(program.directory, "src"), *_above(here)]
        )
    )
    argv = list(program.argv)
    interpreter = Interpreter(tree, program.directory, search, argv, environment, processes, max(1, devices))
    with _stack():
        try:
            if program.tool:
                interpreter.trace.settings.append(("command line", _words(argv[1:])))
            elif program.code:
                _run_code(interpreter, program)
            else:
                interpreter.run_file(program.file)
        except Stopped as reason:
            interpreter.trace.stopped = str(reason)
        except RecursionError:
            interpreter.trace.stopped = "too deep"
    return interpreter.trace


def _words(words: list[str]) -> Config:
    """Return what the words of an installed tool set: `--name value`, `name=value`."""
    named, places = split_words(words)
    return Config(
        {
            **overrides([each for each in places if "=" in each]),
            **named,
            "words": [each for each in places if "=" not in each],
        }
    )


def _above(directory: str) -> list[str]:
    found: list[str] = []
    while directory not in {"", "."}:
        directory = posixpath.dirname(directory) or "."
        found.append(directory)
    return found


def _run_code(interpreter: Interpreter, program: Program) -> None:
    try:
        parsed = ast.parse(program.code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    module = Module("__main__", "", package=False, names={"__name__": "__main__"})
    interpreter.trace.settings.append(("constants", module.names))
    interpreter.block(parsed.body, Scope(module.names, None, module))


@contextmanager
def _stack() -> Iterator[None]:
    """Allow the recursion that following calls takes."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, DEEPEST_STACK))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
