"""The live table: what keys do, what it shows, and a session on a real terminal with a real Redis."""

import fcntl
import io
import os
import pty
import select
import shlex
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from processors.diagnose import load
from schedmate.cli.safe_console import SafeConsole
from schedmate.cli.status import details, note
from schedmate.top.keyboard import keys
from schedmate.top.top import FILTERS, SORTS, Paces, View, draw
from schedmate_records import ErrorType, EventKind, Failure, JobEvent, JobMetric, Position, Record
from sinks.redis.connect import open_redis
from sinks.redis.state import RedisState
from sinks.redis.status import JobStatus
from tests.schedmate.forked import run_on
from tests.servers.redis import RedisServer, redis_store

__all__ = ["redis_store"]

NOW = 1_790_000_000.0
HOSTILE = "\x1b[2J[bold]gone[/bold]\u202e"


def job(job_id: str, **known: Any) -> JobStatus:
    return JobStatus(**({"job": job_id, "state": "running", "user": "alice", "nodes": ["n1"]} | known))


JOBS = [
    job("quick", step=10, step_time_s=0.1, gpus=1.0, metric_time=NOW - 5, started=NOW - 60, estimate_duration_s=3660.0),
    job("slow", step=20, step_time_s=9.0, gpus=8.0, metric_time=NOW - 50, alarms={"slower": "twice as slow as before"}),
    job(
        "over",
        state="ended",
        verdict="user_script",
        verdict_attempt=0,
        verdict_message="KeyError",
        verdict_signature="cuda_out_of_memory",
        metric_time=NOW - 500,
        user="bob",
    ),
    job(HOSTILE, metric_time=NOW - 900),
]


def screen(view: View, columns: int = 80, rows: int = 24, paces: Paces | None = None, problem: str = "") -> str:
    out = SafeConsole(file=io.StringIO(), width=columns, force_terminal=False)
    out.print(
        draw(
            view,
            JOBS,
            paces or Paces(),
            size=(columns, rows),
            now=NOW,
            note=partial(note, with_reason=True),
            details=details,
            problem=problem,
        )
    )
    assert isinstance(out, Console)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def after(text: str) -> View:
    view = View()
    for key in keys(text):
        view = view.press(key).with_row_in(len(view.press(key).chosen(JOBS)))
    return view


@pytest.mark.parametrize(
    ("typed", "first"),
    [("", "quick"), ("s", HOSTILE), ("ss", "slow"), ("sss", "slow"), ("ff", "slow"), ("/bob\r", "over"), ("/n1\x7f1\r", "quick")],
)  # fmt: skip
def test_keys_sort_filter_and_search(typed: str, first: str) -> None:
    assert after(typed).chosen(JOBS)[0].job == first


def test_sorts_and_filters_come_round() -> None:
    assert after("s" * len(SORTS)) == after("f" * len(FILTERS)) == View()


def test_letters_of_a_search_are_no_commands() -> None:
    view = after("/qsf")
    assert (view.search, view.over, view.sort) == ("qsf", False, "newest")
    assert after("/qsf\x1b") == View()


def test_moving_stays_within_the_jobs() -> None:
    assert after("jjjjjjjj").row == len(JOBS) - 1
    assert after("\x1b[B\x1bOB\x1b[A").row == 1
    assert after("jk" + "k" * 5).row == 0


@given(st.text())
def test_no_key_breaks_it(typed: str) -> None:
    view = after(typed)
    assert view.over or screen(view)


@pytest.mark.parametrize("columns", [80, 100, 200])
def test_every_line_fits(columns: int) -> None:
    for typed in ("", "\r", "ff", "/x"):
        lines = screen(after(typed), columns).splitlines()
        assert max(map(len, lines)) <= columns, typed


def test_it_shows_what_is_left_and_what_happened() -> None:
    text = screen(View(), 80)
    assert "quick" in text
    assert "1 h" in text
    assert "100 ms" in text
    assert "cuda out of memory" in screen(View(), columns=100)
    assert "twice as slow" in screen(View(), columns=100)


def test_enter_shows_all_that_is_known() -> None:
    text = screen(after("/over\r\r"))
    assert "KeyError" in text
    assert "by bob" in text or "user script" in text


