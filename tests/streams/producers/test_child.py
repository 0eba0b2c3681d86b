import os
import subprocess
import sys

import pytest

LATER = {"typing", "re", "json", "threading", "pathlib", "logging", "streams.producers.pipe", "msgspec"}
"""What takes its time to load, and so does it while the command runs already."""


@pytest.mark.parametrize("entry", ["streams.producers.standalone_pipe", "schedmate.pipe"])
def test_a_command_waits_for_little_to_be_loaded(entry: str) -> None:
    loaded = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            f"import sys; sys.path[:0] = {sys.path!r}; import {entry}; print(*sys.modules)",
        ],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout.split()
    assert entry in loaded
    assert "streams.producers.child" in loaded
    assert not LATER.intersection(loaded)


@pytest.mark.parametrize(("command", "status"), [(["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -9 $$"], -9)])
def test_it_is_waited_for(command: list[str], status: int) -> None:
    assert outcome(command) == (status, "")


def test_one_that_cannot_be_started_says_why() -> None:
    assert outcome(["/no/such"]) == (127, "schedmate pipe: /no/such: No such file or directory\n")
    assert outcome(["/"]) == (126, "schedmate pipe: /: Permission denied\n")


def outcome(command: list[str]) -> tuple[int, str]:
    """Start `command` in a process of its own, because its signals are held back and its standard input is let go."""
    code = f"from streams.producers.child import Child; print(Child({command!r}).wait())"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True, env=dict(os.environ)
    )
    return int(done.stdout), done.stderr
