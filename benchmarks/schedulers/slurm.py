"""A real Slurm: three nodes of two GPUs, and jobs of one GPU."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchmarks.processes import waited
from tests.servers.slurm import Slurm, running

ROOT = Path(__file__).resolve().parents[2]
GPU = "--gres=shard:4"


class SlurmSite:
    """Slurm as a `Site`. What a job prints goes through `schedmate pipe`."""

    watcher = ("watch-scheduler", "slurm", "--interval", "0.2")
    places = 6
    urgent = "partition=urgent"
    evictable = "partition=p"

    def __init__(self, slurm: Slurm) -> None:
        self._slurm = slurm
        self.nodes = slurm.nodes
        self.directory = slurm.directory

    def environment(self, program: str) -> Mapping[str, str]:  # noqa: ARG002
        return self._slurm.environment

    def collect(self, node: str, kernel_log: Path) -> tuple[str, ...]:
        return ("collect", "--node", node, "--node-log", str(kernel_log), "--checkpoint", f"{kernel_log}.read")

    def train(self, brokers: str, program: Path, *arguments: str) -> str:
        words = " ".join(word.format(node="$SLURMD_NODENAME") for word in arguments)
        exports = f"SCHEDMATE_KAFKA__BROKERS={brokers} SCHEDMATE_PRODUCER__DIRECTORY={self.directory}"
        piped = f"{sys.executable} -m schedmate pipe --node $SLURMD_NODENAME"
        script = f"cd {ROOT} && {exports} exec {piped} -- {sys.executable} {program} {words}"
        return self._slurm.submit(script, "--output=/dev/null", GPU)

    def occupy(self, *, urgent: bool = False) -> str:
        partition = "urgent" if urgent else "p"
        return self._slurm.submit("sleep 600", GPU, f"--partition={partition}", "--output=/dev/null")

    def place(self, job: str) -> str:
        seen = self._slurm.fields(job)
        return seen["NodeList"] if seen["JobState"] == "RUNNING" else ""

    def restarts(self, job: str) -> int:
        return int(self._slurm.fields(job)["Restarts"])

    def end(self, *jobs: str) -> None:
        self._slurm.run("scancel", *jobs)
        waited(lambda: not self._slurm.run("squeue", "-h", "-o", "%i").strip(), 60)

    def return_nodes(self) -> None:
        for node in self.nodes:
            self._slurm.run("scontrol", "update", f"NodeName={node}", "State=RESUME", "Comment=", check=False)


@contextmanager
def slurm_site() -> Iterator[SlurmSite]:
    """Start a cluster, and end it."""
    with running() as slurm:
        yield SlurmSite(slurm)
