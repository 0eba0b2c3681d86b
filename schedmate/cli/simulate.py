"""`schedmate simulate`: replays a trace under scheduling policies."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schedmate_records import counted

from .console import warn
from .listing import Csv, Json, print_rows

if TYPE_CHECKING:
    from ..simulate.cluster import NodeSpec
    from ..simulate.interference import PackedSpeeds
    from ..simulate.job import Job
    from ..simulate.outcomes import Summary
    from ..simulate.replay import Replayed, Scenario
    from ..simulate.traces import Trace

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

DEFAULT_NODES = (
    "nodes.csv",
    "vc_config.csv",
    "openb_node_list_gpu_node.csv",
    "cluster_gpu_number.csv",
    "cluster_machine_list",
)
"""Default file of nodes, in the directory of the trace."""
PROGRESS_EVERY_S = 10.0
"""Seconds between two lines of progress where standard error is not a terminal."""


def _list_policies(wanted: bool) -> None:
    if wanted:
        from ..simulate.policies import POLICIES

        print_rows(["policy", "what it does"], [[name, info.summary] for name, info in POLICIES.items()])
        raise typer.Exit


@app.command()
def command(
    trace: Annotated[
        Path,
        typer.Argument(
            help="Jobs, plain or gz: `sacct` output, a public trace as published (Helios, Philly, PAI's directory, openb, Acme, "
            "MIT SuperCloud), or CSV with the columns below."
        ),
    ],
    *,
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", help="Scheduling policy; repeat the option to compare several.", show_default="fifo"),
    ] = None,
    nodes: Annotated[
        str,
        typer.Option(
            metavar="FILE|COUNTxGPUS",
            help="Nodes: a CSV file, or for instance 287x8.",
            show_default="in the directory of TRACE",
        ),
    ] = "",
    outcomes: Annotated[
        Path | None,
        typer.Option(
            help="Write job_id,start_s,end_s,evictions of every job; {policy} in the name is replaced by the policy's name."
        ),
    ] = None,
    table: Annotated[Path | None, typer.Option(help="Write the results of each policy as CSV.")] = None,
    figure: Annotated[
        Path | None,
        typer.Option(help="Plot completion times, GPUs, waiting jobs and evictions to a .png, .svg or .pdf file."),
    ] = None,
    estimates: Annotated[
        Path | None,
        typer.Option(
            help="Estimated durations in seconds: CSV with job_id,estimate_s.",
            show_default="from each user's last jobs",
        ),
    ] = None,
    pairs: Annotated[
        Path | None, typer.Option(help="Measured speeds of jobs packed in pairs, as Lucid's colocate_info.csv.")
    ] = None,
    profiling_nodes: Annotated[
        str, typer.Option(metavar="VC,VC", help="Virtual clusters that each provide a node to the profiler (Lucid).")
    ] = "",
    faults: Annotated[
        bool, typer.Option("--faults", help="Simulate node failures at the rate reported for StepFun's cluster.")
    ] = False,
    early_exits: Annotated[
        float, typer.Option(min=0, max=1, help="Fraction of jobs that end early, at a random point of their duration.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Random seed of faults and early exits.")] = 0,
    policies: Annotated[
        bool, typer.Option("--policies", callback=_list_policies, is_eager=True, help="List the policies and exit.")
    ] = False,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Replay a trace under scheduling policies.

    Each virtual cluster of the trace is simulated as a separate cluster. The same seed gives the same result. Results are printed policy
    by policy.

    Your own trace has the columns `job_id, submit_s, duration_s, gpus`, and optionally `pods` (pods of the gang, with `gpus` each),
    `partition`, `user`, `gpu_type`, `class` (hp or spot), `estimate_s`, `checkpoint_every_s` (0: on request; inf: never).
    Columns that end in `_s` are in seconds.
    A file of nodes has the column `gpus` and optionally `partition`, `gpu_type`, `name`, `count`. `schedmate workload` generates traces.

    `schedmate simulate --policies` lists the policies.

    Examples: `schedmate simulate venus.csv.gz --policy fifo --policy tiresias --figure venus.png`,
    `schedmate simulate jobs.csv --nodes 16x8 --policy qssf --outcomes out.csv`,
    `schedmate simulate jobs.txt --nodes 16x8` with the file that `schedmate import sacct` takes (its `--help` shows the command)
    """
    import msgspec

    from ..simulate.gangs import as_gangs
    from ..simulate.outcomes import Summary, summaries, write_outcomes, write_table
    from ..simulate.policies import POLICIES
    from ..simulate.replay import replay

    wanted = list(dict.fromkeys(policy or ["fifo"]))
    _check(wanted, outcomes, figure)
    read = _trace(trace)
    scenario, speeds = (
        _scenario(read.jobs, _nodes(trace, nodes), estimates, faults=faults, early_exits=early_exits, seed=seed),
        _speeds(pairs),
    )
    submissions = [job.submit_s for job in scenario.jobs]
    columns = list(Summary.__struct_fields__)
    results: dict[str, Replayed] = {}
    values: list[list[object]] = []
    for name in wanted:
        info = POLICIES[name]
        with _progress(name, len(scenario.jobs)) as progress:
            suited = _profiled(scenario, profiling_nodes) if info.profiles else scenario
            if info.by_pods:
                suited = msgspec.structs.replace(suited, jobs=as_gangs(suited.jobs, suited.nodes))
            result = replay(suited, info.make(speeds, submissions), progress)
        if result.too_large:
            warn(
                f"{name}: {counted(result.too_large, 'job')} never started: their cluster has fewer GPUs than they ask for"
            )
        figures = summaries(name, result)
        rows = [[getattr(each, column) for column in columns] for each in figures]
        if as_json or as_csv:
            print_rows(columns, rows, as_json=as_json, as_csv=as_csv, header=not values)
        else:
            print_rows(list(SHOWN), [[show(each) for show in SHOWN.values()] for each in figures])
        sys.stdout.flush()
        values += rows
        if table:
            write_table(table, columns, values)
        if outcomes:
            write_outcomes(Path(str(outcomes).replace("{policy}", name)), result.runs, read.without_gpus)
        if figure:
            results[name] = result
    if figure:
        from ..simulate.figures import draw

        draw(figure, results, f"{trace.name}: {counted(len(scenario.jobs), 'job')}, {counted(result.gpus, 'GPU')}")


