"""A stand-in libnvidia-ml.so.1, compiled once, and a process that samples through the real binding with it."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[3]


@pytest.fixture(scope="session")
def fake_nvml(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds the stand-in."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler (cc): the stand-in for libnvidia-ml cannot be built; apt-get install gcc libc6-dev")
    folder = tmp_path_factory.mktemp("nvml")
    command = [compiler, "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run([*command, "-o", folder / "libnvidia-ml.so.1", HERE / "fake_nvml.c"], check=True)
    return folder


class Probe:
    """A process that samples when asked. `set` and `clear` change what the stand-in answers."""

    def __init__(self, library: Path, folder: Path, gpus: str, **environment: str) -> None:
        self.folder = folder
        environment = {**os.environ, "LD_LIBRARY_PATH": str(library), "PYTHONPATH": str(ROOT), **environment}
        environment |= {"FAKE_NVML_GPUS": gpus, "FAKE_NVML_DIR": str(folder)}
        self.process = subprocess.Popen(
            [sys.executable, HERE / "nvml_probe.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(folder / "stderr").open("wb"),
            env=environment,
            text=True,
        )
        self.about = self._line()

    def _line(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else (self.process.wait(10), (self.folder / "stderr").read_text())

    def sample(self) -> list[dict[str, Any]]:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        samples = self._line()
        assert isinstance(samples, list), samples
        return samples

    def sample_until(self, good: Callable[[list[dict[str, Any]]], bool], seconds: float = 15) -> list[dict[str, Any]]:
        deadline = time.monotonic() + seconds
        while not good(samples := self.sample()):
            assert time.monotonic() < deadline, samples
            time.sleep(0.05)
        return samples

    def set(self, name: str, content: object = "") -> None:
        hidden = self.folder / "being-written"
        hidden.write_text(str(content))
        hidden.rename(self.folder / name)

    def clear(self, name: str) -> None:
        (self.folder / name).unlink()

    def close(self) -> Any:
        assert self.process.stdin is not None
        self.process.stdin.close()
        last = self._line()
        self.process.wait(10)
        return last


@pytest.fixture
def probe(fake_nvml: Path, tmp_path: Path) -> Iterator[Callable[..., Probe]]:
    """Starts probes; ends them with the test."""
    probes = []

    def start(gpus: str, **environment: str) -> Probe:
        probes.append(Probe(fake_nvml, tmp_path, gpus, **environment))
        return probes[-1]

    yield start
    for one in probes:
        one.process.kill()
        one.process.wait()
        for pipe in (one.process.stdin, one.process.stdout):
            assert pipe is not None
            pipe.close()
