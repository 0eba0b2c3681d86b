"""`signatures` as a person starts it."""

import json
from pathlib import Path

from tests.schedmate.forked import run_forked

OWN = """
[[signature]]
name = "pump_lost"
pattern = 'coolant pump \\d+ lost'
kind = "node"
error_type = "infrastructure"
component = "node"
restartable = true
confidence = 0.9
action = "Mend the pump."
source = "the pump's manual"
example = "coolant pump 7 lost"
counter = "coolant pump 7 found"
"""


def output_of(*arguments: str, own: Path | None = None, code: int = 0) -> str:
    sets = [f"--set=processors.signatures={own}"] if own else []
    done = run_forked(*sets, *arguments, env={"SCHEDMATE_CONFIG": "/dev/null", "HOME": "/tmp"})
    assert done.returncode == code, done.stderr
    return (done.stdout if code == 0 else done.stderr).decode()


def test_list_and_show(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN)
    known = [json.loads(line) for line in output_of("signatures", "list", "--json", own=tmp_path).splitlines()]
    assert {"oom_killer", "pump_lost"} <= {one["name"] for one in known}
    shown = output_of("signatures", "show", "pump_lost", own=own)
    assert "Mend the pump." in shown
    assert "the pump's manual" in shown
    assert "did you mean oom_killer" in output_of("signatures", "show", "oom_kiler", code=2)


def test_lines_that_are_known_are_shown_with_their_number(tmp_path: Path) -> None:
    own, log = tmp_path / "own.toml", tmp_path / "train.log"
    own.write_text(OWN)
    log.write_text(
        "step 1 loss 2.0\nstep 2\rstep 3\ncoolant pump 3 lost \x1b[2J\nOSError: [Errno 28] No space left on device\n"
    )
    found = output_of("signatures", "test", str(log), own=own).splitlines()
    assert [line.split()[:2] for line in found] == [["3", "pump_lost"], ["4", "no_space"]]
    assert "\x1b" not in found[0]
    log.write_text("all well\n")
    assert "no line matches" in output_of("signatures", "test", str(log), code=1)
    assert "readable log" in output_of("signatures", "test", str(tmp_path / "absent"), code=2)


def test_a_bad_entry_is_refused_where_it_would_be_used(tmp_path: Path) -> None:
    own, log = tmp_path / "own.toml", tmp_path / "train.log"
    own.write_text(OWN.replace("confidence = 0.9", "confidence = 7"))
    log.write_text("all well\n")
    for command in (("signatures", "list"), ("analyze", str(log))):
        said = output_of(*command, own=own, code=2)
        assert f"{own}: signature 'pump_lost': expected a confidence" in said
    assert "No such file" in output_of("signatures", "list", own=tmp_path / "absent.toml", code=2)
    (tmp_path / "empty").mkdir()
    assert "found none" in output_of("signatures", "list", own=tmp_path / "empty", code=2)


def test_analyze_uses_the_operators_entries(tmp_path: Path) -> None:
    own, log = tmp_path / "own.toml", tmp_path / "train.log"
    own.write_text(OWN)
    log.write_text("step 1 loss 2.0\ncoolant pump 3 lost\n")
    assert json.loads(output_of("analyze", "--format", "json", str(log)))["failure"] is None
    assert (
        json.loads(output_of("analyze", "--format", "json", str(log), own=own))["failure"]["signature"] == "pump_lost"
    )
