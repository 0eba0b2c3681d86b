import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.producers.environment import identify
from streams.producers.gpu.processes import RANK_VARIABLES, Owner, owner_of

CLEAN = {"PATH": os.environ["PATH"]}


Start = Callable[[dict[str, str]], int]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a process with an environment and returns its pid."""
    processes: list[subprocess.Popen[bytes]] = []

    def start(environment: dict[str, str]) -> int:
        process = subprocess.Popen(["sleep", "60"], env=CLEAN | environment)
        processes.append(process)
        deadline = time.monotonic() + 10
        while not Path(f"/proc/{process.pid}/environ").read_bytes():  # empty while the kernel starts the program
            assert time.monotonic() < deadline
        return process.pid

    yield start
    for process in processes:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("environment", "owner"),
    [
        ({}, Owner(None, None)),
        ({"SLURM_JOB_ID": "4711", "SLURM_PROCID": "5"}, Owner("4711", 5)),
        ({"SLURM_JOB_ID": "4711", "SLURM_PROCID": "1", "RANK": "12"}, Owner("4711", 12)),
        ({"SCHEDMATE_JOB_ID": "mine", "SLURM_JOB_ID": "4711"}, Owner("mine", None)),
        ({"OMPI_COMM_WORLD_RANK": "2"}, Owner(None, 2)),
        ({"SLURM_JOB_ID": "", "RAY_JOB_ID": "01000000", "RANK": "first"}, Owner("01000000", None)),
    ],
)
def test_a_live_process_is_joined_by_its_environment(start: Start, environment: dict[str, str], owner: Owner) -> None:
    assert owner_of(start(environment)) == owner


@pytest.mark.parametrize("name", RANK_VARIABLES)
def test_a_rank_is_the_one_that_its_logs_carry(start: Start, name: str) -> None:
    environment = {"SLURM_JOB_ID": "4711", "SLURM_PROCID": "2", "RANK": "1", name: "7"}
    assert owner_of(start(environment)).rank == identify(environment).rank


def test_a_process_that_has_ended_has_no_owner() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    assert owner_of(process.pid) == Owner(None, None)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")
def test_another_users_process_has_no_owner(start: Start) -> None:
    pid = start({"SLURM_JOB_ID": "4711"})
    code = f"from streams.producers.gpu.processes import owner_of; print(owner_of({pid}))"
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all"]
    root = Path(__file__).parents[4]
    open_to_all = subprocess.run([*command, "cat", f"/proc/{pid}/environ"], capture_output=True, check=False)
    assert open_to_all.returncode != 0
    environment = CLEAN | {"PYTHONPATH": str(root)}
    done = subprocess.run(
        [*command, sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    if "Permission denied" in done.stderr:
        pytest.skip("the interpreter lies where another user may not go")
    assert done.stdout == "Owner(job=None, rank=None)\n", done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0",
        "4:memory:/user\n1:devices:/slurm/uid_1000/job_4711/step_batch\n",
        "0::/system.slice/slurmstepd.scope/job_4711",
    ],
)
def test_slurms_control_group_names_the_job_where_the_environment_is_closed(tmp_path: Path, line: str) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "cgroup").write_text(line)
    assert owner_of(7, proc=tmp_path) == Owner("4711", None)
    # Of several clusters, the group does not say which one's number that is.
    assert owner_of(7, proc=tmp_path, clusters=["beta"]) == Owner(None, None)


def test_another_control_group_names_none(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "cgroup").write_text("0::/user.slice/myjob_12/job_x/4711")
    (tmp_path / "7" / "environ").write_bytes(b"RANK=1\0")
    assert owner_of(7, proc=tmp_path) == Owner(None, 1)


@given(st.binary(max_size=300))
def test_any_environment_can_be_read(tmp_path_factory: pytest.TempPathFactory, block: bytes) -> None:
    folder = tmp_path_factory.mktemp("proc")
    (folder / "7").mkdir()
    (folder / "7" / "environ").write_bytes(block + b"\0SLURM_JOB_ID=4711\0")
    assert owner_of(7, proc=folder).job is not None


@pytest.mark.parametrize(
    "hostile",
    [
        {"RANK": "9" * 5000, "SLURM_JOB_ID": "1" * 5000},
        {"RANK": "\u0663", "RAY_JOB_CONFIG_JSON_ENV_VAR": "[" * 100_000},
        {"PADDING": "x" * (1 << 21), "RANK": "1", "SLURM_JOB_ID": "4711"},
        {"RANK": "-1", "RAY_JOB_CONFIG_JSON_ENV_VAR": '{"metadata": 3}'},
    ],
)
def test_no_users_environment_can_harm_the_agent(tmp_path: Path, hostile: dict[str, str]) -> None:
    (tmp_path / "7").mkdir()
    block = "\0".join(f"{name}={value}" for name, value in hostile.items())
    (tmp_path / "7" / "environ").write_bytes(block.encode())
    assert owner_of(7, proc=tmp_path) == Owner(None, None)


RUN = "sJ3SK1QYD16X00"


@pytest.mark.parametrize(
    "line",
    [
        f"0::/system.slice/slurmstepd.scope/{RUN}/step_0/user/task_0",
        f"0::/system.slice/n1_slurmstepd.scope/{RUN}/step_batch/user/task_special",
        f"0::/system.slice/slurmstepd.scope/{RUN}",
    ],
)
def test_a_control_group_may_name_the_run_of_a_job(tmp_path: Path, line: str) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "cgroup").write_text(line)
    assert owner_of(7, proc=tmp_path, job_of_run={RUN: "4711_3"}.get) == Owner("4711_3", None)
    assert owner_of(7, proc=tmp_path) == Owner(None, None)
    assert owner_of(7, proc=tmp_path, clusters=["beta"], job_of_run={RUN: "4711_3"}.get) == Owner(None, None)


@pytest.mark.parametrize("name", [RUN.lower(), RUN[:-1], f"{RUN}0", RUN.replace("J", "I"), f"x{RUN}"])
def test_another_name_is_no_run(tmp_path: Path, name: str) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "cgroup").write_text(f"0::/user.slice/{name}/step_0")
    assert owner_of(7, proc=tmp_path, job_of_run=lambda run: "4711") == Owner(None, None)