SHOWN: dict[str, Callable[["Summary"], object]] = {
    "policy": lambda each: each.policy,
    "class": lambda each: each.job_class,
    "jobs": lambda each: each.jobs,
    "unfinished": lambda each: each.unfinished or None,
    "JCT mean, s": lambda each: round(each.jct_mean_s),
    "median": lambda each: round(each.jct_p50_s),
    "p99": lambda each: round(each.jct_p99_s),
    "queue mean, s": lambda each: round(each.queue_mean_s),
    "evictions": lambda each: each.evictions or None,
    "a start, %": lambda each: round(100 * each.eviction_rate, 2) or None,
    "GPU hours lost": lambda each: round(each.lost_gpu_s / 3600) or None,
    "GPU use, %": lambda each: round(100 * each.gpu_use, 1),
}
"""Columns of the table for a person."""


def _check(policies: list[str], outcomes: Path | None, figure: Path | None) -> None:
    from ..simulate.policies import POLICIES
    from .extras import require

    for name in policies:
        if name not in POLICIES:
            raise typer.BadParameter(f"expected one of {', '.join(POLICIES)}, got {name}", param_hint="--policy")
    if outcomes and len(policies) > 1 and "{policy}" not in str(outcomes):
        raise typer.BadParameter(
            "expected {policy} in the name, for there are several policies", param_hint="--outcomes"
        )
    if figure:
        require("matplotlib")


