"""The command line in processes forked from one that has loaded it: loading is most of a short command's time.

python -m tests.schedmate.forked FD serves on a socket: a request is the command's words, variables and directory, with its standard
streams; the answer is its exit code.
"""

import atexit
import functools
import gc
import importlib
import json
import os
import pkgutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

LARGEST = 1 << 20
"""Bytes of a request."""


def run_forked(
    *arguments: str | Path, text: bytes = b"", env: Mapping[str, str] | None = None, timeout_s: float = 60.0
) -> subprocess.CompletedProcess[bytes]:
    """Run `schedmate` with `arguments`, `text` on a pipe as its standard input, and the variables `env`; its own where None."""
    reading, writing = os.pipe()
    feed = threading.Thread(target=_feed, args=(writing, text))
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors, os.fdopen(reading, "rb") as given:
        feed.start()
        code = run_on((given.fileno(), out.fileno(), errors.fileno()), *arguments, env=env, timeout_s=timeout_s)
        out.seek(0)
        errors.seek(0)
        done = subprocess.CompletedProcess(arguments, code, out.read(), errors.read())
    feed.join()
    return done


def run_on(
    streams: tuple[int, int, int], *arguments: str | Path, env: Mapping[str, str] | None = None, timeout_s: float = 60.0
) -> int:
    """Run `schedmate` with open files as its standard streams; return its exit code."""
    server = _server()
    server.settimeout(timeout_s)
    request = {
        "arguments": [str(each) for each in arguments],
        "env": dict(os.environ if env is None else env),
        "cwd": str(Path.cwd()),
    }
    socket.send_fds(server, [json.dumps(request).encode()], streams)
    try:
        return int(server.recv(100))
    except TimeoutError:
        _server.cache_clear()  # its answer belongs to this request
        raise


def _feed(pipe: int, text: bytes) -> None:
    try:
        with os.fdopen(pipe, "wb") as stream:
            stream.write(text)
    except BrokenPipeError:
        pass  # the command read no more


@functools.cache
def _server() -> socket.socket:
    """Return a connection to the process that has everything loaded; it ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [sys.executable, "-m", "tests.schedmate.forked", str(theirs.fileno())]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


def _serve(connection: socket.socket) -> None:
    """Answer requests until the other side is gone. Returns in each forked process too, to end there as any command does."""
    from processors.job import JobProcessor
    from schedmate import cli
    from schedmate.analysis import analysis  # noqa: F401

    for command in pkgutil.iter_modules(cli.__path__):
        importlib.import_module(f"{cli.__name__}.{command.name}")
    for loaded_late in ("clickhouse_connect", "redis", "rich.markdown", "typer.rich_utils", "schedmate.assembly"):
        importlib.import_module(loaded_late)
    JobProcessor()
    gc.collect()
    gc.freeze()  # no child walks, and so copies, what all share
    while True:
        content, files, _, _ = socket.recv_fds(connection, LARGEST, 3)
        if not content:
            return
        child = os.fork()
        if not child:
            connection.close()
            _become(json.loads(content), files)
            return
        for file in files:
            os.close(file)
        _, status = os.waitpid(child, 0)
        connection.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(request: dict[str, object], files: list[int]) -> None:
    """Turn this process into the command."""
    from schedmate.cli import main

    for stream, file in enumerate(files):
        os.dup2(file, stream)
        os.close(file)
    for name, file, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        before = getattr(sys, name)
        setattr(sys, name, os.fdopen(file, mode, 1 if os.isatty(file) else -1, before.encoding, before.errors))
    os.environ.clear()
    os.environ.update(request["env"])  # type: ignore[call-overload]
    os.chdir(str(request["cwd"]))
    sys.argv = ["schedmate", *request["arguments"]]  # type: ignore[misc]
    sys.modules["__main__"].__package__ = None  # its usage and completion name the command, not this module
    main()


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
