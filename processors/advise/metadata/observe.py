"""Follows the program of a job and returns what it was seen to do."""

import ast
import posixpath
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from .budget import FIELD_S, FIELD_STEPS, FOLLOW_S, FOLLOW_STEPS, Guard
from .interpreter import Interpreter
from .launch import Program
from .library.configurations import load_file
from .library.merging import interpolated, overrides
from .library.parsing import split_words
from .trace import Trace
from .tree import SourceTree
from .values import Config, Module, Scope

_CONFIGURATIONS = (".yaml", ".yml", ".json", ".toml")
MOST_WORDS = 500
"""Words of a command that may name a configuration."""
DEEPEST_STACK = 12_000
"""Frames of Python that following a program may take: each call of it takes some twenty."""


def observe(tree: SourceTree, program: Program, devices: int, nodes: int, guard: Guard) -> Trace:
    """Return the trace of a program.

    Args:
        tree: Tree of the job.
        program: What the job starts.
        devices: GPUs of a node.
        nodes: Nodes.
        guard: Runs the parts, each within its limits.
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
    interpreter.trace.words = argv[1:]
    trace = interpreter.trace

    def follow() -> None:
        if program.tool:
            trace.settings.append(("command line", _words(argv[1:])))
            trace.settings.append(("words", {"words": split_words(argv[1:])[1]}))
        elif program.code:
            _run_code(interpreter, program)
        else:
            interpreter.run_file(program.file)

    def take_words() -> None:
        trace.settings.append(("given", _words(argv[1:])))
        _read_named_files(interpreter, argv[1:])

    with _stack():
        guard.run("program", follow, None, steps=FOLLOW_STEPS, seconds=FOLLOW_S, until=FOLLOW_S)
        guard.run("words", take_words, None, steps=FIELD_STEPS, seconds=FIELD_S)
    if trace.failed:
        guard.failed.setdefault("program", "; ".join(trace.failed))
    return trace


def _words(words: list[str]) -> Config:
    """Return what the words of a command set: `--name value`, `name=value`."""
    named, places = split_words(words)
    held = [each for each in named.values() if isinstance(each, str)]
    return Config({**named, **overrides([each for each in (*held, *places) if "=" in each])})


def _read_named_files(interpreter: Interpreter, words: list[str]) -> None:
    """Take up configuration files that the command names and that the program was not seen to read."""
    tree, directory = interpreter.tree, interpreter.directory
    read = {tree.relative(label.removeprefix("file "), directory) for label, _ in interpreter.trace.settings}
    for word in words[:MOST_WORDS]:
        option, _, value = word.rpartition("=")
        name = tree.relative(value, directory)
        if not value.endswith(_CONFIGURATIONS) or "deepspeed" in option or name in read:
            continue
        if not tree.is_file(name):
            if not value.endswith(".json"):  # data often is
                interpreter.trace.absent.append(value)
            continue
        seen = tree.has_read(name)
        found = load_file(interpreter, value)
        if isinstance(found, dict):
            interpreter.trace.settings.append((f"file {value}", interpolated(found)))
            if not seen:
                interpreter.trace.unread.append(found)


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
    interpreter.trace.settings.append(("given", _keywords(parsed)))
    interpreter.block(parsed.body, Scope(module.names, None, module))


def _keywords(parsed: ast.Module) -> dict[str, object]:
    """Return the constants that the source on a command line hands over by name, as `f(epochs=3, settings={"lr": 1})` does."""
    found: dict[str, object] = {}
    for call in (each for each in ast.walk(parsed) if isinstance(each, ast.Call)):
        for pair in call.keywords:
            try:
                value = ast.literal_eval(pair.value)
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                continue
            found.update(value if isinstance(value, dict) else {pair.arg: value} if pair.arg else {})
    return {key: each for key, each in found.items() if isinstance(key, str)}


@contextmanager
def _stack() -> Iterator[None]:
    """Allow the recursion that following calls takes."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, DEEPEST_STACK))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
