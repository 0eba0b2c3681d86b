"""Jobs as Slurm lists them."""

from typing import Any

from scheduler_bridge.schedulers.slurm.client import SlurmJob


def job(name: str, state: str = "RUNNING", **changes: Any) -> SlurmJob:
    fields: dict[str, Any] = {
        "number": name.partition("_")[0],
        "job": name,
        "state": state,
        "restarts": 0,
        "nodes": ("n1",),
        "devices": frozenset({("n1", 0)}),
        "gpus": None,
        "shards": 2,
        "user": "ada",
        "command": "train.sh",
        "directory": "/home/ada",
        "submitted": 90.0,
        "started": 100.0,
        "ended": 200.0 if state in ("FAILED", "COMPLETED") else None,
        "exit_code": None,
        "signal": 0,
        "reason": "",
    }
    return SlurmJob(**fields | changes)
