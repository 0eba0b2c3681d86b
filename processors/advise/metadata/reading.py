"""The workload of a training job, from its source tree and its command line: SchedMate §3.1, without a model.

The program is found behind its launchers (`launch`), followed without being run (`observe`), and each field is read where its value
arrives: the loop around the gradients, the loader, the optimizer, the trainer. Each part is guarded: one that fails, or reaches a limit
of `budget`, leaves its own fields unknown.
"""

import ast
import functools
import posixpath
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec

from schedmate_records import Workload

from . import data, model
from .budget import FIELD_S, FIELD_STEPS, FOLLOW_S, FOLLOW_STEPS, Guard
from .data import environment, train_data
from .doubts import Doubts
from .job import Job
from .launch import Program, programs
from .length import UNKNOWN_LENGTH, length
from .model import algorithm, model_name
from .observe import observe
from .rates import batch_size, learning_rate
from .registry import known
from .settings import Settings
from .steps import Training
from .task import is_reinforcement, task_type
from .trace import Trace
from .tree import SourceTree
from .validation import valid_data

MOST_PROGRAMS = 3
_TASKS = ("task", "tasktype", "taskname")
"""Settings that say what is learnt; often they name data instead."""

T = TypeVar("T")


def read(job: Job, guard: Guard) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a job's workload that are known, each with its value, as soon as it is final.

    Args:
        job: The job.
        guard: Runs each part, and keeps which failed.

    Raises:
        NotADirectoryError: The tree is no directory.
    """
    yield "gpus", job.devices * job.nodes
    tree = SourceTree(job.tree)
    reading = _follow(tree, job, guard)
    if reading is not None:
        yield from reading.fields()


def workload(job: Job, guard: Guard | None = None) -> Workload:
    """Return what a job is, read in this process: steps limit the reading, and neither the clock nor memory does.

    Raises:
        NotADirectoryError: The tree is no directory.
    """
    return Workload(**dict(read(job, guard or Guard())))


def _follow(tree: SourceTree, job: Job, guard: Guard) -> "_Reading | None":
    """Return the reading of the first program that trains, or else of the first; null where there is none."""

    def launched() -> list[Program]:
        directory = tree.relative(str(job.directory)) or "."
        return programs(tree, directory, job.command, _allocation(job))[:MOST_PROGRAMS]

    none: list[Program] = []
    started = guard.run("launch", launched, none, steps=FOLLOW_STEPS, seconds=FOLLOW_S, until=FOLLOW_S)
    traces = [observe(tree, each, job.devices, job.nodes, guard) for each in started]
    if not traces:
        return None
    trains = [_field(guard, "training", functools.partial(_trains, each), False) for each in traces]
    chosen = trains.index(True) if True in trains else 0
    return _Reading(tree, job, started[chosen], traces[chosen], guard)


def _trains(trace: Trace) -> bool:
    return Training(trace).seen


def _field(guard: Guard, name: str, part: Callable[[], T], default: T) -> T:
    return guard.run(name, part, default, steps=FIELD_STEPS, seconds=FIELD_S)


def _allocation(job: Job) -> dict[str, str]:
    """Return what Slurm would tell a script of its allocation (sbatch's manual, "Output environment variables")."""
    nodes = str(job.nodes)
    return {"SLURM_NNODES": nodes, "SLURM_JOB_NUM_NODES": nodes, "SLURM_GPUS_ON_NODE": str(job.devices)}


class _Reading:
    """Reads the fields of one program from its trace."""

    def __init__(self, tree: SourceTree, job: Job, program: Program, trace: Trace, guard: Guard) -> None:
        self._tree, self._job, self._program, self._trace = tree, job, program, trace
        self._run = functools.partial(_field, guard)
        self._training, self._settings = Training(trace), Settings()
        self._run("settings", lambda: self._settings.collect(trace), None)
        self._doubts = Doubts(trace, self._settings)

    def fields(self) -> Iterator[tuple[str, Any]]:
        """Yield each field that is known with its value."""
        training, settings, trace = self._training, self._settings, self._trace
        reinforcement = self._run("reinforcement", lambda: is_reinforcement(trace), False)
        description = self._run("description", lambda: _documentation(self._tree, self._program.file), "")
        acts = self._run("dataset_train", lambda: environment(training, settings), None) if reinforcement else None
        train = acts or self._run("dataset_train", lambda: self._train(description), None)
        yield from self._final("dataset_train", train)
        name = self._run("model_name", lambda: self._model(reinforcement, description), None)
        yield from self._final("model_name", name)
        span = self._run("iters", lambda: length(training, settings, reinforcement), UNKNOWN_LENGTH)
        yield from self._final("iters", span.iters, span.unit)
        yield from self._final("iter_type", span.unit, span.iters)
        yield from self._final("batch_size", self._run("batch_size", lambda: batch_size(training, settings), None))
        yield from self._final("lr", self._run("lr", lambda: learning_rate(training, settings), None))
        if not acts:
            valid = self._run("dataset_valid", lambda: valid_data(training, settings, train), None)
            yield from self._final("dataset_valid", valid)
        yield from self._final("task_type", self._run("task_type", lambda: self._task(name, train, description), None))

    def _train(self, description: str) -> str | None:
        found = _recipe_data(train_data(self._training, self._settings), self._program.directory)
        return found or data.documented(description)

    def _model(self, reinforcement: bool, description: str) -> str | None:
        training, settings = self._training, self._settings
        name = (algorithm(training, settings) if reinforcement else None) or model_name(training, settings)
        if name is None:
            name = model.documented([self._program.file, self._tree.root.name, *description.splitlines()])
        return name

    def _task(self, name: str | None, train: str | None, description: str) -> str | None:
        found = self._settings.find(_TASKS)
        stated = [each.value for each in found if isinstance(each.value, str) and not each.constant]
        words = "\n".join([self._tree.root.name, self._program.file, self._job.command, description])
        return task_type(self._trace, name, train, stated, words)

    def _final(self, field: str, value: Any, other: Any = None) -> Iterator[tuple[str, Any]]:
        """Yield a field where its value is known, of its type, and not in doubt; `other` is the other half of a length."""

        def checked() -> Any:
            msgspec.convert({field: value}, Workload)
            return None if self._doubts.doubtful(field, value, other) else value

        found = None if value is None else self._run(field, checked, None)
        if found is not None:
            yield field, found


def _recipe_data(found: str | None, directory: str) -> str | None:
    """Return the known data that a recipe's directory is named after (`egs/an4`) where the program names none that is known."""
    if found is not None and known("datasets", found):
        return found
    return next((each for each in reversed(directory.split("/")) if known("datasets", each)), found)


def _nearest_readme(tree: SourceTree, directory: str) -> str:
    """Return the description beside a program, or the next one above it."""
    for _ in range(12):
        for name in ("README.md", "README.rst", "readme.md", "Readme.md", "README", "README.txt"):
            text = tree.read(posixpath.join(directory, name))
            if text:
                return text
        if not directory:
            break
        directory = posixpath.dirname(directory)
    return ""


def _documentation(tree: SourceTree, file: str) -> str:
    readme = _nearest_readme(tree, posixpath.dirname(file))
    try:
        own = ast.get_docstring(ast.parse(tree.read(file) or "")) or ""
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        own = ""
    return f"{own}\n{readme[:1500]}"