def test_details_follow_the_order_of_a_jobs_page() -> None:
    known = job(
        "4711", name="llama", state="ended", verdict="user_script", verdict_attempt=0, verdict_signature="cuda_out_of_memory",
        verdict_line="torch.cuda.OutOfMemoryError", step=10, step_time_s=1.0, metric_time=NOW - 5, ended=NOW, state_time=NOW,
    )  # fmt: skip
    shown = details(known, "▁▂", {one.name: one for one in load()})
    order = ["job", "state", "since", "line", "to do", "progress", "speed", "step times", "verdict", "attempt"]
    assert [name for name in shown if name in order] == order
    assert shown["job"] == "4711, llama"
    assert shown["state"] == "failed (cuda out of memory)"
    assert shown["to do"], "the action of the signature"


def test_the_table_shows_the_reason_of_a_state_once() -> None:
    kinds = {"loss_not_finite": "Loss NaN since step 125", "slower": "twice as slow"}
    jobs = [
        job("nan", alarms=kinds, alarms_since={"loss_not_finite": NOW - 60, "slower": NOW - 50}, started=NOW - 100),
        job("hung", alarms={"hang": "no report"}, alarms_since={"hang": NOW - 60}),
        job("wrong", state="ended", exit_code=1, ended=NOW, state_time=NOW),
    ]
    out = SafeConsole(file=io.StringIO(), width=120, force_terminal=False)
    reason = partial(note, with_reason=True)
    out.print(draw(View(sort="job"), jobs, Paces(), size=(120, 24), now=NOW, note=reason, details=details))
    assert isinstance(out.file, io.StringIO)
    lines = {line.split()[0]: " ".join(line.split()) for line in out.file.getvalue().splitlines() if line.strip()}
    assert lines["nan"].endswith("- loss NaN since step 125; slower")
    assert lines["hung"] == "hung silent -", "GPUs that are not known are a dash"
    assert lines["wrong"].endswith("- exit code 1")


def test_a_search_finds_causes() -> None:
    assert [one.job for one in after("/cuda out\r").chosen(JOBS)] == ["over"]
    assert [one.job for one in after("/out_of_mem\r").chosen(JOBS)] == ["over"]


def test_names_of_jobs_do_nothing_to_the_terminal() -> None:
    text = screen(View(), 200)
    assert not {"\x1b", "\u202e"} & set(text)
    assert "[bold]gone" in text


def test_what_is_wrong_stands_below() -> None:
    assert "Redis does not answer" in screen(View(), problem="Redis does not answer")


def test_only_as_many_jobs_as_fit_are_drawn_and_the_chosen_one_is_among_them() -> None:
    text = screen(after("jjj"), rows=6)
    assert "[bold" in text
    assert "quick" not in text


def test_a_curve_needs_new_reports() -> None:
    paces = Paces()
    for place in range(8):
        for _ in range(2):
            paces.update([job("a", metric_time=NOW + place, step_time_s=1.0 + place)])
    assert paces.curve("a") == "▁▂▃▄▅▆▇█"
    paces.update([job("a", attempt=1, metric_time=NOW + 9, step_time_s=1.0)])
    assert paces.curve("a") == "", "another attempt begins anew"
    paces.update([])
    assert paces.curve("a") == ""


@pytest.mark.redis
def test_a_session(redis_store: RedisServer) -> None:
    records: list[Record] = [
        JobEvent(id="1", job="4711", kind=EventKind.STARTED, time=time.time() - 60, nodes=["n1"], user="alice"),
        JobMetric(id="2", job="4711", time=time.time(), step=12, step_time_s=0.5, confidence=1.0, method="stated"),
        Failure(id="3", job="4712", time=time.time(), message="KeyError: 'x'", error_type=ErrorType.USER_SCRIPT, confidence=0.9),
    ]  # fmt: skip
    RedisState(open_redis(redis_store.url)).update(
        [(Position("made", 0, place), record) for place, record in enumerate(records)]
    )
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    before = termios.tcgetattr(theirs)
    codes: list[int] = []
    environment = {"SCHEDMATE_CONFIG": "/dev/null", "PATH": "/usr/bin:/bin", "TERM": "xterm-256color"}
    words = ("--set", f"redis.url={redis_store.url}", "top", "--every", "0.2")
    session = threading.Thread(target=lambda: codes.append(run_on((theirs,) * 3, *words, env=environment)))
    session.start()
    until(ours, "4711")
    os.write(ours, b"/4712\r\r")
    until(ours, "confidence", "KeyError")
    os.write(ours, b"q")
    session.join(30)
    assert codes == [0]
    assert termios.tcgetattr(theirs) == before, "the terminal is as it was"
    os.close(theirs)
    os.close(ours)


