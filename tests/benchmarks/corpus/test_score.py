import json
import shutil
import sys
from pathlib import Path

import pytest

from benchmarks.corpus import capture, plan, score
from benchmarks.corpus.plan import Framework
from processors.classify.classifier import LineClassifier
from processors.job import JobProcessor

TRAINING = """
import sys
from clock import Clock

clock = Clock(pace=0.05, batch=4, interval=2)
clock.begin()
for step in range(1, 31):
    clock.step(1 / step)
    if step % 2 == 0:
        print(f"step {step} loss {1 / step:.4f}", flush=True)
clock.finish(step=30, loss=1 / 30, speed=False)
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A loop of plain Python, run and kept as the generator does."""
    folder = tmp_path_factory.mktemp("plain") / "loop"
    folder.mkdir()
    truth = folder / "truth.json"
    variables = {"PYTHONPATH": str(Path(capture.__file__).parent), "CORPUS_TRUTH": str(truth)}
    captured = capture.run([sys.executable, "-c", TRAINING], variables, folder, 60, terminal=False)
    assert captured.code == 0
    capture.write(folder, captured)
    truth.write_text(json.dumps({"framework": "plain", "setup": "loop"} | json.loads(truth.read_text())))
    (folder / "labels.tsv").write_text("line\tlabel\ttext\n1\tprogress\t\n15\tprogress\t\n")
    return folder


def test_a_run_scores_by_its_own_clock(run: Path) -> None:
    scored = score.score(run, "development", JobProcessor(), LineClassifier())
    assert scored.verdicts == dict.fromkeys(score.ASPECTS, "right")
    assert scored.said["stream"]["last_step"] == 30
    assert scored.said["stream"]["method"] == "arrival"
    assert (
        scored.said["stored"]["step_time_s"] is None
    )  # a stored file has no arrival times, and this log prints no time
    assert scored.lines == [("p", "p"), ("p", "p")]
    assert scored.first is not None
    assert 2 <= scored.first <= 20


def test_the_stream_holds_every_line_with_its_time(run: Path) -> None:
    chunks = list(score.stream_chunks(run))
    lines = [line for chunk in chunks for line in chunk.lines]
    assert lines[0].startswith("step 2 ")
    assert len(lines) == 15
    times = [chunk.time + after / 1000 for chunk in chunks for after in chunk.after_ms or [0] * len(chunk.lines)]
    assert times == sorted(times)
    assert times[-1] - times[0] == pytest.approx(28 * 0.05, abs=1.0)
    assert len(chunks) > 1


def truth(**changes: object) -> dict:
    return {
        "step_time_s": 0.1,
        "step_time_mean_s": 0.1,
        "samples_per_s": 80.0,
        "tokens_per_s": None,
        "world": 2,
        "last_step": [40, 140],
        "last_loss": [0.5678],
        "tells": {"speed": True, "step": True, "loss": True},
    } | changes


def progress(**changes: object) -> dict:
    nothing = dict.fromkeys(("step_time_s", "throughput", "throughput_unit", "last_step", "last_loss"))
    return nothing | changes


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ({"step_time_s": 0.105}, "right"),
        ({"step_time_s": 0.15}, "wrong"),
        ({"throughput": 80.0, "throughput_unit": "samples/s"}, "right"),
        ({"throughput": 40.0, "throughput_unit": "samples/s/gpu"}, "right"),
        ({"throughput": 40.0, "throughput_unit": "samples/s"}, "wrong"),
        ({"throughput": 10.0, "throughput_unit": "it/s"}, "right"),
        ({"step_time_s": 0.1, "throughput": 500.0, "throughput_unit": "samples/s"}, "wrong"),
        ({"step_time_s": 0.1, "throughput": 500.0, "throughput_unit": "tokens/s"}, "right"),  # nobody clocked tokens
        ({}, "missing"),
    ],
)
def test_speed(said: dict, verdict: str) -> None:
    assert score.judge(truth(), progress(**said), streamed=False)["speed"] == verdict


