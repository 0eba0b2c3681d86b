"""`schedmate-pipe.pyz`, built and run in the oldest Python that is here, against a collector's intake."""

import ast
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import resolve_name
from pathlib import Path

import pytest

from schedmate_records import OWN_START, EventKind, JobEvent, LogChunk
from streams.producers import pipe_records
from streams.producers.build_pyz import ROOT, build, main, modules
from streams.producers.envelope import TOPICS
from streams.producers.file_trust import FileTrust
from streams.producers.pipe_intake import PipeIntake
from streams.producers.shipper import Shipper
from streams.producers.spool import SpoolSettings
from streams.rights import ROLES
from tests.metric_values import value

from .switchable import Switchable, segments, wait_for

OLD = "3.8"
QUICK = (0.02, 0.1)
HERE = FileTrust(frozenset({os.geteuid()}))


def old_python() -> str:
    """Return the interpreter of the oldest version that the file supports; this one where it is not here."""
    for root in (os.environ.get("PYENV_ROOT", "~/.pyenv"), "/opt/pyenv"):
        for found in sorted(Path(root).expanduser().glob(f"versions/{OLD}.*/bin/python{OLD}")):
            return str(found)
    return shutil.which(f"python{OLD}") or sys.executable


PYTHON = [old_python(), "-I", "-S"]


@pytest.fixture(scope="module")
def pyz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("pyz") / "schedmate-pipe.pyz"
    build(file)
    return file


class Node:
    """A node: a broker, a collector's intake that can be away, and a job's directory."""

    def __init__(self, directory: Path, pyz: Path) -> None:
        self.directory, self.pyz = directory, pyz
        self.python = PYTHON
        self.broker = Switchable()
        self.spool = directory / "spool"
        self.socket = directory / "collector.sock"
        self.shipper: Shipper | None = None
        self.intake: PipeIntake | None = None

    def start(self, trust: FileTrust = HERE) -> PipeIntake:
        self.shipper = Shipper(self.broker.connect, "collector", backoff=QUICK)
        self.intake = PipeIntake(self.socket, trust, self.shipper.offer)
        return self.intake

    def stop(self) -> None:
        if self.intake is not None and self.shipper is not None:
            self.intake.close()
            self.shipper.close(1)
            self.intake = None

    def command(self, *command: str) -> list[str]:
        options = ["--job", "7", "--node", "n1", "--socket", str(self.socket)]
        return [*self.python, str(self.pyz), *options, *(["--", *command] if command else [])]

    def environment(self, hold: float, **more: float) -> dict[str, str]:
        settings = {"directory": self.directory, "hold_seconds": hold, **more}
        named = {f"SCHEDMATE_PRODUCER__{name.upper()}": str(value) for name, value in settings.items()}
        return {"PATH": os.environ["PATH"], **named}

    def call(
        self, *command: str, data: bytes = b"", hold: float = 120.0, **more: float
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            self.command(*command),
            input=data,
            capture_output=True,
            env=self.environment(hold, **more),
            timeout=300,
            check=False,
        )

    def lines(self, stream: str = "stdout") -> list[str]:
        # A chunk whose acknowledgement was lost on the way comes again, under the same number.
        chunks = [chunk for chunk in self.broker.chunks if chunk.stream == stream]
        once = {(chunk.producer, chunk.first_piece, len(chunk.lines)): chunk for chunk in chunks}
        return [line for chunk in once.values() for line in chunk.lines]


@pytest.fixture
def node(tmp_path: Path, pyz: Path) -> Iterator[Node]:
    node = Node(tmp_path, pyz)
    yield node
    node.stop()


def imports(node: ast.AST, package: str) -> Iterator[str]:
    """Yield the modules that `node` imports when it runs: imports under `TYPE_CHECKING` are for type checkers."""
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        module = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module or ""
        yield from [f"{module}.{alias.name}" for alias in node.names] if module == package else [module]
    for child in ast.iter_child_nodes(node):
        yield from imports(child, package)


