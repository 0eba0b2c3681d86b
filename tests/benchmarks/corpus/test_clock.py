import json

import pytest

from benchmarks.corpus.clock import Clock


class Time:
    """A clock of which sleeping is the only hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def clock(time: Time, **options: float) -> Clock:
    return Clock(now=time, sleep=time.sleep, **options)  # type: ignore[arg-type]


def test_a_step_is_drawn_out_to_the_pace() -> None:
    time = Time()
    tested = clock(time, pace=0.1)
    tested.begin()
    time.now += 0.03
    tested.step(1.5)
    time.now += 0.25  # slower than the pace by itself
    tested.step(1.25)
    assert tested.durations == pytest.approx([0.1, 0.25])
    assert tested.losses == [1.5, 1.25]


def test_what_is_no_step_counts_for_none() -> None:
    time = Time()
    tested = clock(time, pace=0.1)
    tested.begin()
    tested.step()
    time.now += 60  # an evaluation
    tested.begin()
    tested.step()
    assert tested.durations == pytest.approx([0.1, 0.1])


def test_slow_start_and_pause_leave_the_median_alone() -> None:
    time = Time()
    tested = clock(time, pace=0.1, slow_start=5.0, pause=3.0, pause_after=3)
    tested.begin()
    for _ in range(9):
        tested.step()
    assert tested.durations[0] == pytest.approx(5.1)
    assert tested.durations[3] == pytest.approx(3.1)
    assert tested.truth()["step_time_s"] == pytest.approx(0.1)


def test_truth_rests_on_the_newest_reports() -> None:
    time = Time()
    tested = clock(time, pace=0.2, batch=8, tokens=64, interval=2)
    tested.begin()
    for step in range(60):
        if step == 20:
            tested.pace = 0.5
        tested.step()
    truth = tested.truth(step=[60, 20], loss=0.25)
    assert truth["step_time_s"] == pytest.approx(0.5)  # 20 reports of 2 steps: the slow part only
    assert truth["samples_per_s"] == pytest.approx(16)
    assert truth["tokens_per_s"] == pytest.approx(128)
    assert truth["last_step"] == [60, 20]
    assert truth["last_loss"] == [0.25]
    assert truth["tells"] == {"speed": True, "step": True, "loss": True}


def test_what_a_log_does_not_tell_is_marked() -> None:
    tested = clock(Time(), pace=0.2)
    tested.step()
    truth = tested.truth(speed=False)
    assert truth["tells"] == {"speed": False, "step": False, "loss": False}
    assert truth["samples_per_s"] is None


def test_the_first_rank_writes(tmp_path, monkeypatch) -> None:
    target = tmp_path / "truth.json"
    monkeypatch.setenv("CORPUS_TRUTH", str(target))
    tested = clock(Time(), pace=0.2)
    tested.step()
    monkeypatch.setenv("RANK", "1")
    tested.finish(step=1)
    assert not target.exists()
    monkeypatch.setenv("RANK", "0")
    tested.finish(step=1)
    assert json.loads(target.read_text())["last_step"] == [1]


def test_the_mean_leaves_out_what_is_no_step_of_its_own() -> None:
    tested = clock(Time(), pace=0.1, pause=3.0, pause_after=5)
    tested.begin()
    for _ in range(10):
        tested.step()
    assert tested.truth()["step_time_mean_s"] == pytest.approx(0.1)
    larger = tested.truth(larger=[5])
    assert larger["step_time_mean_s"] == pytest.approx(0.4)
    assert larger["also_step_time_s"] == pytest.approx([2.0])
