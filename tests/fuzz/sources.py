"""Targets of source trees: programs, scripts and configurations of jobs, read and never run."""

import re
import tempfile
from pathlib import Path

from processors.advise.metadata import Job
from processors.advise.metadata.budget import Guard
from processors.advise.metadata.library.parsing import parse_json, parse_toml, parse_yaml, scalar
from processors.advise.metadata.reading import workload
from processors.advise.metadata.shell import commands
from processors.advise.past.command_line import fingerprint, scale
from scheduler_bridge.sources.branch import branch_of
from scheduler_bridge.sources.tree import DirectoryTree

from .targets import target, text, write

_METADATA = "processors/advise/metadata"


def _read(files: dict[str, bytes], command: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place)
        for name, data in files.items():
            write(tree / name, data)
        guard = Guard()
        found = workload(DirectoryTree(tree), Job(tree, tree, command), guard)
        assert found.gpus == 1
        assert not {part for part, why in guard.failed.items() if "too many steps" not in why}, guard.failed


@target(_METADATA)
def source_tree(data: bytes) -> None:
    """A tree as one text: its files, each behind a line `=== NAME`; or a program alone."""
    files = {"x.py": data}
    for part in data.split(b"=== ")[1:20]:
        name, _, content = part.partition(b"\n")
        if re.fullmatch(rb"[a-z0-9_]{1,20}(/[a-z0-9_]{1,20}){0,3}\.[a-z]{1,4}", name):
            files.setdefault(f"tree/{text(name)}", content)
    _read(
        files,
        f"python {next((each for each in files if each.endswith('train.py')), 'x.py')} --config tree/config.yaml --lr 0.1",
    )


@target(_METADATA)
def job_script(data: bytes) -> None:
    """A script of a job."""
    _read({"x.sh": data, "x.py": b"import torch\n"}, "sbatch x.sh 3")
    list(commands(text(data), ".", {}, []))


@target(_METADATA)
def configuration(data: bytes) -> None:
    """A configuration file of any form."""
    parse_yaml(text(data))
    parse_json(text(data))
    parse_toml(text(data))
    scalar(text(data)[:2000])


@target("processors/advise/past", f"{_METADATA}/test_launch.py")
def job_command(data: bytes) -> None:
    """A command line as it was submitted."""
    command = text(data)
    fingerprint(command)
    scale(command, "python x.py --epochs 3")
    _read({"x.py": b"import torch\n"}, command)


@target(more=lambda: [b"ref: refs/heads/main\n"])
def git_head(data: bytes) -> None:
    """The branch of a working tree."""
    with tempfile.TemporaryDirectory() as place:
        write(Path(place) / ".git" / "HEAD", data)
        assert branch_of(Path(place)).isprintable()