def test_archive_needs_only_itself_and_the_standard_library_of_an_old_python() -> None:
    names = {".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in modules()}
    assert {"streams.producers.pipe", "streams.producers.standalone_pipe"} <= names
    for file in modules():
        tree = ast.parse((ROOT / file).read_text(), feature_version=(3, 8))
        for name in imports(tree, ".".join(file.parent.parts)):
            assert name in names or name.partition(".")[0] in sys.stdlib_module_names, (file, name)


def test_an_option_is_no_file_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for asked in ("--help", "--unknown"):
        with pytest.raises(SystemExit):
            main([asked])
    assert not list(tmp_path.iterdir())


def test_what_it_writes_is_what_the_records_say() -> None:
    assert set(TOPICS) == set(ROLES["pipe"].writes)
    kinds = (pipe_records.STARTED, pipe_records.ENDED, pipe_records.LINES_LOST)
    assert kinds == (EventKind.STARTED, EventKind.ENDED, EventKind.LINES_LOST)


def test_a_command_is_passed_through_and_shipped_with_its_start_and_end(node: Node) -> None:
    node.start()
    result = node.call("sh", "-c", "printf 'a\\nb\\377\\n'; echo err >&2; exit 3")
    assert (result.stdout, result.stderr, result.returncode) == (b"a\nb\xff\n", b"err\n", 3)
    wait_for(lambda: len(node.broker.events) == 2)
    chunks = {chunk.stream: chunk for chunk in node.broker.chunks}
    out = chunks["stdout"]
    expected = LogChunk(
        job="7",
        incarnation=out.incarnation,
        node="n1",
        producer=out.producer,
        first_line=1,
        first_piece=1,
        lines=["a", "b\\xff"],
        time=out.time,
    )
    assert out == expected
    assert out.incarnation.startswith(OWN_START)
    assert {each.incarnation for each in (*node.broker.chunks, *node.broker.events)} == {out.incarnation}
    assert chunks["stderr"].lines == ["err"]
    started, ended = node.broker.events
    assert (started.kind, ended.kind, ended.exit_code) == (EventKind.STARTED, EventKind.ENDED, 3)
    assert isinstance(started, JobEvent)
    assert (started.scheduler, started.nodes, started.directory) == ("pipe", ["n1"], str(Path.cwd()))
    assert "exit 3" in started.command
    assert {message.key for message in node.broker.written} == {b"7"}
    wait_for(lambda: not segments(node.spool))


def test_a_signal_that_kills_the_command_kills_the_pipe(node: Node) -> None:
    assert node.call("sh", "-c", "kill -9 $$").returncode == -signal.SIGKILL
    assert node.call("no-such-command").returncode == 127


def is_sent_by_next_pipe(node: Node) -> bool:
    """Return whether nothing is left after another pipe of this user. On a busy host it may end before it has sent all."""
    node.call()
    return not segments(node.spool)


@pytest.mark.parametrize("away", [False, True], ids=["collector", "no collector"])
def test_the_filter_passes_every_byte(node: Node, away: bool) -> None:
    if not away:
        node.start()
    data = bytes(range(256)) * 20_000 + b"\n" + b"".join(b"line %d\n" % number for number in range(50_000))
    result = node.call(data=data)
    assert result.stdout == data
    assert result.returncode == 0
    if away:
        assert b"the collector was away or slow" in result.stderr
        node.start()
        wait_for(lambda: is_sent_by_next_pipe(node))
    wait_for(lambda: "line 49999" in node.lines()[-5:])
    assert [line for line in node.lines() if line.startswith("line ")] == [f"line {number}" for number in range(50_000)]
    assert not [event for event in node.broker.events if event.kind == EventKind.LINES_LOST]


def test_what_it_left_is_sent_by_a_pipe_or_collector_of_the_same_user_too(node: Node) -> None:
    node.call(data=b"left\n", close_seconds=0.1)
    shipper = Shipper(node.broker.connect, "other", adopt=SpoolSettings(node.spool), backoff=QUICK, adopt_every=0.1)
    wait_for(lambda: node.lines() == ["left"])
    wait_for(lambda: not segments(node.spool))
    shipper.close(5)


def test_a_collector_that_comes_and_goes_gets_every_line_once_in_order(node: Node) -> None:
    node.start()
    code = "import time\nfor i in range(300): print(i, flush=True); time.sleep(0.01)"
    with subprocess.Popen(
        node.command(sys.executable, "-c", code), stdout=subprocess.PIPE, env=node.environment(30)
    ) as process:
        for _ in range(3):
            done = len(node.lines())
            wait_for(lambda done=done: len(node.lines()) > done or process.poll() is not None)  # type: ignore[misc]
            node.stop()
            node.start()
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0
    assert out.split() == [b"%d" % number for number in range(300)]
    wait_for(lambda: not segments(node.spool) or is_sent_by_next_pipe(node))
    # A chunk whose acknowledgement was lost on the way comes again, under the same number.
    chunks = {chunk.first_piece: chunk for chunk in node.broker.chunks if chunk.lines}
    assert [line for _, chunk in sorted(chunks.items()) for line in chunk.lines] == [str(n) for n in range(300)]


def test_lines_of_a_job_that_is_not_ones_own_are_refused_counted_and_said(node: Node) -> None:
    intake = node.start(FileTrust(owner_of=lambda job: 4001))
    if os.geteuid() != 0:
        pytest.skip("a collector believes its own user")
    node.python = ["/usr/bin/python3", "-I", "-S"]
    command = ["setpriv", "--reuid=65534", "--clear-groups", *node.command("echo", "forged")]
    node.directory.chmod(0o777)
    node.pyz.parent.chmod(0o755)
    for folder in (*node.directory.parents, *node.pyz.parents):
        if folder.stat().st_uid == 0 and len(folder.parts) > 2:
            folder.chmod(folder.stat().st_mode | 0o011)
    result = subprocess.run(command, capture_output=True, env=node.environment(30), timeout=120, check=False)
    if b"can't open file" in result.stderr or b"Permission denied" in result.stderr:
        pytest.skip("this interpreter is root's alone")
    assert (result.stdout, result.returncode) == (b"forged\n", 0)
    wait_for(lambda: value(intake.metrics.refused))
    assert b"refused for good: expected a pipe of user 4001, the owner of job 7" in result.stderr
    assert node.broker.written == []
    wait_for(lambda: not segments(node.spool))


def test_usage_that_names_no_command_is_an_error(node: Node) -> None:
    bare = [*PYTHON, str(node.pyz)]
    for arguments, message in (
        (["--jib", "7"], b"expected one of the options --job"),
        (["--job"], b"expected a value behind --job"),
    ):
        result = subprocess.run([*bare, *arguments], capture_output=True, env={}, check=False)
        assert result.returncode == 2
        assert message in result.stderr
    assert b"usage:" in subprocess.run([*bare, "--help"], capture_output=True, check=True).stdout


def test_its_start_costs_a_job_little_more_than_python_itself(node: Node) -> None:
    node.start()
    cost = "print(open(f'/proc/{os.%s()}/schedstat').read().split()[0])"
    ours, bare = [], []
    # In turn, so that a busy host makes both dearer; the best of each is what it takes.
    for _ in range(9):
        ours.append(int(node.call(sys.executable, "-c", f"import os; {cost % 'getppid'}", hold=0.03).stdout))
        imports = f"import json, os, socket, subprocess, threading; {cost % 'getpid'}"
        bare.append(int(subprocess.run([*PYTHON, "-c", imports], capture_output=True, check=True).stdout))
    assert min(ours) < 4 * min(bare), (ours, bare)
