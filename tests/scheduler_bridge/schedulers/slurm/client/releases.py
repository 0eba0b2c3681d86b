"""A list of 22.05 in the shapes that `squeue --json` of other releases has.

Made after what writes it in Slurm's own sources (21.08: `dump_job_info` of src/plugins/openapi/v0.0.37/jobs.c; since 23.02: `JOB_INFO` of
src/plugins/data_parser/v0.0.45/parsers.c), and after lists that others publish with their tests: of 23.02.6, of 23.11.1
(DiamondLightSource/python-zocalo), of 24.05.3, and of single fields of 25.11.
"""

import json
from typing import Any

RELEASES = ("21.08", "22.05", "23.02", "23.11", "24.05", "25.11")

_NUMBERS = ("array_job_id", "array_task_id", "het_job_id", "het_job_offset", "priority")
_TIMES = ("submit_time", "start_time", "end_time")
_TEXTS = (
    "array_task_string",
    "command",
    "excluded_nodes",
    "het_job_id_set",
    "nodes",
    "required_nodes",
    "tres_per_node",
)


def as_written_by(release: str, listed: str) -> str:
    """Return a list of 22.05 in the shape of another release."""
    whole = json.loads(listed)
    jobs = [_shaped(release, job) for job in whole["jobs"]]
    if release < "23.02":
        return json.dumps({"meta": whole["meta"], "errors": [], "jobs": jobs})
    times = {name: _number(1795376190) for name in ("last_backfill", "last_update")} if release >= "23.11" else {}
    # json-c escapes slashes.
    return json.dumps({"jobs": jobs, **times, "meta": {}, "errors": [], "warnings": []}).replace("/", "\\/")


def _shaped(release: str, job: dict[str, Any]) -> dict[str, Any]:
    job = dict(job)
    if release == "21.08":
        return job | {name: job[name] or None for name in _TEXTS} | {"cpus": None, "tasks": None, "time_limit": None}
    if release < "23.02":
        return job
    job |= {name: _number(job[name]) for name in _NUMBERS}
    job |= {"hold": job["priority"]["number"] == 0, "cpus": _number(1), "node_count": _number(1), "tasks": _number(1)}
    job |= {"time_limit": {"set": False, "infinite": True, "number": 0}, "memory_per_node": _number(None)}
    if release < "23.11":
        return job | {"exit_code": _number(job["exit_code"]), "job_resources": _resources(job, {"cpus_used": 0})}
    job |= {name: _number(job[name]) for name in _TIMES}
    job |= {"job_state": [job["job_state"]], "exit_code": _exit(job["exit_code"])}
    if release < "24.05":
        return job | {"job_resources": _resources(job, {"cpus_used": 0})}
    allocated = [{"index": 0, "name": "n1", "cpus": {"count": 1, "used": 0}, "sockets": []}]
    job |= {"job_resources": {"nodes": {"count": 1, "list": job["nodes"], "allocation": allocated}, "cpus": 1}}
    if release < "25.11":
        return job
    step = {"sluid": "s1", "job_id": _number(job["job_id"]), "step_id": "TBD"}
    return job | {"priority_by_partition": [], "step_id": step, "segment_size": 0}


def _resources(job: dict[str, Any], used: dict[str, int]) -> dict[str, Any]:
    return {"nodes": job["nodes"], "allocated_hosts": 1, "allocated_nodes": [{"nodename": "n1", **used}]}


def _exit(status: int) -> dict[str, Any]:
    signal = _number(status & 0x7F or None)
    word = "SIGNALED" if status & 0x7F else "ERROR" if status else "SUCCESS"
    return {"status": [word], "return_code": _number(status >> 8), "signal": {"id": signal, "name": ""}}


def _number(value: int | None) -> dict[str, Any]:
    return {"set": value is not None, "infinite": False, "number": value or 0}
