"""Jobs as `squeue --json` lists them.

A user's text cannot be mistaken for Slurm's there, but the list takes ten times as long as that of `scontrol` (measured with
Slurm 22.05: 0.28 s instead of 0.03 s for 700 jobs). Builds without a JSON library cannot write it.

Releases differ: numbers are plain (21.08, 22.05) or objects with `set`, `infinite` and `number` (since 23.02; times since 23.11); the
state is a word, or a list of words (since 23.11); the exit code is the status of wait(2), or an object (since 23.11). What is not set is
an empty text, or null (21.08).
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from records import NOT_JSON

from .gres import held_devices
from .host_list import expand
from .job import ENDED, SlurmJob, SlurmShare

_PASSING = ("COMPLETING", "STAGE_OUT", "CONFIGURING", "RESIZING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT")
"""Words that Slurm's text shows in the place of a job's base state (job_state_string), in this order."""


def parse(text: str) -> list[SlurmJob]:
    """Return the jobs of a list; those that cannot be read are left out. Empty where it is no list of jobs."""
    try:
        listed = msgspec.json.decode(text, type=dict[str, Any]).get("jobs")
    except NOT_JSON:
        return []
    return [job for each in listed if (job := _job(each))] if isinstance(listed, list) else []


def _job(fields: Mapping[str, Any]) -> SlurmJob | None:
    try:
        state, nodes = _state(fields["job_state"]), expand(_text(fields["nodes"]))
        over = state in ENDED
        exit_code, signal = _exit(fields["exit_code"])
        gres = fields.get("gres_detail") or []
        by_host = zip([(node,) for node in nodes], gres, strict=True) if len(gres) == len(nodes) else ()
        devices, gpus, shards = held_devices(by_host)
        reason = _text(fields["state_reason"])
        return SlurmJob(
            number=str(_number(fields["job_id"])),
            job=_printed(fields),
            state=state,
            restarts=int(fields["restart_cnt"]),
            nodes=nodes,
            devices=devices,
            gpus=gpus,
            shards=shards,
            user=_text(fields["user_name"]),
            command=_text(fields["command"] or fields["name"]),
            directory=_text(fields["current_working_directory"]),
            submitted=_time(fields["submit_time"]),
            started=_time(fields["start_time"]) if nodes else None,
            ended=_time(fields["end_time"]) if over else None,
            exit_code=exit_code if over and not signal else None,
            signal=signal if over else 0,
            reason="" if reason == "None" else reason,
            name=_text(fields["name"]),
            held=state == "PENDING" and (_number(fields["priority"]) == 0 or "Held" in reason),
            requeue=bool(fields["requeue"]),
            required_nodes=expand(_text(fields["required_nodes"])),
            excluded_nodes=expand(_text(fields["excluded_nodes"])),
            tres_per_node=_text(fields["tres_per_node"]),
            tres_per_job=_text(fields.get("tres_per_job")),
            tres_per_task=_text(fields.get("tres_per_task")),
            partition=_text(fields.get("partition")),
            account=_text(fields.get("account")),
            qos=_text(fields.get("qos")),
            priority=_number(fields["priority"]),
            limit_s=_minutes(fields.get("time_limit")),
            eligible=_time(fields.get("eligible_time")),
            node_count=_number(fields.get("node_count")) or 1,
            cpus=_number(fields.get("cpus")) or 0,
            tasks=_number(fields.get("tasks")) or 1,
            memory=float(_number(fields.get("memory_per_node")) or 0),
            features=_text(fields.get("features")),
            reservation=_text(fields.get("resv_name")),
            shares=_shares(nodes, gres, _number(fields.get("cpus")) or 0),
            het_numbers=expand(f"[{fields['het_job_id_set']}]") if _number(fields["het_job_id"]) else (),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _shares(nodes: tuple[str, ...], gres: list[str], cpus: int) -> dict[str, SlurmShare]:
    """Return what a job holds on its nodes. The list does not say which CPUs are where: they are taken as spread evenly."""
    each = gres if len(gres) == len(nodes) else [""] * len(nodes)
    return {node: SlurmShare(-(-cpus // len(nodes)), 0.0, held) for node, held in zip(nodes, each, strict=True)}


def _printed(fields: Mapping[str, Any]) -> str:
    """Return the id that Slurm prints."""
    if array := _number(fields["array_job_id"]):
        task = _number(fields["array_task_id"])
        return f"{array}_{fields['array_task_string'] if task is None else task}"
    if het := _number(fields["het_job_id"]):
        return f"{het}+{_number(fields['het_job_offset'])}"
    return str(_number(fields["job_id"]))


def _state(value: str | list[str]) -> str:
    words = [value] if isinstance(value, str) else value
    return next((word for word in _PASSING if word in words), words[0] if words else "")


def _exit(value: int | Mapping[str, Any]) -> tuple[int, int]:
    """Return the exit code and the signal."""
    if isinstance(value, int) or "signal" not in value:
        status = _number(value) or 0
        return status >> 8 & 0xFF, status & 0x7F
    signal = value["signal"]
    return _number(value["return_code"]) or 0, _number(signal.get("id", signal.get("signal_id"))) or 0


def _text(value: str | None) -> str:
    return value or ""


def _number(value: int | Mapping[str, Any] | None) -> int | None:
    """Return a number of any release; None where it is not set."""
    if isinstance(value, Mapping):
        return int(value["number"]) if value["set"] and not value["infinite"] else None
    return value


def _time(value: int | Mapping[str, Any] | None) -> float | None:
    return float(seconds) if (seconds := _number(value)) else None


def _minutes(value: int | Mapping[str, Any] | None) -> float | None:
    """Return seconds of what Slurm gives in minutes."""
    return None if (minutes := _number(value)) is None else 60.0 * minutes
