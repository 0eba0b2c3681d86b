"""Jobs as `scontrol show job --json` (since 23.02) and `squeue --json` (since 21.08) list them.

A user's text cannot be mistaken for Slurm's there, but the list takes ten times as long as text (measured with `squeue` of Slurm 22.05:
0.28 s instead of 0.03 s for 700 jobs). Builds without a JSON library cannot write it.

Releases differ: numbers are plain (21.08, 22.05) or objects with `set`, `infinite` and `number` (since 23.02; times since 23.11); the
state is a word, or a list of words (since 23.11); the exit code is the status of wait(2), or an object (since 23.11); what a job holds on
each node is listed by host (since 22.05), and in another shape since 24.05. What is not set is an empty text, or null (21.08). A field that
a release dropped is read as not set.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from schedmate_records import NOT_JSON

from .gres import held_devices
from .host_list import expand
from .job import ENDED, SlurmJob, SlurmShare

_PASSING = ("COMPLETING", "STAGE_OUT", "CONFIGURING", "RESIZING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT")
"""Words that Slurm's text shows in the place of a job's base state (job_state_string), in this order."""


def parse(text: str) -> list[SlurmJob]:
    """Return the jobs of a list; those that cannot be read are left out. Empty where it is no list of jobs."""
    return [job for each in entries(text) or () if (job := job_of(each))]


def entries(text: str) -> list[Any] | None:
    """Return the entries of a list; None where it is no list of jobs."""
    try:
        listed = _decode(text).get("jobs")
    except NOT_JSON:
        return None
    return listed if isinstance(listed, list) else None


def _decode(text: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError:
        if "\\x" not in text:
            raise
    # A backslash and what follows it. JSON knows no `\x`: `SlurmCommands` writes it for a byte that is no UTF-8, of a user's text.
    escaped = re.sub(
        r"\\(?:x[0-9a-f]{2}|.)", lambda found: "\ufffd" if found[0][1] == "x" else found[0], text, flags=re.DOTALL
    )
    return msgspec.json.decode(escaped, type=dict[str, Any])


def job_of(fields: Mapping[str, Any]) -> SlurmJob | None:
    """Return the job of an entry; None where it lacks what every release writes, or has it in another shape."""
    try:
        return _job(fields)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _job(fields: Mapping[str, Any]) -> SlurmJob:
    state, nodes = _state(fields["job_state"]), expand(_text(fields.get("nodes")))
    over = state in ENDED
    exit_code, signal = _exit(fields["exit_code"])
    gres = fields.get("gres_detail") or []
    by_host = zip([(node,) for node in nodes], gres, strict=True) if len(gres) == len(nodes) else ()
    devices, gpus, shards = held_devices(by_host)
    reason = _text(fields.get("state_reason"))
    cpus, node_count = _number(fields.get("cpus")) or 0, _number(fields.get("node_count")) or 1
    resources = fields.get("job_resources") or {}
    return SlurmJob(
        number=str(int(_number(fields["job_id"]) or 0)),
        job=_printed(fields),
        state=state,
        restarts=int(_number(fields["restart_cnt"]) or 0),
        nodes=nodes,
        devices=devices,
        gpus=gpus,
        shards=shards,
        user=_text(fields["user_name"]),
        command=_text(fields.get("command") or fields.get("name")),
        directory=_text(fields.get("current_working_directory")),
        submitted=_time(fields.get("submit_time")),
        started=_time(fields.get("start_time")) if nodes else None,
        ended=_time(fields.get("end_time")) if over else None,
        exit_code=exit_code if over and not signal else None,
        signal=signal if over else 0,
        reason="" if reason == "None" else reason,
        name=_text(fields.get("name")),
        held=state == "PENDING" and (_number(fields.get("priority")) == 0 or "Held" in reason),
        requeue=bool(fields.get("requeue")),
        required_nodes=expand(_text(fields.get("required_nodes"))),
        excluded_nodes=expand(_text(fields.get("excluded_nodes"))),
        tres_per_node=_text(fields.get("tres_per_node")),
        tres_per_job=_text(fields.get("tres_per_job")),
        tres_per_task=_text(fields.get("tres_per_task")),
        partition=_text(fields.get("partition")),
        account=_text(fields.get("account")),
        qos=_text(fields.get("qos")),
        priority=_number(fields.get("priority")),
        limit_s=_minutes(fields.get("time_limit")),
        eligible=_time(fields.get("eligible_time")),
        node_count=node_count,
        cpus=cpus,
        tasks=_number(fields.get("tasks")) or 1,
        memory=_memory(fields, -(-cpus // node_count)),
        exclusive=_is_exclusive(fields, resources),
        features=_text(fields.get("features")),
        reservation=_text(fields.get("resv_name")),
        shares=_shares(nodes, gres, cpus, resources),
        het_numbers=expand(f"[{fields['het_job_id_set']}]") if _number(fields.get("het_job_id")) else (),
        sluid=_text((fields.get("step_id") or {}).get("sluid")),
    )


def _memory(fields: Mapping[str, Any], cpus_per_node: int) -> float:
    """Return the memory that a job asks for on each node, in MB."""
    if per_cpu := _number(fields.get("memory_per_cpu")):
        return float(per_cpu * cpus_per_node)
    return float(_number(fields.get("memory_per_node")) or 0)


def _is_exclusive(fields: Mapping[str, Any], resources: Mapping[str, Any]) -> bool:
    """Return whether a job has its nodes for itself. 26.05 dropped `shared`; of jobs that hold nodes, `whole` is left."""
    shared = fields.get("shared")
    if shared is None:
        nodes = resources.get("nodes")
        return isinstance(nodes, Mapping) and nodes.get("whole") is True
    return shared == "none" or "none" in shared


def _shares(nodes: tuple[str, ...], gres: list[str], cpus: int, resources: Mapping[str, Any]) -> dict[str, SlurmShare]:
    """Return what a job holds on its nodes. Up to 23.11 the list does not show which CPUs are where: an even spread is assumed."""
    each = gres if len(gres) == len(nodes) else [""] * len(nodes)
    held = {name: (count, memory) for name, count, memory in _allocated(resources)}
    evenly = -(-cpus // len(nodes)) if nodes else 0
    shares = {}
    for node, text in zip(nodes, each, strict=True):
        count, memory = held.get(node, (None, 0.0))
        shares[node] = SlurmShare(evenly if count is None else count, memory, text)
    return shares


def _allocated(resources: Mapping[str, Any]) -> Iterable[tuple[str, int | None, float]]:
    """Return names of nodes, the CPUs (None where not known) and the MB of memory that a job holds there."""
    nodes = resources.get("nodes")
    if isinstance(nodes, Mapping):
        for each in nodes.get("allocation") or ():
            count, memory = each.get("cpus", {}).get("count"), each.get("memory", {}).get("allocated")
            yield each["name"], _number(count), float(_number(memory) or 0)
    elif isinstance(listed := resources.get("allocated_nodes"), list):
        for each in listed:
            yield each["nodename"], None, float(_number(each.get("memory_allocated")) or 0)


def _printed(fields: Mapping[str, Any]) -> str:
    """Return the id that Slurm prints."""
    if array := _number(fields.get("array_job_id")):
        task = _number(fields.get("array_task_id"))
        return f"{array}_{fields['array_task_string'] if task is None else task}"
    if het := _number(fields.get("het_job_id")):
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
