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
    Path, typer.Argument(help="CSV file for the trace. Its nodes are written to nodes.csv in the same directory.")
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same workload.")]


@app.callback()
def workload() -> None:
    """Generate a trace from a seed. Generated parts are labelled synthetic wherever results are shown.

    Examples: `schedmate workload spot spot/jobs.csv --days 7 --spot-scale 2`, `schedmate simulate spot/jobs.csv --policy yarn-cs`
    """


@app.command()
def spot(
    file: Out,
    *,
    seed: Seed = 0,
    days: Annotated[float, typer.Option(min=0.01, max=3660, help="Days during which jobs are submitted.")] = 91.0,
    spot_scale: Annotated[
        float, typer.Option(min=0, max=100, help="Number of spot jobs relative to GFS's Table 3.")
    ] = 1.0,
    nodes: Annotated[
        int, typer.Option(min=1, max=100_000, help="Number of nodes with 8 GPUs; the number of jobs is proportional.")
    ] = 287,
) -> None:
    """Generate high-priority and spot jobs with the distributions of GFS's Table 3."""
    from ..simulate.cluster import NodeSpec
    from ..simulate.workloads.spot import spot_workload

    _write(file, spot_workload(days, seed, spot_scale, nodes / 287), [NodeSpec()] * nodes)


@app.command()
def classes(
    trace: Annotated[Path, typer.Argument(help="Trace with a user column; its nodes are in the same directory.")],
    file: Out,
    *,
    seed: Seed = 0,
    spot_share: Annotated[float, typer.Option(min=0, max=1, help="Fraction of jobs that become spot jobs.")] = 0.16,
) -> None:
    """Mark the jobs of up to 8 GPUs of randomly chosen users as spot jobs. The classes are synthetic; all else is from the trace."""
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
