"""No command lets what a job printed act on the terminal."""

import csv
import io
import json
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from schedmate.cli.decisions import line
from schedmate.cli.safe_console import SafeConsole
from schedmate.terminal import json_safe, one_line, printable
from schedmate_records import Decision, DecisionResult, Failure, JobEvent, JobMetric, Outcome, Position, decode, encode
from sinks.clickhouse.client import open_client
from sinks.clickhouse.writer import ClickHouseWriter
from sinks.redis.connect import open_redis
from sinks.redis.state import RedisState
from tests.docs.pages import ROOT
from tests.schedmate.forked import run_forked
from tests.servers.redis import RedisServer
from tests.sinks.conftest import migrated_database

from .on_terminal import on_terminal

ACTS = (
    "\x1b]0;owned\x07\x1b[2J\x9b31m\x08\u202egnp\u202c\u2066x\u2069\u2028[bold red]\x1b]8;;http://x\x1b\\link[/]:smile:"
)
HOSTILE = f"""\
{{"epoch": 1, "step": 1, "loss": 2.5, "note": "{ACTS}"}}
step 1 loss 2.0 0.5 s/it {ACTS}
step 2 loss 1.9 0.5 s/it {ACTS}
step 3 loss 1.8 0.5 s/it {ACTS}
step 4 loss 1.7 0.5 s/it {ACTS}
step 5 loss nan 0.5 s/it {ACTS}
Traceback (most recent call last):
  File "/home/{ACTS}/train.py", line 3, in <module>
ValueError: {ACTS}
NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name={ACTS}, GPU has fallen off the bus.
"""


def harmless(text: str) -> None:
    """Assert that nothing in `text` acts on a terminal, and that markup was left as it stood."""
    for letter in text:
        assert letter in "\n\t" or unicodedata.category(letter) not in {"Cc", "Cf", "Zl", "Zp", "Cs"}, repr(text)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "train.log"
    file.write_text(HOSTILE)
    return file


def run(*arguments: str, given: str | None = None, **variables: str) -> str:
    environment = {"SCHEDMATE_CONFIG": "/dev/null", "PATH": "/usr/bin:/bin", **variables}
    done = run_forked(*arguments, text=(given or "").encode(), env=environment)
    said, errors = done.stdout.decode(), done.stderr.decode()
    assert f'Traceback (most recent call last):\n  File "{ROOT}' not in errors
    harmless(said)
    harmless(errors)
    return said + errors


@pytest.mark.parametrize(
    "arguments",
    [["analyze"], ["analyze", "--explain"], ["analyze", "--format", "json"], ["classify"], ["classify", "--json"], ["signatures", "test"]],
    ids=" ".join,
)  # fmt: skip
def test_commands_over_a_log(log: Path, arguments: list[str]) -> None:
    said = run(*arguments, str(log))
    assert said.strip()
    if not {"--json", "json"} & set(arguments):
        assert "[bold red]" in said
        assert ":smile:" in said
        assert "\\x1b]0;owned" in said


def test_a_node_log_and_a_name_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "kern\x1b[31m.log"
    file.write_text(
        f"Jan  1 00:00:00 n1 kernel: NVRM: Xid (PCI:0000:3b:00): 79, name={ACTS}, GPU has fallen off the bus.\n"
    )
    assert "fallen off" in run("analyze", str(file))
    run("analyze", str(tmp_path / "none\x1b[31m"))


def test_watch(log: Path) -> None:
    assert "[bold red]" in run("watch", "-", given=HOSTILE)


def test_json_says_the_same(log: Path) -> None:
    said = json.loads(run("analyze", "--format", "json", str(log)).splitlines()[0])
    assert any(ACTS[:9] in each["text"] for each in said["failure"]["evidence"])