TRAINING = """
import sys, time
for step in range(1, 31):
    print(f"step {step}/60 loss {2 - step / 60:.3f} 0.100 s/it", flush=True)
    time.sleep(0.02)
sys.stdin.read()
raise KeyError("accuracy")
"""


@pytest.fixture
def piped(tmp_path: Path) -> Iterator[tuple[int, subprocess.Popen[bytes], Path]]:
    """A training whose output goes into `top -` on a terminal of its own, and the named pipe that ends it."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    (tmp_path / "train.py").write_text(TRAINING)
    os.mkfifo(gate := tmp_path / "gate")
    here, there = sys.executable, shlex.quote(str(tmp_path / "train.py"))
    line = f"{here} {there} 2>&1 < {gate}; echo code $? > {tmp_path / 'code'}"
    process = subprocess.Popen(
        ["setsid", "--ctty", "bash", "-c", f"({line}) | {here} -m schedmate top - --every 0.2"],
        stdin=theirs, stdout=theirs, stderr=theirs,
        env={"SCHEDMATE_CONFIG": "/dev/null", "PATH": "/usr/bin:/bin", "TERM": "xterm-256color"},
    )  # fmt: skip
    os.close(theirs)
    yield ours, process, gate
    os.close(ours)  # whatever still runs there is told that its terminal is gone
    UNSEEN.clear()
    process.wait(30)


def test_a_pipe_is_shown_live_and_its_end_leaves_the_last_state(
    piped: tuple[int, subprocess.Popen[bytes], Path],
) -> None:
    terminal, process, gate = piped
    with gate.open("w"):
        until(terminal, "step 30,")
    until(terminal, "KeyError")
    os.write(terminal, b"\x1b")
    until(terminal, "1 of 1 jobs", "what happened")
    os.write(terminal, b"q")
    until(terminal, "\x1b[?1049l")
    until(terminal, "KeyError: 'accuracy'")
    assert process.wait(30) == 0


def test_to_quit_does_not_stop_what_writes(piped: tuple[int, subprocess.Popen[bytes], Path]) -> None:
    terminal, process, gate = piped
    with gate.open("w"):
        until(terminal, "step 30,")
        os.write(terminal, b"q")
        until(terminal, "still reading")
    until(terminal, "KeyError: 'accuracy'")
    assert process.wait(30) == 0
    assert (gate.parent / "code").read_text() == "code 1\n"


UNSEEN: dict[int, str] = {}
"""What was read of a terminal after the text that was waited for."""


def until(terminal: int, *any_of: str) -> None:
    """Read until one of the texts was shown."""
    seen, deadline = UNSEEN.pop(terminal, ""), time.monotonic() + 60
    while True:
        if found := next((text for text in any_of if text in seen), None):
            UNSEEN[terminal] = seen.partition(found)[2]
            return
        assert time.monotonic() < deadline, f"expected one of {any_of}, saw {seen[-2000:]!r}"
        if select.select([terminal], [], [], 1.0)[0]:
            seen += os.read(terminal, 65536).decode(errors="replace")


def test_what_remains_follows_from_progress_and_is_shown() -> None:
    told = job("a", estimate_attempt=0, estimate_time=NOW - 60, estimate_remaining_s=7260.0)
    out = SafeConsole(file=io.StringIO(), width=80, force_terminal=False)
    out.print(draw(View(), [told], Paces(), size=(80, 24), now=NOW, note=note, details=details))
    assert isinstance(out.file, io.StringIO)
    assert "2 h" in out.file.getvalue()


def test_details_show_the_curve() -> None:
    paces = Paces()
    for step in range(8):
        paces.see(job("quick", step=step, step_time_s=1.0 + step))
    assert "▁▂▃▄▅▆▇█  1 s to 8 s" in screen(after("/quick\r\r"), paces=paces)


def test_without_a_terminal_it_says_what_to_use() -> None:
    with open(os.devnull) as nothing, open(os.devnull, "w") as out:  # noqa: PTH123
        reading, writing = os.pipe()
        code = run_on(
            (nothing.fileno(), out.fileno(), writing), "top", env={"SCHEDMATE_CONFIG": "/dev/null", "PATH": "/usr/bin"}
        )
        os.close(writing)
        assert code == 2
        assert b"schedmate status --json" in os.read(reading, 4096)
        os.close(reading)
