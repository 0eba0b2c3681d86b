"""`schedmate status`: the present state of a job, or of all."""

from typing import TYPE_CHECKING, Annotated

import typer

from schedmate.cli.console import console, say_json, warn
from schedmate.settings import Loaded, SettingsError

if TYPE_CHECKING:
    from sinks.redis import FailedAttempt, JobStatus

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(
    context: typer.Context,
    job: Annotated[str | None, typer.Argument(help="The job's id; leave it out to see all jobs.")] = None,
    *,
    limit: Annotated[int, typer.Option(min=1, help="So many jobs, those updated last.")] = 50,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a job.")] = False,
) -> None:
    """Show the present state of a job, or of all. Exit code 1 where nothing is known of the job.

    Example: `schedmate status 4711`
    """
    from schedmate.sinking import redis_client
    from sinks.redis import read_job, read_jobs

    loaded: Loaded = context.obj
    settings = loaded.settings.redis
    if not settings.url:
        raise SettingsError(
            "the present state stands in Redis, and redis.url is empty: set it, or ask `schedmate query`"
        )
    with redis_client(settings) as client:
        if job is None:
            statuses = read_jobs(client, limit, prefix=settings.prefix)
        else:
            found = read_job(client, job, prefix=settings.prefix)
            statuses = [found] if found else []
    if json:
        import msgspec

        for status in statuses:
            say_json(msgspec.json.encode(status))
    elif job is None:
        _all(statuses)
    elif statuses:
        _one(statuses[0])
    if job is not None and not statuses:
        warn(f"nothing is known of job {job} (any more); jobs go some days after their last update")
        raise typer.Exit(1)


def _all(statuses: "list[JobStatus]") -> None:
    from rich.table import Table

    from schedmate.cli.cells import cell

    table = Table(
        "job",
        "state",
        "attempt",
        "nodes",
        "step",
        "s/step",
        "throughput",
        "loss",
        "alarms",
        "verdict",
        "decision",
        box=None,
        pad_edge=False,
    )
    for status in statuses:
        decision = " ".join(part for part in (status.decision, status.outcome) if part)
        values = (
            status.job,
            status.state,
            status.attempt,
            status.nodes,
            status.step,
            status.step_time_s,
            _speed(status),
            status.loss,
            ", ".join(status.alarms).replace("_", " "),
        )
        table.add_row(*map(cell, values), cell(_verdict(status)), cell(decision))
    console().print(table if statuses else "no jobs")


def _one(status: "JobStatus") -> None:
    from rich.table import Table

    from schedmate.cli.cells import cell, moment

    rows = {
        "job": status.job,
        "state": _joined(status.state, status.scheduler_state, _some("exit code {}", status.exit_code), _some("signal {}", status.signal)),
        "since": moment(status.state_time),
        "attempt": status.attempt,
        "where": _joined(", ".join(status.nodes), _some("{:g} GPUs", status.gpus), _some("beside {}", status.packed_with)),
        "what": _joined(status.command, _some("in {}", status.directory), _some("by {}", status.user)),
        "progress": _numbers(("step", status.step), ("epoch", status.epoch), ("loss", status.loss)),
        "speed": _joined(_some("{:.6g} s/step", status.step_time_s), _speed(status)),
        "slowest rank": _slowest(status),
        "last report": moment(status.metric_time),
        "alarms": "; ".join(status.alarms.values()),
        "slowed by": _some("{}, to {:.0%}", status.slowed_by, status.slowdown_ratio),
        "verdict": _joined(_verdict(status), status.verdict_message),
        "line": _some("{}  [{}]", status.verdict_line, status.verdict_place),
        "a person says": _some("{} (attempt {}, by {})", status.feedback_cause, status.feedback_attempt, status.feedback_user),
        "failed before": "; ".join(_failed(one) for one in status.failures if one.attempt != status.verdict_attempt),
        "decision": _joined(status.decision, status.decision_mode, status.decision_reason),
        "outcome": _joined(status.outcome, status.outcome_detail),
        "warning": _joined(status.warning, status.warning_detail),
    }  # fmt: skip
    table = Table("", "", box=None, pad_edge=False, show_header=False)
    for name, value in rows.items():
        if value not in ("", None):
            table.add_row(name, cell(value))
    console().print(table)


def _failed(one: "FailedAttempt") -> str:
    component = "" if one.component in ("", "none") else f" {one.component}"
    return f"attempt {one.attempt}: {one.verdict.replace('_', ' ')}{component}: {one.message}"


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def _some(shape: str, *values: object) -> str:
    """Return `values` in `shape`, or nothing where one is not known."""
    return "" if any(value in (None, "") for value in values) else shape.format(*values)


def _numbers(*named: tuple[str, float | None]) -> str:
    return _joined(
        *(
            f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
            for name, value in named
            if value is not None
        )
    )


def _slowest(status: "JobStatus") -> str:
    slowest, spread = status.slowest_rank, status.rank_spread
    if slowest is None or spread is None:
        return ""
    return f"{slowest.rank} on {slowest.node or '?'}: {slowest.step_time_s:.6g} s/step, {spread:.2f} times the fastest"


def _speed(status: "JobStatus") -> str:
    return "" if status.throughput is None else f"{status.throughput:.6g} {status.throughput_unit}".strip()


def _verdict(status: "JobStatus") -> str:
    """Return the verdict in two words; one on an earlier attempt says so."""
    if not status.verdict:
        return ""
    about = "" if status.verdict_attempt == status.attempt else f" (attempt {status.verdict_attempt})"
    component = "" if status.verdict_component in ("", "none") else f" {status.verdict_component}"
    return f"{status.verdict.replace('_', ' ')}{component}{about}"