def test_null_is_right_where_the_log_tells_nothing_and_a_wrong_number_is_not() -> None:
    silent = truth(last_step=[], last_loss=[], tells={"speed": False, "step": False, "loss": False})
    assert score.judge(silent, progress(), streamed=False) == {"speed": "right", "step": "right", "loss": "right"}
    said = progress(step_time_s=3.0, last_step=7, last_loss=1.0)
    assert score.judge(silent, said, streamed=False) == {"speed": "wrong", "step": "wrong", "loss": "wrong"}


def test_steps_tell_the_speed_of_what_arrives() -> None:
    counted = truth(tells={"speed": False, "step": True, "loss": True})
    assert score.judge(counted, progress(), streamed=True)["speed"] == "missing"
    assert score.judge(counted, progress(), streamed=False)["speed"] == "right"


def test_either_count_of_steps_is_right_but_none_beside() -> None:
    verdicts = [score.judge(truth(), progress(last_step=step), streamed=True)["step"] for step in (40, 140, 41, None)]
    assert verdicts == ["right", "right", "wrong", "missing"]


def test_a_loss_is_right_as_it_is_printed() -> None:
    verdicts = [
        score.judge(truth(), progress(last_loss=loss), streamed=True)["loss"] for loss in (0.57, 0.5678, 0.6, 0.0)
    ]
    assert verdicts == ["right", "right", "wrong", "wrong"]


def test_macro_f1() -> None:
    assert score.macro_f1([("p", "p"), ("o", "o")]) == 1
    assert score.macro_f1([("p", "p"), ("p", "o"), ("w", "o")]) == pytest.approx((2 / 3 + 0) / 2)


def verdicts(verdict: str) -> dict:
    return dict.fromkeys(score.ASPECTS, verdict)


def test_the_table_names_wrong_numbers_and_splits() -> None:
    found = score.table(
        [
            score.Scored("a", "one", "development", verdicts("right")),
            score.Scored("b", "two", "held-out", verdicts("wrong")),
        ]
    )
    assert "1/1" in found
    assert "0/1 (1)" in found
    assert "= development" in found
    assert "= held-out" in found
    assert "= blind" not in found


def test_the_table_gives_of_blind_logs_totals_only() -> None:
    found = score.table(
        [
            score.Scored("seen", "one", "development", verdicts("right")),
            score.Scored("unseen", "two", "blind", verdicts("wrong")),
            score.Scored("unseen_too", "three", "blind", verdicts("right")),
        ]
    )
    assert "unseen" not in found
    assert next(row for row in found.splitlines() if row.startswith("= blind")).split()[2:5] == ["2", "1/2", "(1)"]


@pytest.fixture
def logs(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same log twice, once of a framework for development and once of a blind one, with a truth that it does not meet."""
    frameworks = {
        name: Framework(name, "group", split, packages=[], setups=["loop"])
        for name, split in (("seen", "development"), ("unseen", "blind"))
    }
    for name in frameworks:
        shutil.copytree(run, tmp_path / name / "loop")
        truth = tmp_path / name / "loop" / "truth.json"
        truth.write_text(json.dumps(json.loads(truth.read_text()) | {"framework": name, "last_step": [999]}))
    monkeypatch.setattr(plan, "LOGS", tmp_path)
    monkeypatch.setattr(plan, "BLIND_LOGS", tmp_path)
    monkeypatch.setattr(score, "load", lambda: ({}, frameworks))
    return tmp_path


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (["--verbose"], {"seen/loop: stream step wrong", "= blind"}),
        (["--json"], {'"framework": "seen"'}),
        (["--verbose", "--split", "blind"], {"= blind"}),
        (["--verbose", "unseen"], set()),
        (["--verbose", "unseen/loop"], set()),
    ],
)
def test_no_option_tells_which_blind_log_fails(
    logs: Path, options: list[str], shown: set[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["score", "--shipped", *options])
    score.main()
    said = capsys.readouterr().out
    assert all(text in said for text in shown)
    assert "unseen" not in said
    assert ("= blind" in said) is ("= blind" in shown)
