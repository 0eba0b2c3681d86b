"""`analyze` with a language model: what it asks, and what that changes."""

import json
import os
from pathlib import Path
from typing import Any

from tests.schedmate.forked import run_forked
from tests.streams.model_worker import misbehaving_server as bad
from tests.streams.model_worker.sensible import sensible_server

ODD = [f"2027-01-15 08:{i // 30:02d}:{2 * i % 60:02d},000 zug {i}.0 obj {3 / i:.4f} tick 2000" for i in range(1, 101)]
UNSTAMPED = [line[24:] for line in ODD]
FAILURE = "something is wrong: cannot write, no space"
CRASH = [
    "Traceback (most recent call last):",
    '  File "t.py", line 1, in <module>',
    "ModuleNotFoundError: No module named 'x'",
]


def analyzed(tmp_path: Path, lines: list[str], url: str = "", as_json: bool = True) -> Any:
    log = tmp_path / "train.log"
    log.write_text("\n".join(lines) + "\n")
    done = run_forked(
        "analyze", *(["--format", "json"] if as_json else []), log, timeout_s=120,
        env=os.environ | {"SCHEDMATE_CONFIG": os.devnull, "SCHEDMATE_LANGUAGE_MODEL__SERVERS": url, "COLUMNS": "200"}
        | {"SCHEDMATE_LANGUAGE_MODEL__TIMEOUT_SECONDS": "5", "SCHEDMATE_LANGUAGE_MODEL__ATTEMPTS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if as_json else done.stdout.decode()


def test_an_open_template_is_explained_and_printed_times_confirm_it(tmp_path: Path) -> None:
    without = analyzed(tmp_path, ODD)["progress"]
    assert without["step_time_s"] is None
    with bad.misbehaving(sensible_server) as server:
        progress = analyzed(tmp_path, ODD, server.url)["progress"]
        assert len(server.requests) == 1
        shown = analyzed(tmp_path, ODD, server.url, as_json=False)
    assert (progress["step_time_s"], progress["last_step"], progress["method"]) == (2.0, 100, "model")
    assert "2 s a step (printed in the log, as a language model reads it" in shown
    assert "its lines agree with the clock in 100% of the intervals" in shown


def test_without_a_clock_nobody_is_asked(tmp_path: Path) -> None:
    with bad.misbehaving(sensible_server) as server:
        assert analyzed(tmp_path, UNSTAMPED, server.url)["progress"] == analyzed(tmp_path, UNSTAMPED)["progress"]
        assert not server.requests, "no answer could be confirmed"


def test_a_second_look_at_the_last_verdict_is_shown(tmp_path: Path) -> None:
    with bad.misbehaving(sensible_server) as server:
        shown = analyzed(tmp_path, [*UNSTAMPED[:12], *CRASH], server.url, as_json=False)
        assert len(server.requests) == 1, "earlier verdicts are not asked about"
        certain = analyzed(tmp_path, [*UNSTAMPED[:12], *CRASH], server.url)
    assert "stand-in says infrastructure (storage), from lines 15" in shown
    assert certain == analyzed(tmp_path, [*UNSTAMPED[:12], *CRASH])


def test_a_server_that_is_away_changes_nothing(tmp_path: Path) -> None:
    lines = [*ODD, *CRASH]
    with bad.misbehaving(bad.status(500)) as server:
        url = server.url
        assert analyzed(tmp_path, lines, url) == analyzed(tmp_path, lines)
    assert analyzed(tmp_path, lines, url) == analyzed(tmp_path, lines)
