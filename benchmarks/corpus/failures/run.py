"""Runs a case in an empty directory, bounded in time and memory, and returns what it printed."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from benchmarks.corpus.failures.case import Case, UnexpectedEnd
from benchmarks.corpus.failures.environments import python
from benchmarks.corpus.failures.scrub import scrub
from benchmarks.corpus.failures.slurm import run_on_slurm

PROGRAMS = Path(__file__).with_name("programs")
DATA_BYTES, CUDA_BYTES = 12 << 30, 96 << 30
"""Of memory that a run may write to; CUDA maps more than it uses."""


def run(case: Case) -> str:
    """Return the scrubbed log of a new run of `case`, standard output and error merged as a batch job's are.

    Raises:
        UnexpectedEnd: A failure that succeeded, a healthy run that failed, or one that did not end in time.
        FileNotFoundError: Its environment or a command that it needs is not there.
    """
    missing = [command for command in case.needs if not shutil.which(command)]
    if missing:
        raise FileNotFoundError(f"{case.name} needs {', '.join(missing)} on PATH")
    interpreter = python(case.environment)
    workdir = Path(tempfile.mkdtemp(prefix="run-"))
    _fill(case, workdir)
    try:
        code, text = run_on_slurm(case, workdir) if case.environment == "slurm" else _run(case, workdir, interpreter)
    finally:
        shutil.rmtree(workdir, ignore_errors=True)
    if (code == 0) != (case.truth is None):
        wanted = "a failure" if case.truth else "exit code 0"
        raise UnexpectedEnd(f"{case.name}: expected {wanted}, got exit code {code}; its log ends with\n{text[-3000:]}")
    return scrub(text, workdir, interpreter)


def _fill(case: Case, workdir: Path) -> None:
    for program in PROGRAMS.iterdir():
        if program.is_file():
            shutil.copy(program, workdir)
    for name, content in case.files.items():
        (workdir / name).parent.mkdir(parents=True, exist_ok=True)
        (workdir / name).write_text(content)
    (workdir / "job.sh").write_text(case.run.strip() + "\n")
    workdir.chmod(0o777)
    for each in workdir.rglob("*"):
        each.chmod(0o777)


def _run(case: Case, workdir: Path, interpreter: Path) -> tuple[int, str]:
    data_bytes = CUDA_BYTES if case.environment == "cuda" else DATA_BYTES
    with (workdir.parent / f"{workdir.name}.out").open("w+b") as output:
        Path(output.name).unlink()
        process = subprocess.Popen(
            ["nice", "-n", "10", "prlimit", f"--data={data_bytes}", "--core=0", "bash", "job.sh"],
            cwd=workdir,
            env=_environment(workdir, interpreter),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            code = process.wait(case.seconds)
        except subprocess.TimeoutExpired:
            raise UnexpectedEnd(
                f"{case.name}: expected an end within {case.seconds} s\n{_text(output)[-3000:]}"
            ) from None
        finally:
            _end(process.pid)
        return code, _text(output)


def _text(output: object) -> str:
    output.seek(0)  # type: ignore[attr-defined]
    return str(output.read().decode("utf-8", "replace"))  # type: ignore[attr-defined]


def _environment(workdir: Path, interpreter: Path) -> dict[str, str]:
    """Return a bare environment: nothing of the caller's but what frees a program from asking the network."""
    return {
        "PATH": f"{interpreter.parent}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(workdir),
        "USER": "user",
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "OMP_NUM_THREADS": "1",
        "GLOO_SOCKET_IFNAME": "lo",
        "TP_SOCKET_IFNAME": "lo",
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "RAY_USAGE_STATS_ENABLED": "0",
        "TOKENIZERS_PARALLELISM": "false",
    }


def _end(group: int) -> None:
    """End whatever the case left running: all of its session."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.getsid(int(entry.name)) == group:
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:
                continue
