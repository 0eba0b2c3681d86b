"""The job whose source is read."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Job:
    """A submitted job: its source tree, its working directory inside it, its command, its GPUs on each node, and its nodes."""

    tree: Path
    directory: Path
    command: str
    devices: int = 1
    nodes: int = 1
