"""The wheel in clean environments: the base is small and works, and each extra brings what it promises."""

import json
import os
import shutil
import subprocess
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

import schedmate

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

LARGEST_BASE_MB = 160
INSTALLERS = {"pip", "setuptools", "pkg_resources"}
LOG = "".join(f"step {step} loss {1 / step:.4f} step_time 0.5s\n" for step in range(1, 60))


class Environment:
    """A virtual environment, with pip."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.python = directory / "bin" / "python"

    def install(self, wanted: str) -> None:
        self._check([str(self.python), "-m", "pip", "--quiet", "--disable-pip-version-check", "install", wanted])

    def copy(self, directory: Path) -> "Environment":
        # Python finds its environment from where it is started, so that a copy is one of its own.
        shutil.copytree(self.directory, directory, symlinks=True)
        return Environment(directory)

    def imports(self, *modules: str) -> None:
        self._check([str(self.python), "-c", f"import {', '.join(modules)}"], cwd=self.directory)

    def schedmate(self, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.python), "-m", "schedmate", *arguments],
            cwd=self.directory,
            env={"PATH": os.environ["PATH"], "HOME": str(self.directory)},
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    @staticmethod
    def _check(command: list[str], cwd: Path | None = None) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == 0, done.stderr


Make = Callable[[str], Environment]


@pytest.fixture(scope="module")
def base(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    directory = tmp_path_factory.mktemp("base")
    venv.create(directory, with_pip=True)
    environment = Environment(directory)
    environment.install(str(wheel))
    return environment


@pytest.fixture(scope="module")
def make(base: Environment, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Make an environment that holds the wheel with an extra, and nothing else."""

    def made(extra: str) -> Environment:
        environment = base.copy(tmp_path_factory.mktemp("extras") / extra)
        environment.install(f"{wheel}[{extra}]")
        return environment

    return made


def test_the_base_is_small(base: Environment) -> None:
    files = [file for file in base.directory.rglob("*") if file.is_file() and not file.is_symlink()]
    ours = [file for file in files if not INSTALLERS & {part.partition("-")[0] for part in file.parts}]
    assert sum(file.stat().st_blocks * 512 for file in ours) / 2**20 < LARGEST_BASE_MB  # as `du -m` counts


def test_the_base_says_its_version(base: Environment) -> None:
    assert base.schedmate("--version").stdout == f"schedmate {schedmate.__version__}\n"


def test_the_base_reads_a_stored_log(base: Environment, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(LOG)
    analyzed = base.schedmate("analyze", "--format", "json", str(log))
    assert json.loads(analyzed.stdout)["progress"]["last_step"] == 59, analyzed.stderr
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
    base.imports("schedmate.cli.collect", "streams.producers.collector", "scheduler_bridge.schedulers.slurm.events")
    base.imports(
        "scheduler_bridge", "streams.kafka", "schedmate.services.bridge", "scheduler_bridge.schedulers.slurm.actuator"
    )


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
    assert f"pip install '.[{extra}]'" in line


def test_the_worker_gets_as_far_as_its_broker(make: Make) -> None:
    worker = make("worker")
    worker.imports("streams.runtimes.faust_worker")
    # aiokafka asks for no compressor by itself, and a worker without one ends as soon as it starts.
    worker.imports("cramjam")
    assert "kafka.brokers: expected" in worker.schedmate("--set", "kafka.brokers=", "worker").stderr


def test_the_sink_gets_as_far_as_its_servers(make: Make) -> None:
    sink = make("sink")
    sink.imports("sinks.clickhouse", "sinks.redis")
    away = sink.schedmate("--set", "clickhouse.url=http://127.0.0.1:1/schedmate", "query", "verdicts")
    assert "127.0.0.1:1" in away.stderr
    embedded = sink.schedmate("--set", f"clickhouse.url=chdb://{sink.directory}/db", "query", "verdicts")
    assert "pip install '.[embedded]'" in embedded.stderr


def test_the_embedded_engine_answers_queries(make: Make) -> None:
    embedded = make("embedded")
    embedded.imports("schedmate.demo.run")
    url = f"clickhouse.url=chdb://{embedded.directory}/database"
    assert embedded.schedmate("--set", url, "migrate").returncode == 0
    asked = embedded.schedmate("--set", url, "query", "--json", "--sql", "SELECT count() AS jobs FROM job_metrics")
    assert json.loads(asked.stdout) == {"jobs": 0}, asked.stderr


def test_the_light_embedder_loads(make: Make) -> None:
    make("minilm").imports("onnxruntime", "tokenizers")
