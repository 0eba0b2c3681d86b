"""examples/node_checks, with made-up tools of NVIDIA's in the place of those that need GPUs."""

import subprocess
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

TWO_GPUS = 'echo "GPU 0: made up (UUID: GPU-1)"; echo "GPU 1: made up (UUID: GPU-2)"'
FAST = 'echo "# Out of bounds values : 0 OK"; echo "# Avg bus bandwidth    : 371.25"'


def check(directory: Path, script: str, *arguments: str, **tools: str) -> subprocess.CompletedProcess[str]:
    for name, body in tools.items():
        tool = directory / name.replace("_smi", "-smi")
        tool.write_text(f"#!/bin/sh\n{body}\n")
        tool.chmod(0o755)
    return subprocess.run(
        [ROOT / "examples" / "node_checks" / script, *arguments],
        env={"PATH": f"{directory}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "perf", "passed", "last"),
    [
        (("2", "300"), FAST, True, "371.25 GB/s of at least 300 GB/s"),
        (("2", "400"), FAST, False, "371.25 GB/s of at least 400 GB/s"),
        (("4", "300"), FAST, False, "2 of 4 GPUs are there"),
        (("2", "300"), f"{FAST}; exit 1", False, "all_reduce_perf failed"),
        (("2", "300"), "echo nothing", False, "0 GB/s of at least 300"),
    ],
)
def test_nccl(tmp_path: Path, arguments: tuple[str, str], perf: str, passed: bool, last: str) -> None:
    done = check(tmp_path, "nccl.sh", *arguments, nvidia_smi=TWO_GPUS, all_reduce_perf=perf)
    assert (done.returncode == 0, done.stdout.splitlines()[-1].startswith(last)) == (passed, True), done


@pytest.mark.parametrize(("script", "arguments"), [("nccl.sh", ("2", "300")), ("dcgm.sh", ("1",))])
def test_what_the_driver_says_of_the_gpus_is_kept(tmp_path: Path, script: str, arguments: tuple[str, ...]) -> None:
    done = check(tmp_path, script, *arguments, nvidia_smi='echo "$@"', dcgmi="true")
    assert done.stdout.startswith("--query --display=MEMORY,ECC,")


@pytest.mark.parametrize(
    ("smi", "diag", "code"), [("true", "true", 0), ("true", "exit 226", 226), ("exit 9", "true", 1)]
)
def test_dcgm(tmp_path: Path, smi: str, diag: str, code: int) -> None:
    assert check(tmp_path, "dcgm.sh", "2", nvidia_smi=smi, dcgmi=diag).returncode == code
