"""Runs a case as a batch job of a real Slurm on loopback, one cluster a case, since some cases break it."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.corpus.failures.case import Case, UnexpectedEnd
from tests.servers.slurm import Slurm

FINAL = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "OUT_OF_MEMORY"}
ACT_AT = "step 5012/"
_MORE = """\
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
"""
_PARTITIONS = (
    "PartitionName=low Nodes=n[1-3] PriorityTier=1 PreemptMode=CANCEL",
    "PartitionName=high Nodes=n[1-3] PriorityTier=9 PreemptMode=OFF",
)


def run_on_slurm(case: Case, workdir: Path) -> tuple[int, str]:
    """Return (exit code, log) of `case.files["batch.sh"]`, submitted with the options `case.run`.

    Once the log shows step 5012, `act.sh` does what an operator would do; it finds the job's id in `JOB`.

    Raises:
        UnexpectedEnd: The job did not end in time.
    """
    log = workdir / "job.log"
    with _cluster() as cluster:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        exported = f"--export=PATH={path},PYTHONUNBUFFERED=1,LANG=C.UTF-8,HOME={workdir}"
        job = cluster.run(
            "sbatch",
            "--parsable",
            f"--chdir={workdir}",
            f"--output={log}",
            exported,
            *case.run.split(),
            str(workdir / "batch.sh"),
        ).strip()
        acted = not case.files["act.sh"].strip()
        deadline = time.monotonic() + case.seconds
        while not _ended(cluster, job) or not acted:
            if not acted and log.exists() and ACT_AT in log.read_text():
                subprocess.run(
                    ["bash", "act.sh"],
                    cwd=workdir,
                    env=cluster.environment | {"JOB": job},
                    check=True,
                    capture_output=True,
                    timeout=30,
                )
                acted = True
            if time.monotonic() > deadline:
                raise UnexpectedEnd(f"{case.name}: expected an end within {case.seconds} s, got {cluster.fields(job)}")
            time.sleep(0.2)
        time.sleep(1)  # what the daemons still write
        state = cluster.fields(job)["JobState"]
        # Several slurmd of one host add their node's name to their own; on a host with one they do not.
        text = re.sub(r"\bslurmstepd-n\d:", "slurmstepd:", log.read_bytes().decode("utf-8", "replace"))
        return int(state != "COMPLETED"), text


@contextmanager
def _cluster() -> Iterator[Slurm]:
    """Start a cluster with preemption, and end it."""
    root = Path(tempfile.mkdtemp(prefix="slurm-"))
    cluster = Slurm(root)
    with cluster.configuration.open("a") as more:
        more.write(_MORE)
    try:
        cluster.start()
        for partition in _PARTITIONS:
            cluster.run("scontrol", "create", *partition.split())
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(root, ignore_errors=True)


def _ended(cluster: Slurm, job: str) -> bool:
    fields = cluster.fields(job)
    held = fields["JobState"] == "PENDING" and "held" in fields.get("Reason", "").lower()
    return fields["JobState"] in FINAL or held