def records() -> list[tuple[Position, JobEvent | JobMetric | Failure | Decision | DecisionResult]]:
    common = {"job": "7", "time": 1.8e9}
    failure = Failure(
        id="f", attempt=0, error_type="user_script", faulty_component="none", signature=ACTS, message=ACTS, restartable=False,
        confidence=0.9, source="traceback", node=ACTS, **common,
    )  # type: ignore[arg-type]  # fmt: skip
    made = [
        JobEvent(id="e", kind="started", scheduler="slurm", nodes=[ACTS], command=ACTS, directory=ACTS, user=ACTS, **common),  # type: ignore[arg-type]
        failure,
        Decision(id="d", action="restart", mode="shadow", expires=1.9e9, reason=ACTS, policy="p", cause_id="f", **common),  # type: ignore[arg-type]
        DecisionResult(
            id="d/done", decision_id="d", action="restart", outcome=Outcome.DONE, detail=ACTS, **common  # type: ignore[arg-type]
        ),
    ]  # fmt: skip
    made = [decode(type(each), encode(each)) for each in made]  # type: ignore[type-var]  # its words as enumerations
    return [(Position("job-events", 0, number), record) for number, record in enumerate(made)]  # type: ignore[misc]


@pytest.fixture
def database(tmp_path: Path) -> str:
    url = f"chdb://{migrated_database(tmp_path / 'engine')}"
    writer = ClickHouseWriter(lambda: open_client(url))
    writer.write(records())
    writer.close()  # the engine allows one process at a time
    return url


@pytest.mark.slow
def test_query_and_explain(database: str) -> None:
    variables = {"SCHEDMATE_CLICKHOUSE__URL": database}
    for arguments in (
        ["query", "verdicts"],
        ["query", "verdicts", "--json"],
        ["explain", "7"],
        ["explain", "7", "--markdown"],
    ):
        assert "owned" in run(*arguments, **variables)
    (row,) = [
        json.loads(each)
        for each in run("query", "--sql", "SELECT message FROM failures", "--json", **variables).splitlines()
    ]
    assert row["message"] == ACTS
    exact = subprocess.run(
        [sys.executable, "-m", "schedmate", "query", "--sql", "SELECT message FROM failures", "--csv"],
        env={"SCHEDMATE_CONFIG": "/dev/null", **variables}, capture_output=True, check=True, encoding="utf-8", timeout=60,
    ).stdout  # fmt: skip
    assert list(csv.reader(io.StringIO(exact, newline="")))[1] == [ACTS]


@pytest.fixture
def filled_redis(redis_store: RedisServer) -> str:
    with open_redis(redis_store.url) as client:
        RedisState(client).update(records())
    return redis_store.url


@pytest.mark.redis
def test_status(filled_redis: str) -> None:
    run("status", SCHEDMATE_REDIS__URL=filled_redis)
    for arguments in (["status", "7"], ["status", "--json"]):
        assert "owned" in run(*arguments, SCHEDMATE_REDIS__URL=filled_redis)
    shown = on_terminal("status", "--csv", raw=True, SCHEDMATE_REDIS__URL=filled_redis)
    harmless(shown)
    assert "owned" in shown


def test_decisions() -> None:
    for _, record in records():
        if isinstance(record, Decision | DecisionResult):
            harmless(line(record))
            assert "\n" not in line(record)


def test_a_live_table_and_a_terminal() -> None:
    out = io.StringIO()
    console = SafeConsole(file=out, force_terminal=True, width=200, color_system=None)
    console.print(ACTS)
    console.print(Text(ACTS))
    console.print(f"[link=http://x]{ACTS}[/link]")
    harmless(out.getvalue())
    assert "[link=http://x]" in out.getvalue()


@given(st.text(alphabet=st.characters(codec=None, categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Lu", "Nd"])))
def test_any_text(text: str) -> None:
    harmless(printable(text))
    assert "\n" not in one_line(text)
    assert printable(printable(text)) == printable(text)
    if not any(unicodedata.category(letter) == "Cs" for letter in text):
        written = json.dumps(text, ensure_ascii=False)
        harmless(json_safe(written))
        assert json.loads(json_safe(written)) == text


def test_nothing_is_printed_by_another_way() -> None:
    ways = re.compile(r"typer\.echo|(?<!\.)\bprint\(|sys\.std(out|err)\.write|\bConsole\(|secho")
    room = Path(__file__).parents[3] / "schedmate"
    allowed = {"cli/console.py", "safe_console.py", "document.py", "demo/jobs.py", "services/logging.py"}
    for file in room.rglob("*.py"):
        name = file.relative_to(room).as_posix()
        if name not in allowed:
            assert not ways.search(file.read_text()), name
