"""The wheel in clean environments: the base is small and works, and each extra brings what it promises."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import schedmate

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

LARGEST_BASE_MB = 160
LOG = "".join(f"step {step} loss {1 / step:.4f} step_time 0.5s\n" for step in range(1, 60))


class Environment:
    """A virtual environment that holds the wheel with `extra`, and nothing else."""

    def __init__(self, directory: Path, wheel: Path, extra: str) -> None:
        self.directory = directory
        self.python = directory / "bin" / "python"
        self._command([sys.executable, "-m", "venv", str(directory)])
        wanted = f"{wheel}[{extra}]" if extra else str(wheel)
        pip = [str(self.python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        self._command([*pip, "install", wanted])
        self._command([*pip, "uninstall", "--yes", "setuptools", "pip"])

    def schedmate(self, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        return self.run(str(self.directory / "bin" / "schedmate"), *arguments, given=given)

    def imports(self, *modules: str) -> None:
        done = self.run(str(self.python), "-c", f"import {', '.join(modules)}")
        assert done.returncode == 0, done.stderr

    def run(self, *command: str, given: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.directory,
            env={"PATH": os.environ["PATH"], "HOME": str(self.directory), "COLUMNS": "200"},
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    @staticmethod
    def _command(command: list[str]) -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr


Make = Callable[[str], Environment]


@pytest.fixture(scope="module")
def make(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Make:
    return lambda extra: Environment(tmp_path_factory.mktemp(extra or "base"), wheel, extra)


@pytest.fixture(scope="module")
def base(make: Make) -> Environment:
    return make("")


def test_the_base_is_small(base: Environment) -> None:
    files = [file for file in base.directory.rglob("*") if file.is_file() and not file.is_symlink()]
    assert sum(file.stat().st_blocks * 512 for file in files) / 1e6 < LARGEST_BASE_MB


def test_the_base_says_its_version(base: Environment) -> None:
    assert base.schedmate("--version").stdout == f"schedmate {schedmate.__version__}\n"


def test_the_base_reads_a_stored_log(base: Environment, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(LOG)
    analyzed = base.schedmate("analyze", "--json", str(log))
    assert json.loads(analyzed.stdout)["step"] == 59, analyzed.stderr
    assert base.schedmate("classify", str(log)).returncode == 0


def test_the_base_follows_a_log(base: Environment) -> None:
    watched = base.schedmate("watch", "-", given=LOG)
    assert watched.returncode == 0, watched.stderr


def test_the_base_passes_a_job_through(base: Environment) -> None:
    piped = base.schedmate("--set", "kafka.brokers=127.0.0.1:1", "pipe", "--job", "1", given=LOG)
    assert piped.returncode == 0, piped.stderr
    assert piped.stdout == LOG


def test_the_base_samples_gpus(base: Environment) -> None:
    assert base.schedmate("gpu-agent", "--help").returncode == 0
    base.imports("streams.producers.gpu")


def test_the_base_ships_files_and_events_and_subscribes(base: Environment) -> None:
    base.imports("schedmate.cli.collect", "streams.producers.collector", "streams.producers.slurm_events")
    base.imports("scheduler_bridge", "streams.kafka", "schedmate.bridging", "scheduler_bridge.actuators.slurm")


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["demo"], "embedded"),
        (["worker"], "worker"),
        (["sink"], "sink"),
        (["migrate"], "sink"),
        (["query", "verdicts"], "sink"),
        (["explain", "1"], "sink"),
        (["status"], "sink"),
        (["--set", "processors.embedder=onnx", "--set", "processors.embedder_model=/tmp", "classify", "-"], "minilm"),
    ],
    ids=lambda each: each if isinstance(each, str) else each[-1],
)
def test_a_command_without_its_extra_says_in_a_line_which_one(
    base: Environment, arguments: list[str], extra: str
) -> None:
    done = base.schedmate(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert f"pip install 'schedmate[{extra}]'" in line


def test_the_worker_is_ready_to_start(make: Make) -> None:
    worker = make("worker")
    worker.imports("streams.runtimes.faust_worker", "schedmate.cli.worker")
    compressed = "from aiokafka import codec; raise SystemExit(not (codec.has_lz4() and codec.has_zstd()))"
    assert worker.run(str(worker.python), "-c", compressed).returncode == 0
    done = worker.schedmate("--set", "kafka.brokers=", "worker")
    assert "kafka.brokers: expected" in done.stderr


def test_the_sink_gets_as_far_as_its_server(make: Make) -> None:
    sink = make("sink")
    sink.imports("sinks.clickhouse", "sinks.redis", "schedmate.sinking")
    away = sink.schedmate("--set", "clickhouse.url=http://127.0.0.1:1/schedmate", "query", "verdicts")
    assert "127.0.0.1:1" in away.stderr
    embedded = sink.schedmate("--set", f"clickhouse.url=chdb://{sink.directory}/db", "query", "verdicts")
    assert "pip install 'schedmate[embedded]'" in embedded.stderr


def test_the_embedded_engine_shows_the_demo(make: Make) -> None:
    embedded = make("embedded")
    shown = embedded.schedmate("demo")
    assert "What was promised" in shown.stdout, shown.stderr


def test_the_light_embedder_loads(make: Make) -> None:
    make("minilm").imports("onnxruntime", "tokenizers")
