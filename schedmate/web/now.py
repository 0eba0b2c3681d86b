"""The current state of jobs in Redis: it has a change at once, where the list of all jobs is worked out again every few seconds."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from sinks import SinkRejected, SinkUnavailable
from sinks.redis.status import JobStatus
from streams.resilience import Outage

from ..job_state import StateWord, state_of_status
from .jobs import state_fields

ReadStates = Callable[[Sequence[str]], Mapping[str, JobStatus]]
"""Reads the states of jobs. Raises `SinkUnavailable` and `SinkRejected`."""


class Now:
    """Adds the state in Redis to the rows of ClickHouse. While Redis is away, pages show only what ClickHouse holds, without waiting.

    Args:
        read: Asks Redis.
    """

    def __init__(self, read: ReadStates) -> None:
        self._read = read
        self._outage = Outage("Redis", consequence="pages show what ClickHouse holds")
        self._lock = threading.Lock()
        self._again_at = 0.0
        self.away = ""
        """Why it does not answer; empty while it does."""

    def states(self, rows: Sequence[Mapping[str, Any]]) -> Mapping[str, JobStatus]:
        """Return the state of those jobs of `rows` that can still change, by job; nothing while Redis is away."""
        # Redis is asked about the first 500 jobs of an answer.
        jobs = [row["job"] for row in rows[:500] if row["condition"].is_live]
        if not jobs or time.monotonic() < self._again_at:
            return {}
        try:
            found = self._read(jobs)
        except (SinkUnavailable, SinkRejected) as error:
            with self._lock:
                self.away = str(error)
                self._again_at = time.monotonic() + self._outage.failed(self.away)
            return {}
        with self._lock:
            self._outage.succeeded()
            self.away = ""
        return found

    def laid_over(self, rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return `rows` of the list of jobs as Redis knows them by now."""
        states = self.states(rows)
        return [lay_over(row, states[row["job"]]) if row["job"] in states else row for row in rows]


def lay_over(row: Mapping[str, Any], status: JobStatus) -> Mapping[str, Any]:
    """Return the row of a job with what `status` knows better: the step of its newest report, and its state where that is newer."""
    if status.attempt < row["attempt"]:
        return row
    known = dict(row)
    newer = status.state_time is not None and status.state_time > row["changed"].timestamp()
    if status.state and (newer or row["started"] is None):
        known |= _state(status)
    elif status.attempt == row["attempt"] and (status.state == "running" or row["started"] is None):
        known |= state_fields(state_of_status(status, time.time())) | {"alarms": sorted(status.alarms)}
    if status.step is not None and status.metric_attempt == known["attempt"]:
        known["step"] = status.step
    return known


def _state(status: JobStatus) -> dict[str, Any]:
    state = state_of_status(status, time.time())
    queued, ended = state.word is StateWord.QUEUED, status.state == "ended"
    verdict = bool(status.verdict) and status.verdict_attempt == status.attempt
    known: dict[str, Any] = {
        "attempt": status.attempt,
        **state_fields(state),
        "started": None if queued else _moment(status.started),
        "ended": _moment(status.ended) if ended else None,
        "alarms": [] if queued else sorted(status.alarms),
    }
    if not queued:
        known |= {"nodes": list(status.nodes), "gpus": status.gpus}
    if ended:
        known |= {"state": status.scheduler_state, "exit_code": status.exit_code, "signal": status.signal}
    if ended and verdict:
        known |= {
            "error_type": status.verdict,
            "cause": status.verdict_signature,
            "message": status.verdict_message,
            "place": None,
        }
    return known


def newer_estimate(status: JobStatus | None, held: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the estimate of the attempt that `status` is of, in the form of `held`; `held` where Redis knows of none that is newer."""
    if (
        status is None
        or status.estimate_time is None
        or status.estimate_attempt != status.attempt
        or status.ended is not None
    ):
        return held
    if status.estimate_method in ("", "unknown") or (held and held["time"].timestamp() >= status.estimate_time):
        return held
    return {
        "time": _moment(status.estimate_time),
        "duration_s": status.estimate_duration_s,
        "duration_low_s": status.estimate_low_s,
        "duration_high_s": status.estimate_high_s,
        "modes": msgspec.json.encode(status.estimate_modes).decode(),
        "remaining_s": status.estimate_remaining_s,
        "remaining_low_s": status.estimate_remaining_low_s,
        "remaining_high_s": status.estimate_remaining_high_s,
        "done": status.estimate_done,
        "gpu_utilisation": status.estimate_gpu_utilisation,
        "method": status.estimate_method,
    }


def _moment(at: float | None) -> datetime | None:
    return None if at is None else datetime.fromtimestamp(at, UTC)
