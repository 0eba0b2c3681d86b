"""A training job as its user submitted it."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Job:
    """A submitted job.

    Attributes:
        tree: Directory of the source tree.
        directory: Working directory, inside the tree.
        command: Submitted command line.
        devices: Number of GPUs of a node.
        nodes: Number of nodes.
    """

    tree: Path
    directory: Path
    command: str
    devices: int = 1
    nodes: int = 1
