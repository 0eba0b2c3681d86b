"""Submits a job again with its original options, as far as Slurm shows them, by `sbatch` as its user.

sbatch reads the script's own options (`#SBATCH`) again; the options here are those that applied in the end. The environment from which the
job was submitted is not known: it gets its user's login environment (`--export=NONE`).
"""

from collections.abc import Mapping, Sequence

from .as_user import run_as
from .errors import SlurmRefused, SlurmUnavailable, is_away
from .job import NONE, SlurmJob

COLUMNS = {
    "name": 1024,
    "timelimit": 40,
    "feature": 1024,
    "licenses": 1024,
    "reservation": 256,
    "cpus-per-task": 40,
    "cpus-per-tres": 256,
    "tres-per-socket": 256,
    "stdout": 4096,
    "stderr": 4096,
    "stdin": 4096,
    "workdir": 4096,
    "comment": 4096,
}
"""Columns of `squeue --Format`, with their widths in bytes."""
_OPTIONS = {
    "name": "job-name",
    "timelimit": "time",
    "feature": "constraint",
    "licenses": "licenses",
    "reservation": "reservation",
    "cpus-per-task": "cpus-per-task",
    "stdout": "output",
    "stderr": "error",
    "stdin": "input",
    "workdir": "chdir",
}


def read_columns(listed: str) -> dict[str, str]:
    """Return the columns of one job by name; those that are not set are left out.

    Columns are cut by their width, so that no text of the user is taken for another column.
    """
    row, found, begin = listed.encode(errors="surrogateescape"), {}, 0
    for name, width in COLUMNS.items():
        text = row[begin : begin + width].decode(errors="replace").strip()
        begin += width
        if text not in NONE:
            found[name] = text
    return found


def options(job: SlurmJob, columns: Mapping[str, str]) -> list[str]:
    """Return the options of `sbatch` that ask for the same again. Each is one word of a command line, `--name=value`."""
    asked = {option: columns[name] for name, option in _OPTIONS.items() if name in columns}
    asked |= {
        "partition": job.partition,
        "account": job.account,
        "qos": job.qos,
        "nodes": str(job.node_count),
        "ntasks": str(job.tasks),
        "mem": f"{job.memory:.0f}M" if job.memory else "",
        "nodelist": ",".join(job.required_nodes),
        "array": job.job.partition("_")[2],
        "gres": _gres(job.tres_per_node),
        "gpus": _gpus(job.tres_per_job),
        "gpus-per-task": _gpus(job.tres_per_task),
        "gpus-per-socket": _gpus(columns.get("tres-per-socket", "")),
        "cpus-per-gpu": _gpus(columns.get("cpus-per-tres", "")),
    }
    words = [f"--{name}={value}" for name, value in asked.items() if value and "\0" not in value]
    return [*words, "--requeue", *(["--exclusive"] if job.exclusive else [])]


def submit(
    script: bytes,
    words: Sequence[str],
    user: str,
    environment: Mapping[str, str] | None = None,
    *,
    cluster: str = "",
) -> str:
    """Submit a script for a user, to a cluster of that name or else the local one, and return the new job's number.

    Raises:
        SlurmRefused: Only root and the user may submit for the user (see `run_as`), or Slurm refused.
        SlurmUnavailable: Slurm does not answer. The job may have been submitted all the same.
    """
    where = [f"--clusters={cluster}"] if cluster else []
    command = ["sbatch", *where, "--parsable", "--export=NONE", *words]
    # sbatch answers within 10 s or counts as unavailable.
    done = run_as(user, command, stdin=script, timeout_s=10.0, environment=environment)
    number = done.stdout.decode(errors="replace").strip().partition(";")[0]
    if done.returncode != 0 or not number.isdecimal():
        complaint = " ".join(done.stderr.decode(errors="replace").split())[:500] or f"exit code {done.returncode}"
        kind = SlurmUnavailable if is_away(complaint) else SlurmRefused
        raise kind("sbatch to take the job", complaint, "submit it again by hand")
    return number


def _gres(tres: str) -> str:
    """Return `shard:2` for Slurm's `gres:shard:2`."""
    return ",".join(part.removeprefix("gres:").removeprefix("gres/") for part in _tres(tres))


def _gpus(tres: str) -> str:
    """Return `2` or `a100:2` for Slurm's `gres:gpu:a100:2`."""
    prefixes = ("gres:gpu:", "gres/gpu:")
    return next((part[len(prefixes[0]) :] for part in _tres(tres) if part.startswith(prefixes)), "")


def _tres(tres: str) -> list[str]:
    return [part.replace("=", ":") for part in tres.split(",") if part and tres not in NONE]