def _trace(path: Path) -> "Trace":
    """Read a trace, and report the jobs that are left out."""
    from ..simulate.traces import read_trace

    read = read_trace(path)
    if left_out := read.left_out():
        warn(f"{path.name}: {counted(len(read.jobs), 'job')} simulated; left out: {left_out}")
    return read


def _scenario(
    jobs: "list[Job]",
    specs: "list[NodeSpec]",
    estimates: Path | None,
    *,
    faults: bool,
    early_exits: float,
    seed: int,
) -> "Scenario":
    from ..simulate.estimates import with_estimates, with_history
    from ..simulate.faults import draw_faults
    from ..simulate.replay import Scenario
    from ..simulate.traces import read_estimates
    from ..simulate.workloads.early_exits import with_early_exits

    if all(job.estimate_s is None for job in jobs):
        jobs = with_estimates(jobs, read_estimates(estimates)) if estimates else with_history(jobs)
    if early_exits:
        jobs = with_early_exits(jobs, early_exits, seed)
    last = jobs[-1].submit_s + max(job.duration_s for job in jobs)
    events = draw_faults(specs, jobs[0].submit_s, last, seed) if faults else {}
    return Scenario(jobs=jobs, nodes=specs, node_events=events)


def _nodes(trace: Path, text: str) -> "list[NodeSpec]":
    from ..simulate.cluster import NodeSpec
    from ..simulate.traces import read_nodes

    count, _, gpus = text.partition("x")
    if count.isdecimal() and gpus.isdecimal() and 0 < int(count) <= 1_000_000 and 0 < int(gpus) <= 64:
        return [NodeSpec(gpus=int(gpus))] * int(count)
    if text:
        return read_nodes(Path(text))
    return nodes_beside(trace)


def nodes_beside(trace: Path) -> "list[NodeSpec]":
    """Return the nodes in the default file in the directory of a trace; of a directory with the tables of PAI its machines.

    Raises:
        TraceError: There is none, or it cannot be read.
    """
    from ..simulate.reading import TraceError
    from ..simulate.traces import read_nodes

    if trace.is_dir():
        return read_nodes(trace)
    found = next((file for name in DEFAULT_NODES if (file := trace.parent / name).is_file()), None)
    if found is None:
        raise TraceError(
            f"expected {', '.join(DEFAULT_NODES)} in the directory of {trace.name}; name another file, or use --nodes 16x8"
        )
    return read_nodes(found)


def _speeds(pairs: Path | None) -> "PackedSpeeds | None":
    from ..simulate.interference import read_packed_speeds

    return read_packed_speeds(pairs) if pairs else None


def _profiled(scenario: "Scenario", lenders: str) -> "Scenario":
    import msgspec

    from ..simulate.profiling import Profiler, lend

    names = [name for name in lenders.split(",") if name]
    return msgspec.structs.replace(
        scenario, nodes=lend(scenario.nodes, names), profiler=Profiler(nodes=len(names) or 2)
    )


@contextmanager
def _progress(policy: str, jobs: int) -> Iterator[Callable[[int], None]]:
    """Show how many jobs have ended: as a bar on a terminal, else as a line every ten seconds."""
    if not sys.stderr.isatty():
        yield _progress_lines(policy, jobs)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from .safe_console import SafeConsole

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=SafeConsole(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task(policy, total=jobs)
        yield lambda more: bar.advance(task, more)


def _progress_lines(policy: str, jobs: int) -> Callable[[int], None]:
    begin = printed = time.monotonic()
    ended = 0

    def advance(more: int) -> None:
        nonlocal ended, printed
        ended += more
        now = time.monotonic()
        if now - printed >= PROGRESS_EVERY_S:
            printed = now
            warn(f"{policy}: {ended:,} of {jobs:,} jobs have ended after {now - begin:.0f} s")

    return advance
