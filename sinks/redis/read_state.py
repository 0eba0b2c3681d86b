"""Reading the state back."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec

from schedmate_records import AlarmKind

from .connect import translate_errors
from .keys import PREFIX, Keys
from .status import FailedAttempt, JobStatus, RankStatus

if TYPE_CHECKING:
    import redis

_FIELDS = frozenset(JobStatus.__struct_fields__) - {"job", "ranks", "failures", "alarms", "alarms_since"}


def read_job(client: "redis.Redis", job: str, *, prefix: str = PREFIX) -> JobStatus | None:
    """Return the state of `job`, or None where nothing is known of it (any more).

    Raises:
        SinkUnavailable: Redis is away.
        SinkRejected: Redis refuses the user, or a key of ours holds something else.
    """
    return _read(client, [job], Keys(prefix))[0]


def read_jobs(client: "redis.Redis", limit: int = 100, *, prefix: str = PREFIX) -> list[JobStatus]:
    """Return the state of the `limit` jobs updated last, the newest first. Raises as `read_job` does."""
    keys = Keys(prefix)
    with translate_errors(client, "reading the jobs from Redis"):
        names = cast("list[str]", client.zrevrange(keys.jobs, 0, limit - 1)) if limit > 0 else []
    return [status for status in _read(client, names, keys) if status is not None]


def read_states(client: "redis.Redis", jobs: Sequence[str], *, prefix: str = PREFIX) -> dict[str, JobStatus]:
    """Return the state of those of `jobs` that are known, by job, without their ranks: a large job has many. Raises as `read_job` does."""
    keys = Keys(prefix)
    pipe = client.pipeline(transaction=False)
    for job in jobs:
        pipe.hgetall(keys.job(job))
    with translate_errors(client, "reading jobs from Redis"):
        found = pipe.execute() if jobs else []
    states = (status_of(job, fields, {}) for job, fields in zip(jobs, found, strict=True))
    return {status.job: status for status in states if status is not None}


def _read(client: "redis.Redis", names: list[str], keys: Keys) -> list[JobStatus | None]:
    if not names:
        return []
    pipe = client.pipeline(transaction=False)
    for name in names:
        pipe.hgetall(keys.job(name))
        pipe.hgetall(keys.ranks(name))
    with translate_errors(client, "reading jobs from Redis"):
        found = pipe.execute()
    return [status_of(name, found[2 * index], found[2 * index + 1]) for index, name in enumerate(names)]


def _is_shown(kind: AlarmKind, fields: Mapping[str, str], attempt: int) -> bool:
    """Return whether an alarm is raised, or was when the newest attempt ended and still describes it."""
    if not fields.get(f"alarm_{kind}"):
        return False
    over = fields.get(f"over_alarm_{kind}")
    if over is None:
        return fields.get("state") != "ended" or kind.describes_ended
    ended, of_attempt = fields.get("ended"), int(fields.get(f"attempt_alarm_{kind}", attempt))
    return ended is not None and float(over) >= float(ended) and of_attempt == attempt


def status_of(job: str, fields: Mapping[str, str], ranks: Mapping[str, str]) -> JobStatus | None:
    """Return the state of `job` that its two hashes hold; None where nothing is known of it."""
    if not fields:
        return None
    values: dict[str, Any] = {name: text for name, text in fields.items() if name in _FIELDS}
    reports = [msgspec.json.decode(text, type=RankStatus) for name, text in ranks.items() if not name.endswith(":at")]
    newest = max((rank.attempt for rank in reports), default=0)
    values["attempt"] = max(int(values.get("attempt", 0)), newest)
    if fields.get("outcome_of") != fields.get("decision_id"):
        # The result of an earlier decision does not apply to this one.
        for name in ("outcome", "outcome_time", "outcome_detail", "outcome_actuator"):
            values.pop(name, None)
    if values.get("verdict") == "none":
        values = {name: value for name, value in values.items() if not name.startswith("verdict")}
    for name in {"nodes", "verdict_confirmed_by", "verdict_contradicted_by"} & values.keys():
        values[name] = msgspec.json.decode(values[name] or "[]", type=list[str])
    if "estimate_modes" in values:
        values["estimate_modes"] = msgspec.json.decode(values["estimate_modes"] or "[]")
    texts = [text for name, text in fields.items() if name.startswith("failure:") and not name.endswith(":at")]
    failures = [msgspec.json.decode(text, type=FailedAttempt) for text in texts]
    values["failures"] = sorted(failures, key=lambda one: one.attempt)
    kinds = [kind for kind in AlarmKind if _is_shown(kind, fields, values["attempt"])]
    values["alarms"] = {kind.value: fields[f"alarm_{kind}"] for kind in sorted(kinds)}
    values["alarms_since"] = {
        kind.value: since for kind in kinds if (since := fields.get(f"since_alarm_{kind}")) is not None
    }
    values["job"] = job
    values["ranks"] = sorted((rank for rank in reports if rank.attempt == newest), key=lambda rank: rank.rank)
    return msgspec.convert(values, JobStatus, strict=False)
