"""The workload of a training job, from its source tree and its command line: SchedMate §3.1, without a model.

The program is found behind its launchers (`launch`), followed without being run (`observe`), and each field is read where its value
arrives: the loop around the gradients, the loader, the optimizer, the trainer.
"""

import ast
import posixpath
from dataclasses import dataclass
from pathlib import Path

from records import Workload

from . import data, model
from .data import environment, train_data
from .launch import Program, programs
from .length import length
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


@dataclass(frozen=True, slots=True)
class Job:
    """What a user submitted.

    Attributes:
        tree: Directory of the source tree.
        directory: Working directory, inside the tree.
        command: The line that was submitted.
        devices: GPUs of a node.
        nodes: Nodes.
    """

    tree: Path
    directory: Path
    command: str
    devices: int = 1
    nodes: int = 1


def extract(job: Job) -> Workload:
    """Return what a job is; null in each field that the source does not say.

    Raises:
        NotADirectoryError: The tree is no directory.
    """
    tree = SourceTree(job.tree)
    directory = tree.relative(str(job.directory)) or "."
    gpus = job.devices * job.nodes
    started = programs(tree, directory, job.command, _allocation(job))
    traces = [observe(tree, each, job.devices, job.nodes) for each in started[:MOST_PROGRAMS]]
    chosen = next((place for place, each in enumerate(traces) if Training(each).seen), 0)
    if not traces:
        return Workload(gpus=gpus)
    return _workload(tree, started[chosen], traces[chosen], job.command, gpus)


def _allocation(job: Job) -> dict[str, str]:
    """Return what Slurm would tell a script of its allocation (sbatch's manual, "Output environment variables")."""
    nodes = str(job.nodes)
    return {"SLURM_NNODES": nodes, "SLURM_JOB_NUM_NODES": nodes, "SLURM_GPUS_ON_NODE": str(job.devices)}


def _workload(tree: SourceTree, program: Program, trace: Trace, command: str, gpus: int) -> Workload:
    training, settings = Training(trace), Settings(trace)
    reinforcement = is_reinforcement(trace)
    train = environment(training, settings) if reinforcement else None
    acts = train is not None
    description = _documentation(tree, program.file)
    train = train or _recipe_data(train_data(training, settings), program.directory) or data.documented(description)
    valid = None if acts else valid_data(training, settings, train)
    name = (algorithm(training, settings) if reinforcement else None) or model_name(training, settings)
    if name is None:
        name = model.documented([program.file, tree.root.name, *description.splitlines()])
    span = length(training, settings, reinforcement)
    words = "\n".join([tree.root.name, program.file, command, description])
    stated = [each.value for each in settings.find(_TASKS) if isinstance(each.value, str) and not each.constant]
    return Workload(
        model_name=name,
        task_type=task_type(trace, name, train, stated, words),
        dataset_train=train,
        dataset_valid=valid,
        iters=span.iters,
        iter_type=span.unit,
        batch_size=batch_size(training, settings),
        lr=learning_rate(training, settings),
        gpus=gpus,
    )


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
