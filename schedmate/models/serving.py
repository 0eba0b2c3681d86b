"""Starts a vLLM server with the flags that questions of ours need, and waits until it answers."""

import json
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType

from streams.model_worker.language_model import ModelError

STRUCTURED = json.dumps({"backend": "xgrammar", "disable_any_whitespace": True})
"""Free whitespace inside a schema can use up all tokens of a weak model; a fixed backend keeps answers the same from run to run."""

_FIND = "import importlib.util as i, sys; sys.exit(i.find_spec('vllm') is None)"
_INSTALL = "run `pip install '.[gpu]'` in the checkout, or name the Python that has it with --python"


@dataclass(frozen=True)
class Serving:
    """Options of a model server.

    Attributes:
        model: Directory or name of the model.
        name: What requests call it; empty: as `model`.
        host: Address to listen on.
        port: Port to listen on.
        longest: Tokens of a question and its answer.
        python: Interpreter whose environment holds vLLM.
        more: Further flags of vLLM.
    """

    model: str
    name: str
    host: str
    port: int
    longest: int
    python: str
    more: Sequence[str] = ()

    @property
    def url(self) -> str:
        """Address of the server, for the setting `language_model.servers`."""
        host = "127.0.0.1" if self.host in ("", "0.0.0.0", "::") else self.host  # noqa: S104  # asked, not bound
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/v1"

    def command(self) -> list[str]:
        """Return the command that starts it."""
        named = [f"--served-model-name={self.name}"] if self.name else []
        return [
            *(self.python, "-m", "vllm.entrypoints.openai.api_server"),
            f"--model={self.model}",
            *named,
            *(f"--host={self.host}", f"--port={self.port}", f"--max-model-len={self.longest}", "--seed=0"),
            *("--enable-prefix-caching", "--structured-outputs-config", STRUCTURED),
            *self.more,
        ]


def require_vllm(python: str) -> None:
    """Raise `ModelError` where `python` has no vLLM; the message states how to install it."""
    try:
        found = subprocess.run([python, "-c", _FIND], check=False, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ModelError(f"expected a Python with vLLM at {python}: {error}") from error
    if not found:
        raise ModelError(f"vLLM is not installed in the environment of {python}: {_INSTALL}")


def serve(serving: Serving, patience_s: float, ready: Callable[[], None]) -> int:
    """Run the server until it ends, and return its exit code, or 0 where it was stopped: SIGINT and SIGTERM go on to it.

    Args:
        serving: What to serve.
        patience_s: Seconds that it may take to answer.
        ready: Called once, when it answers.

    Raises:
        ModelError: There is no vLLM, or the server ended or was silent for too long at its start.
    """
    require_vllm(serving.python)
    stopped, child = False, None

    def stop(number: int, _: FrameType | None) -> None:
        nonlocal stopped
        stopped = True
        if child is not None:
            child.send_signal(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        child = subprocess.Popen(
            serving.command(), start_new_session=True
        )  # a terminal's Ctrl-C comes through us, once
        deadline = time.monotonic() + patience_s
        while child.poll() is None and not stopped and not _answers(serving.url):
            if time.monotonic() > deadline:
                raise ModelError(
                    f"expected {serving.url} to answer within {patience_s:g} s; it did not: see what it printed"
                )
            time.sleep(0.5)
        if child.poll() is None and not stopped:
            ready()
        elif not stopped:
            raise ModelError(
                f"the server ended with exit code {child.returncode} before it answered: see what it printed"
            )
        if stopped and child.poll() is None:
            child.terminate()  # the signal may have come before there was a child
        code = child.wait()
        return 0 if stopped else code
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if child is not None:
            _end(child)


def _end(child: "subprocess.Popen[bytes]") -> None:
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(30)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url.removesuffix('/v1')}/health", timeout=2) as response:  # noqa: S310  # http of our own making
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False
