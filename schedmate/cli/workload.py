"""`schedmate workload`: traces for `schedmate simulate`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schedmate_records import UserError, counted

from .console import print_line

if TYPE_CHECKING:
    from ..simulate.cluster import NodeSpec
    from ..simulate.job import Job

app = typer.Typer(add_completion=False, rich_markup_mode="markdown", no_args_is_help=True)

Out = Annotated[
    Path, typer.Argument(help="Where the trace is written, as CSV. Its nodes go to nodes.csv in the same directory.")
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same workload.")]


@app.callback()
def workload() -> None:
    """Make a trace from a seed. What is drawn is called synthetic wherever its results are shown.

    Examples: `schedmate workload spot spot/jobs.csv --days 7 --spot-scale 2`, `schedmate simulate spot/jobs.csv --policy yarn-cs`
    """


@app.command()
def spot(
    file: Out,
    *,
    seed: Seed = 0,
    days: Annotated[float, typer.Option(min=0.01, max=3660, help="How long jobs are submitted.")] = 91.0,
    spot_scale: Annotated[float, typer.Option(min=0, max=100, help="Spot jobs, times those of GFS's Table 3.")] = 1.0,
    nodes: Annotated[int, typer.Option(min=1, max=100_000, help="Nodes of 8 GPUs; jobs come in proportion.")] = 287,
) -> None:
    """Draw high-priority and spot jobs in the shape of GFS's Table 3: synthetic."""
    from ..simulate.cluster import NodeSpec
    from ..simulate.workloads.spot import spot_workload

    _write(file, spot_workload(days, seed, spot_scale, nodes / 287), [NodeSpec()] * nodes)


@app.command()
def classes(
    trace: Annotated[Path, typer.Argument(help="A trace that names users, with its nodes in the same directory.")],
    file: Out,
    *,
    seed: Seed = 0,
    spot_share: Annotated[float, typer.Option(min=0, max=1, help="Of the jobs.")] = 0.16,
) -> None:
    """Make some users' jobs of up to 8 GPUs spot jobs; users are drawn. The classes are synthetic, all else is the trace's."""
    from ..simulate.traces import read_jobs
    from ..simulate.workloads.classes import with_classes
    from .simulate import nodes_beside

    _write(file, with_classes(read_jobs(trace), spot_share, seed), nodes_beside(trace))


def _write(file: Path, jobs: "list[Job]", nodes: "list[NodeSpec]") -> None:
    from ..simulate.job import JobClass
    from ..simulate.workloads.write import write_jobs, write_nodes

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"expected a directory at {file.parent}: {error.strerror}") from error
    write_jobs(file, jobs)
    write_nodes(file.parent / "nodes.csv", nodes)
    spot = sum(1 for job in jobs if job.job_class is JobClass.SPOT)
    gpus = sum(node.gpus for node in nodes)
    cluster = f"{counted(gpus, 'GPU')} on {counted(len(nodes), 'node')}"
    print_line(
        f"{counted(len(jobs), 'job')}, {spot:,} of them spot, in {file}; {cluster} in nodes.csv of that directory"
    )
