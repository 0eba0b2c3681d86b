"""A real vLLM server on loopback, on CPU, with a model of random weights: answers inside the schema, and nonsense otherwise.

Its environment is 5.8 GB, so it is made on demand (`tests/servers/install-vllm.sh`) and not in CI: what needs it skips, with the reason,
where it is absent. The server is started by our own command, `schedmate models serve`.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import free_port

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = Path(os.environ.get("SCHEDMATE_TEST_VLLM", ROOT / ".cache" / "vllm"))
PATIENCE_S = 300


def vllm_python() -> str:
    """Return the Python that has vLLM; skip where there is none."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        pytest.skip(
            f"no vLLM in {ENVIRONMENT}: tests/servers/install-vllm.sh makes it (5.8 GB of disk, minutes, 4 GB of memory while a test runs; "
            "not in CI for that reason), or SCHEDMATE_TEST_VLLM names another environment"
        )
    return str(python)


class VllmServer:
    """`schedmate models serve` on a model of random weights.

    Attributes:
        url: Where it answers.
        process: The command.
    """

    def __init__(self, scratch: Path, *options: str) -> None:
        python = vllm_python()
        model = scratch / "random"
        made = subprocess.run(
            [python, str(ROOT / "tests" / "servers" / "random_model.py"), str(model)],
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert made.returncode == 0, made.stderr[-2000:]
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/v1"
        self._log = scratch / "vllm.log"
        environment = os.environ | {
            "VLLM_CPU_KVCACHE_SPACE": "1",
            "HF_HUB_OFFLINE": "1",
            "VLLM_NO_USAGE_STATS": "1",
            "OMP_NUM_THREADS": "1",
            "PYTHONUNBUFFERED": "1",
        }
        environment.pop("PYTHONPATH", None)
        command = [
            *("nice", "-n", "15", sys.executable, "-m", "schedmate", "models", "serve", str(model)),
            *("--python", python, "--port", str(port), "--name", "random", "--patience", str(PATIENCE_S)),
            *("--", "--dtype=float32", "--enforce-eager", *options),
        ]
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=log, stderr=log)

    def wait(self) -> None:
        """Return once the command says that the server is ready."""
        deadline = time.monotonic() + PATIENCE_S + 30
        while f"ready: {self.url}" not in self.log():
            if self.process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"vLLM did not come up:\n{self.log()[-3000:]}")
            time.sleep(0.5)

    def log(self) -> str:
        """Return what the command and the server have printed."""
        return self._log.read_text(errors="replace")

    def stop(self) -> int:
        """Ask it to end, as a service manager does; return the command's exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


@pytest.fixture(scope="module")
def vllm_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VllmServer]:
    """A running vLLM, one a module."""
    server = VllmServer(tmp_path_factory.mktemp("vllm"))
    try:
        server.wait()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def vllm_embedder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VllmServer]:
    """A running vLLM that serves vectors, one a module."""
    server = VllmServer(tmp_path_factory.mktemp("vllm"), "--runner=pooling", "--convert=embed")
    try:
        server.wait()
        yield server
    finally:
        server.stop()
