"""`schedmate status`: the present state of a job, or of all."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from schedmate_records import counted

from ..advice import advice_on
from ..advisor.remaining import remains_of
from ..job_state import state_of_status
from ..report.report import NO_CLOCK, NO_REPORT, loss_text, outlook, rate, seconds
from ..settings.settings import Loaded, SettingsError
from ..times import ago, local_and_ago, moment_at, parse_since, span
from .console import console, print_json, warn
from .listing import Csv, Json, Since, as_text, blocks, print_rows

if TYPE_CHECKING:
    from processors.diagnose import Signature
    from sinks.redis.status import FailedAttempt, JobStatus

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(
    context: typer.Context,
    job: Annotated[str | None, typer.Argument(help="The job's id; without it, all jobs are shown.")] = None,
    *,
    limit: Annotated[
        int, typer.Option(min=1, help="Maximum number of jobs; the most recently updated are shown.")
    ] = 50,
    since: Since = "",
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Show the current state of one job or of all jobs. The exit code is 1 if the job is unknown.

    Examples: `schedmate status 4711`, `schedmate status --since 1h --csv`
    """
    from sinks.redis.read_state import read_job, read_jobs

    from ..services.sink import redis_client

    loaded: Loaded = context.obj
    settings = loaded.settings.redis
    if not settings.url:
        raise SettingsError(
            "the current state is kept in Redis, and redis.url is empty: set it, or ask `schedmate query`"
        )
    with redis_client(settings) as client:
        if job is None:
            statuses = read_jobs(client, limit, prefix=settings.prefix)
        else:
            found = read_job(client, job, prefix=settings.prefix)
            statuses = [found] if found else []
    if since:
        begin = parse_since(since)
        statuses = [status for status in statuses if _updated(status) >= begin]
    if as_json:
        import msgspec

        for status in statuses:
            print_json(msgspec.json.encode(status))
    elif as_csv or job is None:
        show_all(statuses, as_csv=as_csv)
    elif statuses:
        from ..assembly import signatures_by_name

        show_one(statuses[0], signatures=signatures_by_name(loaded.settings.processors))
    if job is not None and not statuses:
        warn(f"nothing is known of job {job} (any more); jobs go some days after their last update")
        raise typer.Exit(1)


def show_all(statuses: "list[JobStatus]", *, as_csv: bool = False) -> None:
    """Print the state of jobs, a row each."""
    now = time.time()
    if as_csv:
        columns = ("job", "name", "user", "state", "attempt", "nodes", "step", "step_time_s", "throughput", "throughput_unit", "loss",
                   "metric_time", "estimate_time", "estimate_remaining_s", "estimate_remaining_low_s", "estimate_remaining_high_s",
                   "alarms", "verdict", "verdict_message", "decision", "outcome")  # fmt: skip
        rows = [
            (one.job, one.name, one.user, state_of_status(one, now).word, one.attempt, " ".join(one.nodes), one.step, one.step_time_s,
             one.throughput, one.throughput_unit, one.loss, moment_at(one.metric_time), moment_at(one.estimate_time),
             one.estimate_remaining_s, one.estimate_remaining_low_s, one.estimate_remaining_high_s, " ".join(one.alarms), one.verdict,
             one.verdict_message, one.decision, one.outcome)
            for one in statuses
        ]  # fmt: skip
        print_rows(columns, rows, as_csv=True)
        return
    shown = [
        (
            _joined(one.job, one.name),
            state_of_status(one, now).sentence(now),
            _progress(one),
            _speed(one),
            remains_of(one, now).partition(" (")[0],
            moment_at(one.metric_time),
            note(one),
        )
        for one in statuses
    ]
    print_rows(
        ("job", "state", "progress", "speed", "remains", "last report", "what happened"),
        shown,
        empty="no jobs",
        compact=True,
    )


def _updated(status: "JobStatus") -> float:
    times = (status.state_time, status.metric_time, status.verdict_time, status.outcome_time, status.warning_time)
    return max((each for each in times if each is not None), default=0.0)


def note(status: "JobStatus", *, with_reason: bool = False) -> str:
    """Return what happened to a job, in few words: the cause of its failure, what was decided, and alarms that its state does not express.

    `with_reason`: also the reason of its state, where there is no verdict: the state is shown without it.
    """
    state = state_of_status(status, time.time())
    decided = " ".join(part for part in (status.decision, status.outcome) if part)
    alarms = ", ".join(kind for kind in status.alarms if kind not in state.expressed)
    cause = _cause(status) or (state.reason if with_reason else "")
    return "; ".join(part for part in (cause, decided, alarms) if part).replace("_", " ")


