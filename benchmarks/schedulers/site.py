"""What a benchmark asks of a scheduler."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol


class Site(Protocol):
    """A running scheduler whose nodes are alike and which nobody else uses.

    Attributes:
        nodes: Its nodes.
        places: Jobs that fill it.
        directory: Where jobs may write.
        urgent: The class of jobs that must not wait, as `bridge.evict_for` names it.
        evictable: The class of all others.
        watcher: The arguments of `schedmate` that watch it.
    """

    nodes: Sequence[str]
    places: int
    directory: Path
    urgent: str
    evictable: str
    watcher: tuple[str, ...]

    def environment(self, program: str) -> Mapping[str, str]:
        """Return the variables by which a program of SchedMate finds it, with the rights of that program."""

    def collect(self, node: str, kernel_log: Path) -> tuple[str, ...]:
        """Return the arguments of `schedmate` that collect a node's logs."""

    def train(self, brokers: str, program: Path, *arguments: str) -> str:
        """Submit a Python program whose output is shipped, and return its job. `{node}` in an argument is the name of the job's node."""

    def occupy(self, *, urgent: bool = False) -> str:
        """Submit a job that takes a place and does nothing, and return it."""

    def place(self, job: str) -> str:
        """Return the node on which a job runs; empty where it does not run."""

    def restarts(self, job: str) -> int:
        """Return how often a job was started again."""

    def end(self, *jobs: str) -> None:
        """End jobs, and return once their places are free."""

    def return_nodes(self) -> None:
        """Return all nodes to service."""
