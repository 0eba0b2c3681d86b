"""The options of these commands."""

import argparse
from pathlib import Path

NODES_HELP = "nodes and jobs, over the {} nodes of the paper (default {:g})"
TRACES = Path(__file__).resolve().parents[3] / "shared" / "traces"
"""Default folder of the public traces."""


def parser(module: str, description: str | None, seeds: int | None) -> argparse.ArgumentParser:
    """Return a parser that knows what all commands have."""
    made = argparse.ArgumentParser(prog=f"python -m benchmarks.simulate{module}", description=description)
    if seeds is not None:
        made.add_argument("--seeds", type=int, default=seeds, help=f"draws of all that is random (default {seeds})")
    made.add_argument("--processes", type=int, default=2, help="cases that run side by side (default 2)")
    return made


def add_cluster(made: argparse.ArgumentParser, nodes: int, scale: float) -> None:
    """Add the options that set the size of a synthetic workload. Jobs keep their sizes at a small scale, so that gangs weigh more."""
    made.add_argument("--days", type=float, default=3, help="days whose jobs count (default 3)")
    made.add_argument("--scale", type=float, default=scale, help=NODES_HELP.format(nodes, scale))


def add_fresh(made: argparse.ArgumentParser) -> None:
    """Let the user begin again."""
    made.add_argument("--fresh", action="store_true", help="measure cases anew that a run before has measured")


def add_traces(made: argparse.ArgumentParser) -> None:
    """Add the option that names the folder of the public traces."""
    # argparse checks a default only if it is text.
    made.add_argument("--traces", type=_folder, default=str(TRACES), help="folder of the public traces")


def _folder(name: str) -> Path:
    if not (folder := Path(name)).is_dir():
        raise argparse.ArgumentTypeError(
            f"expected the public traces in {name}; name their folder with --traces FOLDER"
        )
    return folder