def details(
    status: "JobStatus", curve: str = "", signatures: Mapping[str, "Signature"] | None = None
) -> dict[str, str]:
    """Return all that is known of a job, in words, by name, in the order of its page; what is not known is left out.

    Args:
        status: The job.
        curve: What a terminal has seen of its step times.
        signatures: Of verdicts, by name: what to do about each.
    """
    now = time.time()
    state = state_of_status(status, now)
    rows = {
        "job": _joined(status.job, status.name),
        "state": state.sentence(now),
        "since": moment_at(state.since),
        "line": status.verdict_line,
        "message": status.verdict_message if status.verdict_message not in status.verdict_line else "",
        "to do": advice_on(status.verdict_signature, status.verdict, signatures or {}) if status.verdict else "",
        "decision": _joined(status.decision, status.decision_mode, status.decision_reason),
        "outcome": _joined(status.outcome, status.outcome_detail),
        "warning": _joined(status.warning, status.warning_detail),
        "progress": _progress(status),
        "speed": _joined(_speed(status), _throughput(status)) or _why_unknown(status),
        "remains": remains_of(status, now),
        "last report": moment_at(status.metric_time),
        "where": _joined(", ".join(status.nodes), _count(status.gpus, "GPU"), _some("packed with {}", status.packed_with)),
        "what": _joined(status.command, _some("in {}", status.directory), _some("by {}", status.user)),
        "checkpoint": _checkpoint(status),
        "saving": _saving(status),
        "lost if stopped": _lost(status),
        "step times": curve,
        "slowest rank": _slowest(status),
        "slowed by": _some("{}, to {:.0%}", status.slowed_by, status.slowdown_ratio),
        "alarms": "; ".join(status.alarms.values()),
        "verdict": _joined(_verdict(status), status.verdict_signature.replace("_", " "), _outlook(status)),
        "verdict at": moment_at(status.verdict_time),
        "log line": status.verdict_place.rpartition(":")[2],
        "feedback": _some("{} (attempt {}, by {})", status.feedback_cause, status.feedback_attempt, status.feedback_user),
        "end": _joined(status.scheduler_state, _some("exit code {}", status.exit_code), _some("signal {}", status.signal or None)),
        "attempt": status.attempt,
        "failed before": "; ".join(_failed(one) for one in status.failures if one.attempt != status.verdict_attempt),
    }  # fmt: skip
    return {name: as_text(value, local_and_ago) for name, value in rows.items() if value not in ("", None)}


def show_one(status: "JobStatus", curve: str = "", signatures: Mapping[str, "Signature"] | None = None) -> None:
    """Print all that is known of a job. Arguments as of `details`."""
    known = details(status, curve, signatures)
    console().print(blocks(list(known), [list(known.values())]))


def _failed(one: "FailedAttempt") -> str:
    component = "" if one.component in ("", "none") else f" {one.component}"
    return f"attempt {one.attempt}: {one.verdict.replace('_', ' ')}{component}: {one.message}"


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def _some(shape: str, *values: object) -> str:
    """Return `values` in `shape`, or nothing where one is not known."""
    return "" if any(value in (None, "") for value in values) else shape.format(*values)


def _count(number: float | None, thing: str) -> str:
    return "" if number is None else counted(number, thing)


def _numbers(*named: tuple[str, float | None]) -> str:
    return _joined(
        *(
            f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
            for name, value in named
            if value is not None
        )
    )


def _progress(status: "JobStatus") -> str:
    loss = loss_text(status.loss, status.loss_step, status.step, not_finite=status.loss_not_finite)
    return _joined(_numbers(("step", status.step), ("epoch", status.epoch)), loss)


def _slowest(status: "JobStatus") -> str:
    slowest, spread = status.slowest_rank, status.rank_spread
    if slowest is None or spread is None:
        return ""
    return f"{slowest.rank} on {slowest.node or '?'}: {slowest.step_time_s:.6g} s/step, {spread:.2f} times the fastest"


def _speed(status: "JobStatus") -> str:
    """Return the step time, or the throughput where that alone is known."""
    if status.step_time_s is not None:
        return f"{seconds(status.step_time_s)} a step"
    return _throughput(status)


def _throughput(status: "JobStatus") -> str:
    return "" if status.throughput is None else f"{rate(status.throughput)} {status.throughput_unit}".strip()


def _why_unknown(status: "JobStatus") -> str:
    return f"unknown: {NO_REPORT if status.metric_time is None else NO_CLOCK}"


def _outlook(status: "JobStatus") -> str:
    return outlook(status.verdict_signature, status.verdict_restartable) if status.verdict else ""


def _checkpoint(status: "JobStatus") -> str:
    """Return the last durable checkpoint: how old it is, its step, where it is."""
    began = moment_at(status.checkpoint_since)
    if began is None:
        return ""
    about = "" if status.checkpoint_attempt == status.attempt else f" (attempt {status.checkpoint_attempt})"
    return _joined(f"{ago(began)}{about}", _some("step {}", status.checkpoint_step), status.checkpoint_path)


def _lost(status: "JobStatus") -> str:
    """Return what a running job would lose if it were stopped now."""
    if status.ended is not None:
        return ""
    return _joined(_some("{} of work", span(status.lost_s(time.time()) or 0.0)), _count(status.lost_steps, "step"))


def _saving(status: "JobStatus") -> str:
    """Return the newest save where it is not complete."""
    began = moment_at(status.save_since)
    if began is None or status.save == "durable":
        return ""
    return _joined(f"{status.save} {ago(began)}", _some("usually takes {}", span(status.save_duration_s or 0.0)))


def _cause(status: "JobStatus") -> str:
    """Return the cause's name before the verdict: a narrow column shows its beginning."""
    verdict = _verdict(status)
    return f"{status.verdict_signature} ({verdict})" if verdict and status.verdict_signature else verdict


def _verdict(status: "JobStatus") -> str:
    """Return the verdict in two words, and the attempt if it is an earlier one."""
    if not status.verdict:
        return ""
    about = "" if status.verdict_attempt == status.attempt else f" (attempt {status.verdict_attempt})"
    component = "" if status.verdict_component in ("", "none") else f" {status.verdict_component}"
    return f"{status.verdict.replace('_', ' ')}{component}{about}"
