"""`analyze` with a language model: what it asks, and what that changes."""

import json
import os
from pathlib import Path
from typing import Any

from processors.prompts import Prompt
from tests.schedmate.forked import run_forked
from tests.streams.model_worker import misbehaving_server as bad
from tests.streams.model_worker.sensible import sensible, sensible_server

ODD = [f"2027-01-15 08:{i // 30:02d}:{2 * i % 60:02d},000 zug {i}.0 obj {3 / i:.4f} tick 2000" for i in range(1, 101)]
UNSTAMPED = [line[24:] for line in ODD]
FAILURE = "something is wrong: cannot write, no space"
CRASH = [
    "Traceback (most recent call last):",
    '  File "t.py", line 1, in <module>',
    "ModuleNotFoundError: No module named 'x'",
]


def kinds(server: bad.MisbehavingServer) -> list[str]:
    """Return the kinds of the questions that a server was asked."""
    return [each["response_format"]["json_schema"]["name"] for each in server.requests]


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


def test_unknown_format_is_asked_about_and_its_answer_is_shown(tmp_path: Path) -> None:
    without = analyzed(tmp_path, ODD)["progress"]
    assert without["step_time_s"] is None
    with bad.misbehaving(sensible_server) as server:
        found = analyzed(tmp_path, ODD, server.url)
        assert kinds(server)[:2] == ["format", "failure"]
        shown = analyzed(tmp_path, ODD, server.url, as_json=False)
    progress = found["progress"]
    assert (progress["step_time_s"], progress["last_step"], progress["method"]) == (2.0, 100, "model")
    assert (found["format"]["author"], found["format"]["training"]) == ("stand-in", True)
    assert "2 s a step (printed in the log, read with a format that a language model described" in shown
    assert "stand-in states a training: step 100, loss 0.03, 2 s per step" in shown
    assert "zug 1.0: step; obj 3.0000: loss; tick 2000: step time in ms" in shown
    assert f"`schedmate formats teach {tmp_path / 'train.log'}` corrects it" in shown
    (template,) = found["format"]["templates"]
    assert [each["role"] for each in template["columns"]] == ["step", "loss", "step_time"]


def test_log_whose_speed_the_rules_do_not_read_names_the_command_that_teaches_it(tmp_path: Path) -> None:
    assert "format    unknown: `schedmate formats teach" in analyzed(tmp_path, UNSTAMPED, as_json=False)
    known = [f"step {i} loss {3 / i:.4f} step_time {2.0} s" for i in range(1, 60)]
    assert "formats teach" not in analyzed(tmp_path, known, as_json=False)
    assert "formats teach" not in analyzed(tmp_path, CRASH, as_json=False)


def test_numbers_without_known_names_need_a_clock(tmp_path: Path) -> None:
    with bad.misbehaving(sensible_server) as server:
        assert analyzed(tmp_path, UNSTAMPED, server.url)["progress"] == analyzed(tmp_path, UNSTAMPED)["progress"]


def test_questions_are_written_to_files_and_answers_are_read_from_them(tmp_path: Path) -> None:
    log, folder = tmp_path / "train.log", tmp_path / "questions"
    log.write_text("\n".join(ODD) + "\n")

    def run() -> Any:
        done = run_forked(
            "analyze", "--json", log, "--questions", folder, env=os.environ | {"SCHEDMATE_CONFIG": os.devnull}
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["progress"]

    before = run()
    (file,) = folder.glob("format-*.question.json")
    question = json.loads(file.read_text())
    prompt = Prompt("format", "1", question["key"], "", question["messages"][1]["content"], question["schema"])
    answer = folder / file.name.replace(".question.", ".answer.")
    answer.write_text('{"training": "perhaps"}')
    assert run() == before
    answer.write_text(json.dumps(sensible(prompt)))
    assert run()["step_time_s"] == 2.0


def test_models_answer_about_a_failure_is_shown(tmp_path: Path) -> None:
    lines = [*UNSTAMPED[:12], FAILURE]
    with bad.misbehaving(sensible_server) as server:
        shown = analyzed(tmp_path, lines, server.url, as_json=False)
        failure = analyzed(tmp_path, lines, server.url)["failure"]
    assert "stand-in: infrastructure (storage), high confidence, from lines 13" in shown
    assert "The disk is full." in shown
    assert (failure["error_type"], failure["root_line"], failure["source"]) == ("infrastructure", 13, "model")
    assert [each["by"] for each in failure["opinions"]] == ["rules", "stand-in"]


def test_model_that_blames_the_script_for_every_failure_changes_no_verdict(tmp_path: Path) -> None:
    def blames_the_script(exchange: bad.Exchange) -> None:
        schema = exchange.asked["response_format"]["json_schema"]["schema"]["properties"]
        last = schema["root_line"]["maximum"] if "root_line" in schema else 0
        blamed = {
            "failed": "yes",
            "error_type": "user_script",
            "faulty_component": "none",
            "root_line": last,
            "evidence": [last],
        }
        exchange.say(
            200, bad.completion(json.dumps(blamed | {"restartable": "no", "confidence": "high", "summary": "A bug."}))
        )

    lines = [*UNSTAMPED[:12], FAILURE]
    with bad.misbehaving(blames_the_script) as server:
        assert analyzed(tmp_path, lines, server.url)["failure"] == analyzed(tmp_path, lines)["failure"]


def test_a_server_that_is_away_changes_nothing(tmp_path: Path) -> None:
    lines = [*ODD, *CRASH]
    with bad.misbehaving(bad.status(500)) as server:
        url = server.url
        assert analyzed(tmp_path, lines, url) == analyzed(tmp_path, lines)
    assert analyzed(tmp_path, lines, url) == analyzed(tmp_path, lines)
