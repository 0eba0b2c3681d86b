"""Starts and stops the real servers that tests talk to, each on loopback with ports of its own."""

import os
import socket
import subprocess

import pytest

CI = os.environ.get("CI", "").lower() in ("1", "true")


def races(usual: int) -> int:
    """Return how many races a test runs: `usual`, or what SCHEDMATE_TEST_RACES says (`make races` does)."""
    return int(os.environ.get("SCHEDMATE_TEST_RACES", usual))


def require(present: bool, what: str, how: str) -> None:
    """Fail in CI, and skip elsewhere, where `what` is not `present`; `how` says how to get it."""
    if present:
        return
    message = f"{what} is not here. {how}"
    if CI:
        pytest.fail(message)
    pytest.skip(message)


def free_port() -> int:
    """Return a loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def kill(process: "subprocess.Popen[bytes]") -> None:
    """End a server as a power failure would, and wait until it is gone: one that is asked to end may wait for its clients."""
    process.kill()
    process.wait(30)
