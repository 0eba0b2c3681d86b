"""examples/actuator.py: verdicts on standard input, a scheduler's files changed, decisions and results on standard output."""

import json
import subprocess
import sys
import time
from pathlib import Path

from schedmate_records import Outcome, encode
from tests.docs.pages import ROOT
from tests.scheduler_bridge.findings import failure

FAILED = {"state": "failed", "attempt": 0, "nodes": ["n1"], "excluded": [], "user": "ada"}


def act(directory: Path, *verdicts: bytes) -> list[dict[str, object]]:
    done = subprocess.run(
        [sys.executable, "examples/actuator.py", str(directory)],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        input=b"\n".join(verdicts),
        capture_output=True,
        check=True,
        timeout=60,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_failed_job_is_queued_again_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "train-1.json").write_text(json.dumps(FAILED))
    decision, started, done = act(tmp_path, encode(failure(job="train-1", node="n1", time=time.time())))
    assert (decision["action"], decision["exclude_nodes"]) == ("restart", ["n1"])
    assert [started["outcome"], done["outcome"]] == [Outcome.STARTED, Outcome.DONE]
    assert done["actuator"] == "directory"
    queued = json.loads((tmp_path / "train-1.json").read_text())
    assert (queued["state"], queued["attempt"], queued["excluded"]) == ("pending", 1, ["n1"])


def test_a_verdict_that_comes_again_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "train-1.json").write_text(json.dumps(FAILED))
    verdict = encode(failure(job="train-1", node="n1", time=time.time()))
    assert len(act(tmp_path, verdict, verdict)) == 3


def test_what_the_file_says_was_done_is_not_done_again(tmp_path: Path) -> None:
    (tmp_path / "train-1.json").write_text(json.dumps(FAILED))
    verdict = encode(failure(job="train-1", node="n1", time=time.time()))
    act(tmp_path, verdict)
    kept = json.loads((tmp_path / "train-1.json").read_text())["comment"]
    (tmp_path / "train-1.json").write_text(json.dumps({**FAILED, "comment": kept}))
    *_, result = act(tmp_path, verdict)  # by a bridge that remembers nothing
    assert result["outcome"] == Outcome.REFUSED
    assert "carried out before" in str(result["detail"])


def test_a_name_that_is_a_path_reaches_no_file(tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text(json.dumps(FAILED))
    (tmp_path / "jobs").mkdir()
    act(tmp_path / "jobs", encode(failure(job="../outside", time=time.time())))
    assert json.loads(outside.read_text()) == FAILED
