"""The workload of a training job, from its source tree and its command (SchedMate §3.1), without a model.

The program is found (`launch`), followed without being run (`program`), and each field is read from its trace (`fields`). A part that
fails or reaches a limit leaves its own fields null.
"""

import posixpath
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec

from schedmate_records import Workload

from ..source_tree import SourceTree
from .budget import FOLLOW_S, FOLLOW_STEPS, Guard
from .fields.data import environment, train_data
from .fields.length import Length, batch_size, learning_rate, length
from .fields.model import algorithm, model_name
from .fields.settings import Settings
from .fields.steps import Training
from .fields.task import is_reinforcement, task_type
from .fields.validation import valid_data
from .job import Job
from .launch import Program, programs
from .library import HANDLERS, METHODS
from .library.configurations import load_file, overrides
from .library.parsing import split_words
from .program.interpreter import Interpreter
from .program.trace import Trace

_CONFIGURATIONS = (".yaml", ".yml", ".json", ".toml")
_DEEPEST_STACK = 12_000
"""Frames of Python for following a program. Each of its calls takes about twenty."""


def read(tree: SourceTree, job: Job, guard: Guard) -> Iterator[tuple[str, Any]]:
    """Yield the known fields of a job's workload, each with its value."""
    yield "gpus", job.devices * job.nodes
    none: list[Program] = []
    started = guard.run("launch", partial(_programs, tree, job), none, steps=FOLLOW_STEPS, until=FOLLOW_S)
    traces = [_follow(tree, each, job, guard) for each in started]
    trains = [guard.run("training", partial(_trains, each), False) for each in traces]
    if traces:
        yield from _fields(traces[trains.index(True) if True in trains else 0], job, guard)


def workload(tree: SourceTree, job: Job, guard: Guard | None = None) -> Workload:
    """Return the workload of a job, read in this process: steps limit the reading, and neither the clock nor memory does."""
    return Workload(**dict(read(tree, job, guard or Guard())))


def _programs(tree: SourceTree, job: Job) -> list[Program]:
    allocation = {"SLURM_NNODES": str(job.nodes), "SLURM_GPUS_ON_NODE": str(job.devices)}
    return programs(tree, tree.relative(str(job.directory)) or ".", job.command, allocation)


def _trains(trace: Trace) -> bool:
    return Training(trace).seen


def _follow(tree: SourceTree, program: Program, job: Job, guard: Guard) -> Trace:
    """Return the trace of a program."""
    here = posixpath.dirname(program.file) or "."
    above = [posixpath.dirname(here) or ".", posixpath.dirname(posixpath.dirname(here)) or "."]
    search = [
        *([program.directory] if program.module or program.code else []),
        here,
        program.directory,
        ".",
        "src",
        *above,
    ]
    local = max(1, job.devices)
    ranks = {
        "RANK": "0",
        "LOCAL_RANK": "0",
        "WORLD_SIZE": str(local * max(1, job.nodes)),
        "LOCAL_WORLD_SIZE": str(local),
    }
    environment = {**ranks, **program.environment}
    interpreter = Interpreter(tree, program.directory, search, program.argv, environment, HANDLERS, METHODS)
    text = program.code or (tree.read(program.file) if program.file else None)
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEEPEST_STACK))
    guard.run("program", lambda: interpreter.run(text, program.file), None, steps=FOLLOW_STEPS, until=FOLLOW_S)
    guard.run("words", lambda: _take_words(interpreter), None)
    return interpreter.trace


def _take_words(interpreter: Interpreter) -> None:
    """Record the settings of the command's words and of the configuration files that they name."""
    named, places = split_words(interpreter.words)
    words = [each for each in (*named.values(), *places) if isinstance(each, str)]
    trace = interpreter.trace
    trace.settings.append(("given", {**named, **overrides([each for each in words if "=" in each])}))
    read_already = {label.removeprefix("file ") for label, _ in trace.settings}
    for path in (word.rpartition("=")[2] for word in words):
        if path.endswith(_CONFIGURATIONS) and path not in read_already:
            load_file(interpreter, path)


def _fields(trace: Trace, job: Job, guard: Guard) -> Iterator[tuple[str, Any]]:
    """Yield each field that is known with its value."""
    training, settings = Training(trace), Settings()
    guard.run("settings", lambda: settings.collect(trace), None)

    def final(field: str, value: Any) -> Iterator[tuple[str, Any]]:
        if value is not None and guard.run(field, lambda: msgspec.convert({field: value}, Workload), None) is not None:
            yield field, value

    acts = guard.run("reinforcement", lambda: is_reinforcement(trace), False)
    world = guard.run("dataset_train", lambda: environment(training, settings), None) if acts else None
    train = world or guard.run("dataset_train", lambda: train_data(training, settings), None)
    yield from final("dataset_train", train)
    agent = guard.run("model_name", lambda: algorithm(training, settings), None) if acts else None
    name = agent or guard.run("model_name", lambda: model_name(training, settings), None)
    yield from final("model_name", name)
    span = guard.run("iters", lambda: length(training, settings, acts), Length())
    yield from final("iters", span.iters)
    yield from final("iter_type", span.unit)
    yield from final("batch_size", guard.run("batch_size", lambda: batch_size(training, settings), None))
    yield from final("lr", guard.run("lr", lambda: learning_rate(training, settings), None))
    if not world:
        yield from final(
            "dataset_valid", guard.run("dataset_valid", lambda: valid_data(training, settings, train), None)
        )
    words = f"{posixpath.basename(str(job.tree))}\n{trace.entry}\n{job.command}"
    yield from final("task_type", guard.run("task_type", lambda: task_type(trace, name, train, settings, words), None))
