"""The death of a node, as far as one host can show it: its slurmd, its steps and the processes of its jobs are gone at once."""

import contextlib
import os
import signal
from pathlib import Path

from .slurm import Slurm


def kill_node(slurm: Slurm, name: str) -> None:
    """Kill all that runs on a node, its slurmd first, so that nobody tells the controller. `Slurm.start_node` brings it back."""
    pid = (slurm.root / "run" / f"slurmd-{name}.pid").read_text()
    numbers = slurm.run("squeue", "--noheader", f"--nodelist={name}", "--format=%A", check=False).split()
    _kill(int(pid))
    for step in _steps(slurm, numbers):
        for process in _tree(step):
            _kill(process)


def _steps(slurm: Slurm, numbers: list[str]) -> list[int]:
    """Return the processes that manage the steps of some jobs of this cluster: another one may run on this host."""
    setting, found = f"SLURM_CONF={slurm.configuration}".encode(), []
    titles = tuple(f"slurmstepd: [{number}.".encode() for number in numbers if number.isdecimal())
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            title, environment = (process / "cmdline").read_bytes(), (process / "environ").read_bytes()
            if titles and title.startswith(titles) and setting in environment.split(b"\0"):
                found.append(int(process.name))
    return found


def _tree(pid: int) -> list[int]:
    """Return a process and all that it started, itself first."""
    found = [pid]
    with contextlib.suppress(OSError):
        for task in (Path("/proc") / str(pid) / "task").iterdir():
            for child in (task / "children").read_text().split():
                found += _tree(int(child))
    return found


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
