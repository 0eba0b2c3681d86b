"""Whatever is wrong with us or our settings: the command runs, with its exit code, and standard error has a warning."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from streams.producers.build_pyz import build
from streams.producers.environment import state_directory

from .test_standalone_pipe import PYTHON

ROOT = Path(__file__).resolve().parents[3]
RUN = ["sh", "-c", "echo ran; echo err >&2; exit 7"]


@pytest.fixture(scope="module")
def pyz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("pyz") / "schedmate-pipe.pyz"
    build(file)
    return file


@pytest.fixture(params=["schedmate pipe", "standalone"])
def pipe(request: pytest.FixtureRequest, pyz: Path) -> list[str]:
    return [sys.executable, "-m", "schedmate", "pipe"] if request.param == "schedmate pipe" else [*PYTHON, str(pyz)]


def call(
    command: list[str], tmp_path: Path, data: bytes = b"", limits: Callable[[], None] | None = None, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "SCHEDMATE_PRODUCER__DIRECTORY": str(tmp_path),
        "SCHEDMATE_PRODUCER__CLOSE_SECONDS": "0",
        "SCHEDMATE_KAFKA__BROKERS": "127.0.0.1:1",
        "SCHEDMATE_SOCKET": str(tmp_path / "socket"),
        **variables,
    }
    return subprocess.run(
        command,
        input=data,
        capture_output=True,
        env={name: value for name, value in env.items() if value != "unset"},
        preexec_fn=limits,
        timeout=120,
        check=False,
    )


def ran(result: subprocess.CompletedProcess[bytes], *, warned: bool = True) -> bool:
    assert (result.stdout, result.returncode) == (b"ran\n", 7), result
    assert b"err\n" in result.stderr
    assert b"Traceback" not in result.stderr
    assert (b"schedmate pipe: " in result.stderr) or not warned, result
    return True


VARIABLES = [
    {"RANK": "abc"},
    {"RANK": "-1"},
    {"RANK": "1" * 40},
    {"SLURM_PROCID": "\udcff"},
    {"SLURM_RESTART_COUNT": "x", "SLURM_JOB_ID": "7"},
    {"SCHEDMATE_RANK": "zero", "RANK": "nought", "SLURM_PROCID": "none"},
    {"SCHEDMATE_ATTEMPT": "first"},
    {"SCHEDMATE_PRODUCER__SPOOL_MB": "many"},
    {"SCHEDMATE_PRODUCER__HOLD_SECONDS": "nan"},
    {"SCHEDMATE_PRODUCER__CLOSE_SECONDS": "1e99"},
]


@pytest.mark.parametrize("variables", VARIABLES, ids=",".join)
def test_a_variable_that_cannot_be_read_is_left_out(pipe: list[str], tmp_path: Path, variables: dict[str, str]) -> None:
    assert ran(call([*pipe, "--job", "x", "--", *RUN], tmp_path, b"", None, **variables))


def test_a_filter_passes_everything_on_with_a_variable_that_cannot_be_read(pipe: list[str], tmp_path: Path) -> None:
    data = b"line\n" * 50_000
    result = call([*pipe, "--job", "x"], tmp_path, data, RANK="abc")
    assert (result.stdout, result.returncode) == (data, 0)
    assert b"schedmate pipe: expected a number in RANK" in result.stderr


def test_a_job_without_an_id_runs_and_nothing_is_shipped(pipe: list[str], tmp_path: Path) -> None:
    result = call([*pipe, "--", *RUN], tmp_path)
    assert ran(result)
    assert b"nothing is shipped: no job id" in result.stderr
    assert call(pipe, tmp_path, b"x\n").stdout == b"x\n"
    assert not list(tmp_path.glob("spool/*"))


@pytest.mark.parametrize(
    "options",
    [
        ["--rank", "x"],
        ["--rank="],
        ["--attempt", "-1"],
        ["--rnk", "3"],
        ["--rnk=3"],
        ["--verbose"],
        ["--verbose", "--rank", "3"],
        ["--node"],
    ],
    ids=" ".join,
)
def test_an_option_that_cannot_be_understood_is_left_out(pipe: list[str], tmp_path: Path, options: list[str]) -> None:
    assert ran(call([*pipe, "--job", "x", *options, "--", *RUN], tmp_path))


@pytest.mark.parametrize("arguments", [["--jib", "7"], ["--job"], ["--jib", "7", "--"]], ids=" ".join)
def test_usage_that_names_no_command_is_an_error(pipe: list[str], tmp_path: Path, arguments: list[str]) -> None:
    result = call([*pipe, *arguments], tmp_path)
    assert (result.returncode, result.stdout) == (2, b"")
    assert b"expected" in result.stderr or b"jib" in result.stderr or b"--job" in result.stderr


def test_a_command_that_cannot_be_found_is_an_error(pipe: list[str], tmp_path: Path) -> None:
    assert call([*pipe, "--job", "x", "--", "/nowhere/at/all"], tmp_path).returncode == 127
    assert call([*pipe, "--job", "x", "--", "/"], tmp_path).returncode == 126


@pytest.mark.parametrize("fault", ["missing", "a directory", "no TOML", "no text", "no section", "no number"])
@pytest.mark.parametrize("given", ["variable", "option"])
def test_a_settings_file_that_cannot_be_read_is_left_out(tmp_path: Path, fault: str, given: str) -> None:
    file = tmp_path / "settings.toml"
    if fault == "a directory":
        file.mkdir()
    elif fault != "missing":
        content = {"no TOML": b"[producer\n", "no text": b"\xff", "no section": b"producer = 3\nslurm = 3\n"}
        file.write_bytes(content.get(fault, b'[producer]\nspool_mb = []\n[slurm]\nclusters = "x"\n'))
    pipe = [sys.executable, "-m", "schedmate"]
    if given == "option":
        assert ran(call([*pipe, "--config", str(file), "pipe", "--job", "x", "--", *RUN], tmp_path))
    else:
        assert ran(call([*pipe, "pipe", "--job", "x", "--", *RUN], tmp_path, SCHEDMATE_CONFIG=str(file)))


@pytest.mark.parametrize("change", ["producer.spool_mb=x", "producer.chunk_lines=0"])
def test_a_change_of_a_setting_that_is_refused_is_left_out(tmp_path: Path, change: str) -> None:
    assert ran(call([sys.executable, "-m", "schedmate", "--set", change, "pipe", "--job", "x", "--", *RUN], tmp_path))


@pytest.mark.parametrize("variable", ["SCHEDMATE_NO_SUCH__SETTING", "SCHEDMATE_KAFKA__BROKERS"])
def test_settings_that_only_shipping_needs_stop_nothing(tmp_path: Path, variable: str) -> None:
    pipe = [sys.executable, "-m", "schedmate", "pipe", "--job", "x", "--", *RUN]
    assert ran(call(pipe, tmp_path, b"", None, **{variable: "::::"}), warned=False)


@pytest.mark.parametrize(
    "module", ["msgspec", "kafka", "pydantic", "streams.producers.pipe", "streams.producers.tap", "mmap"]
)
def test_a_missing_dependency_stops_nothing(tmp_path: Path, module: str) -> None:
    code = f"import sys; sys.modules[{module!r}] = None; from schedmate.pipe import main; main()"
    result = call([sys.executable, "-c", code, "pipe", "--job", "x", "--", *RUN], tmp_path)
    assert ran(result, warned=module not in {"msgspec", "kafka", "pydantic"})
    result = call([sys.executable, "-c", code, "pipe", "--job", "x"], tmp_path, b"x\n" * 100_000)
    assert (result.stdout, result.returncode) == (b"x\n" * 100_000, 0)


@pytest.mark.parametrize("directory", ["/proc/nowhere", "/dev/null", "/dev/full/x", "\udcff" * 300])
def test_a_spool_that_cannot_be_written_stops_nothing(pipe: list[str], tmp_path: Path, directory: str) -> None:
    result = call([*pipe, "--job", "x", "--", *RUN], tmp_path, SCHEDMATE_PRODUCER__DIRECTORY=directory)
    assert ran(result, warned=False)


@pytest.mark.parametrize(
    "variables",
    [{"HOME": "unset"}, {"HOME": "/dev/null/home", "SCHEDMATE_PRODUCER__DIRECTORY": "unset"}],
    ids=["no home", "one that cannot be made"],
)
def test_no_home_stops_nothing(pipe: list[str], tmp_path: Path, variables: dict[str, str]) -> None:
    result = call([*pipe, "--job", "x", "--", *RUN], tmp_path, b"", None, **variables)
    assert ran(result, warned=False)


def test_a_directory_that_depends_on_where_a_job_runs_is_not_used() -> None:
    assert state_directory({"XDG_STATE_HOME": "relative"}) == f"/var/tmp/schedmate-{os.geteuid()}"


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    pipe = [sys.executable, "-m", "schedmate", "pipe", "--log", "/dev/null/log", "--job", "x", "--", *RUN]
    assert ran(call(pipe, tmp_path), warned=False)


@pytest.mark.parametrize("stream", ["2>&-", "2>/dev/full", "<&-", "<&- 2>&-"])
def test_broken_standard_streams_stop_nothing(pipe: list[str], tmp_path: Path, stream: str) -> None:
    script = ["sh", "-c", f'exec "$@" {stream}', "sh", *pipe, "--job", "x", "--", "sh", "-c", "echo ran; exit 7"]
    result = call(script, tmp_path, RANK="abc")
    assert (result.returncode, result.stdout) == (7, b"ran\n")


def test_a_standard_error_that_nobody_reads_stops_nothing(pipe: list[str], tmp_path: Path) -> None:
    script = f"exec 3>&1; ( {' '.join(pipe)} --job x -- sh -c 'echo ran; exit 7' 2>&1 >&3; echo $? >&3 ) | true"
    result = call(["bash", "-c", script], tmp_path, RANK="abc")
    assert result.stdout == b"ran\n7\n"


@pytest.mark.parametrize("files", range(4, 24))
def test_too_many_open_files_stop_nothing(pipe: list[str], tmp_path: Path, files: int) -> None:
    # The limit counts from the moment at which everything that Python itself needs is loaded.
    code = (
        f"import os, resource, sys\nsys.path.insert(0, {pipe[-1] if pipe[-1].endswith('.pyz') else str(ROOT)!r})\n"
        "from streams.producers import standalone_pipe\n"
        "import ctypes, threading\n"
        "ctypes.CDLL('libgcc_s.so.1')\n"  # Python 3.8 loads it when a thread ends
        f"used = len(os.listdir('/proc/self/fd'))\nresource.setrlimit(resource.RLIMIT_NOFILE, ({files}, 4096))\n"
        "standalone_pipe.main()"
    )
    python = PYTHON if pipe[-1].endswith(".pyz") else [sys.executable]
    result = call([*python, "-c", code, "--job", "x", "--", *COUNT_ONLY], tmp_path)
    assert (result.stdout, result.returncode) == (b"ran\n", 7), result
    result = call([*python, "-c", code, "--job", "x"], tmp_path, b"x\n" * 100_000)
    assert (result.stdout, result.returncode) == (b"x\n" * 100_000, 0), result


COUNT_ONLY = ["sh", "-c", "echo ran; exit 7"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user who has no more processes")
@pytest.mark.parametrize("processes", [1, 2, 3, 4])
def test_a_limit_of_processes_stops_nothing(tmp_path: Path, processes: int, pyz: Path) -> None:
    """A fork, or a thread, fails: the command runs in place of the pipe, or its bytes only pass through."""
    tmp_path.chmod(0o777)
    python = ["/usr/bin/python3", "-I", "-S"]
    for folder in (tmp_path, *tmp_path.parents, *pyz.parents):
        if folder.stat().st_uid == 0 and len(folder.parts) > 2:
            folder.chmod(folder.stat().st_mode | 0o011)

    def limit() -> None:
        os.setgroups([])
        os.setgid(48_000 + processes)
        os.setuid(48_000 + processes)
        resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))

    result = call([*python, str(pyz), "--job", "x", "--", *COUNT_ONLY], tmp_path, limits=limit)
    if b"can't open file" in result.stderr:
        pytest.skip("this interpreter is root's alone")
    assert (result.stdout, result.returncode) == (b"ran\n", 7), result
