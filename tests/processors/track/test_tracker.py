"""Logs as frameworks print them, and the numbers they state."""

import functools
from collections.abc import Callable, Sequence

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from processors.classified_chunk import ClassifiedChunk
from processors.grammar.extractor import templates
from processors.track import MetricTracker, TrackState
from processors.track.reports import Report
from schedmate_records import JobMetric, Position
from tests.metric_values import value

from .expecting import clock, expect, track

PLAIN = [
    f"step {i} | loss: {5 - i / 100:.4f} | dt: {12.5 + i % 3:.1f}ms | tok/sec: {81_000 + i:,}" for i in range(1, 61)
]
PIPES = [
    f" iteration {10 * i:8}/    5000 | elapsed time per iteration (ms): {410 + i % 5}.5 | lm loss: {6 - i / 50:.6E} | loss scale: 4096.0 |"
    for i in range(1, 31)
]
BAR = [
    f"{i}%|{'█' * (i // 10)}  | {4 * i}/400 [00:{i // 2:02}<00:30,  8.00it/s, loss={3 - i / 50:.2f}]\r"
    for i in range(1, 60)
]
SLOW_BAR = [f"train:  {i}%|#   | {i}/100 [{i // 20:02}:{3 * i % 60:02}<10:00,  3.00s/it]\r" for i in range(1, 40)]
KERAS = [f"{i}/400 ━━━━━━━━━━ 9s 31ms/step - accuracy: 0.4410 - loss: {2 - i / 400:.4f}" for i in range(1, 40)]
IMAGENET = [
    f"Epoch: [4][{10 * i:3}/900]\tTime  0.{200 + i % 4} ( 0.215)\tData  0.003 ( 0.010)\tLoss {2 - i / 100:.2e} (1.95e+00)"
    for i in range(40)
]
STAMPED = [
    f"[{clock(50 * i * 0.3)}] INFO - Epoch [1/9] Step [{50 * i}/9000] Loss: {4 - i / 50:.3f}" for i in range(1, 40)
]
INTERVAL = [
    f"{clock(50 * i * 0.3)} - trainer - INFO - step {50 * i}, step time: 15.0 s, loss {4 - i / 50:.3f}"
    for i in range(1, 40)
]
WORDS = [f"Score at iteration {100 * i} is {1 / i:.5f}" for i in range(1, 30)]
TABLE = ["epoch,step,loss,step_time_ms", *(f"1,{10 * i},{3 - i / 50:.3f},{40 + i % 3}.0" for i in range(1, 30))]
JSON = [
    f'{{"step": {i}, "loss": {3 - i / 50:.3f}, "samples_per_second": {410 + i % 3}.5, "time": {1.7e9 + i / 5:.2f}}}'
    for i in range(1, 40)
]
BLOCKS = [
    line
    for i in range(1, 30)
    for line in (
        f"{clock(4 * i)}\thost:0\ttrain.loop:12\tINFO\t[step={i}/900,epoch=0]",
        f"    optim/total_grad_norm=0.{50 + i}",
        f"    train/CrossEntropyLoss={4 - i / 50:.3f}",
        f"    throughput/total_tokens={2_097_152 * i:,}",
        f"    throughput/device/tokens_per_second={65_536 + i:,}",
        "    throughput/device/batches_per_second=0.2500",
    )
]
EVENTS = [
    f':::MLLOG {{"namespace": "", "time_ms": {1_700_000_000_000 + 2500 * i + j}, "event_type": "POINT_IN_TIME", "key": "{key}", '
    f'"value": {value}, "metadata": {{"epoch_num": 1, "step_num": {10 * i}}}}}'
    for i in range(1, 30)
    for j, (key, value) in enumerate((("learning_rate", 0.1), ("train_loss", 3 - i / 50), ("eval_loss", 9.5)))
]
TRAINER = [
    line
    for i in range(1, 40)
    for line in (
        f"  {i}%|▏  | {i}/100 [00:{i // 2:02}<01:10,  2.00it/s]\r",
        f"{{'loss': {3 - i / 50:.4f}, 'grad_norm': 0.91, 'learning_rate': 4.2e-05, 'epoch': {i / 50:.2f}}}",
    )
]

FORMATS = {
    "plain": (
        PLAIN,
        {"step": 60, "step_time_s": 0.0135, "throughput": 81_050.5, "throughput_unit": "tokens/s", "loss": 4.4},
    ),
    "pipes": (PIPES, {"step": 300, "step_time_s": 0.4125, "loss": 5.4, "throughput": None}),
    "bar": (BAR, {"step": 236, "step_time_s": 0.125, "loss": 1.82, "method": "rate", "throughput": None}),
    "slow bar": (SLOW_BAR, {"step": 39, "step_time_s": 3.0, "loss": None}),
    "keras": (KERAS, {"step": 39, "step_time_s": 0.031, "loss": 1.9025}),
    "imagenet": (IMAGENET, {"step": 390, "epoch": 4.0, "step_time_s": 0.2015, "loss": 1.61}),
    "stamped": (STAMPED, {"step": 1950, "epoch": 1.0, "step_time_s": 0.3, "method": "timestamps", "loss": 3.22}),
    "interval": (INTERVAL, {"step": 1950, "step_time_s": 0.3, "method": "stated"}),
    "words": (WORDS, {"step": 2900, "step_time_s": None, "method": "unknown", "loss": 0.03448}),
    "table": (TABLE, {"step": 290, "step_time_s": 0.041, "loss": 2.42}),
    "json": (JSON, {"step": 39, "step_time_s": 0.2, "throughput": 411.5, "throughput_unit": "samples/s"}),
    "blocks": (
        BLOCKS,
        {"step": 29, "step_time_s": 4.0, "throughput": 65_555.5, "throughput_unit": "tokens/s/gpu", "loss": 3.42},
    ),
    "events": (EVENTS, {"step": 290, "step_time_s": 0.25, "loss": 2.42, "throughput": None}),
    "trainer": (TRAINER, {"step": 39, "step_time_s": 0.5, "loss": 2.22}),
}


@pytest.mark.parametrize("name", FORMATS)
def test_numbers_of_common_formats(name: str) -> None:
    lines, expected = FORMATS[name]
    metric, _ = track(lines)
    expect(metric, expected)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=15, deadline=None)
@given(sizes=st.lists(st.integers(1, 40), max_size=30))
def test_numbers_do_not_depend_on_the_cut(name: str, sizes: list[int]) -> None:
    lines = [*FORMATS[name][0], "saving the checkpoint", *FORMATS[name][0][-3:]]
    assert read(lines, sizes) == whole(name, tuple(lines))


@functools.cache
def whole(name: str, lines: tuple[str, ...]) -> tuple[JobMetric, list[Report]]:
    """Return what is read of lines that come in one piece, once for all the ways to cut them; a line at a time says the same."""
    found = read(lines)
    assert read(lines, [1] * len(lines)) == found, name
    return found


def read(lines: Sequence[str], sizes: list[int] | None = None) -> tuple[JobMetric, list[Report]]:
    metric, state = track(list(lines), sizes=sizes)
    assert metric is not None
    return numbers(metric), [msgspec.structs.replace(report, offset=0) for report in state.window]


def numbers(metric: JobMetric) -> JobMetric:
    return msgspec.structs.replace(metric, id="", evidence=[], time=0.0)


def test_the_id_and_the_evidence_name_the_newest_report() -> None:
    metric, _ = track([*PLAIN, "done"])
    assert metric is not None
    assert metric.id == "metric/j/job-logs/0/0/60"
    assert metric.evidence[0].line == 60
    assert metric.evidence[0].text == PLAIN[-1]
    assert (metric.since_step, metric.reports) == (41, 20)


def test_a_chunk_without_a_report_makes_nothing() -> None:
    metric, state = track(["hello", "epochs: 3", "Validation: loss 0.5"])
    assert metric is None
    assert state.window == []


def test_only_the_newest_reports_are_read() -> None:
    tracker = MetricTracker()
    track([line for i in range(20) for line in (f"step {i} loss 1.0",)] * 1, tracker=MetricTracker())
    track([f"step {i} loss 1.5 dt: 5.0ms" for i in range(500)], tracker=tracker)
    assert value(tracker.metrics.parsed) <= 30


def test_a_new_run_in_the_same_file_starts_anew() -> None:
    again = [f"step {i} | loss: 9.0 | dt: 50.0ms | tok/sec: 20,000" for i in range(1, 6)]
    metric, _ = track([*PLAIN, *again])
    assert metric is not None
    assert (metric.step, metric.reports, metric.step_time_s, metric.since_step) == (5, 5, 0.05, 1)


def test_a_counter_that_wraps_at_an_epoch_is_no_new_run() -> None:
    lines = [f"Epoch {e} Batch {b} loss 1.0 speed: {400 + b} samples/sec" for e in range(3) for b in range(0, 50, 10)]
    metric, _ = track(lines)
    assert metric is not None
    assert metric.reports == 15


def test_arrival_times_tell_where_nothing_is_printed() -> None:
    lines = [f"step {10 * i} loss 1.0" for i in range(1, 30)]
    metric, _ = track(lines, times=[1e9 + 2.5 * i for i in range(30)])
    assert metric is not None
    assert metric.method == "arrival"
    assert metric.step_time_s == pytest.approx(0.25)
    together, _ = track(lines)
    assert together is not None
    assert (together.step_time_s, together.method) == (None, "unknown")


def test_a_bare_counter_of_samples_is_no_step() -> None:
    lines = [f"Train Epoch: 1 [{640 * i}/60000 ({i}%)]\tLoss: {2 - i / 50:.6f}" for i in range(40)]
    metric, _ = track(lines, times=[1e9 + 2.0 * i for i in range(40)])
    assert metric is not None
    assert (metric.step, metric.step_time_s, metric.epoch) == (None, None, 1.0)
    assert (metric.throughput, metric.throughput_unit) == (pytest.approx(320.0), "samples/s")
    steps, _ = track([f"Train Epoch: 1 [{50 * i}/938 ({i}%)]\tLoss: {2 - i / 50:.6f}" for i in range(15)])
    assert steps is not None
    assert steps.step == 700


def test_a_pause_and_a_slow_start_do_not_count() -> None:
    seconds, now = [], 0.0
    for i in range(30):
        now += 90.0 if i == 20 else 30.0 if i < 2 else 2.0
        seconds.append(now)
    metric, _ = track([f"[{clock(s)}] INFO - step {i} loss 1.0" for i, s in enumerate(seconds)])
    assert metric is not None
    assert metric.step_time_s == pytest.approx(2.0)


def test_a_time_that_contradicts_the_clock_is_dropped() -> None:
    lines = [f"[{clock(2 * i)}] INFO - step {i} loss 1.0 step time: 300 s" for i in range(1, 30)]
    metric, _ = track(lines)
    assert metric is not None
    assert (metric.method, metric.step_time_s) == ("timestamps", pytest.approx(2.0))


def test_bars_of_an_evaluation_do_not_count_once_reports_name_their_step() -> None:
    evaluation = [f" {i}%|#  | {i}/50 [00:01<00:02, 99.0it/s]\r" for i in range(1, 50)]
    metric, _ = track([*evaluation, *PLAIN, *evaluation])
    assert metric is not None
    assert (metric.step, metric.step_time_s) == (60, 0.0135)


def test_a_loss_that_is_no_number_is_null_and_not_the_one_before() -> None:
    metric, _ = track([*PLAIN, "step 61 | loss: nan | dt: 12.5ms | tok/sec: 81,000"])
    assert metric is not None
    assert (metric.step, metric.loss) == (61, None)


def test_the_loss_before_many_redraws_of_a_bar_is_kept() -> None:
    bar = [f"  {i}%|▏  | {i}/900 [00:{i % 60:02}<01:10,  2.00it/s]\r" for i in range(1, 300)]
    lines = ["{'loss': 1.25, 'learning_rate': 4.2e-05, 'epoch': 0.1}", *bar]
    for sizes in ([], [1] * len(lines), [100, 100]):
        metric, _ = track(lines, sizes=sizes)
        assert metric is not None
        assert (metric.loss, metric.step) == (1.25, 299)


def test_the_state_stays_small() -> None:
    _, state = track([line + " " + "x" * 5000 for line in PLAIN])
    assert len(msgspec.json.encode(state)) < 8000


@example(["e[.:0/"])
@given(st.lists(st.text("0123456789 .,:=/%|[]<>steploss\re-+it(){}'\"", max_size=60), min_size=1, max_size=20))
def test_any_text_is_survived(lines: list[str]) -> None:
    tracker, state = MetricTracker(), TrackState()
    view = ClassifiedChunk(
        "j",
        0,
        "",
        0,
        "stdout",
        Position("t", 0, 0),
        0.0,
        lines,
        range(1, len(lines) + 1),
        [0.0] * len(lines),
        "p" * len(lines),
        templates(lines),
    )
    tracker.observe(view, state)
    assert len(state.window) <= 20


def drawn_by_tqdm(i: int) -> str:
    part = " ▏▎▍▌▋▊▉"[i * 8 // 10 % 8].strip()
    return f"{i}%|{('█' * (i // 10) + part).ljust(10)}| {5 * i}/500 [00:0{i // 20}<00:09, 50.00it/s]"


def drawn_by_keras(i: int) -> str:
    return f"{5 * i}/500 [{('=' * (i // 5) + '>').ljust(21, '.')}] - ETA: {9 - i // 12}s - 20ms/step - loss: 0.5"


@pytest.mark.parametrize("bar", [drawn_by_tqdm, drawn_by_keras])
def test_a_bar_that_grows_stays_one_report(bar: Callable[[int], str]) -> None:
    metric, _ = track([bar(i) + "\r" for i in range(1, 101)])
    assert metric is not None
    assert (metric.step, metric.since_step, metric.reports) == (500, 405, 20)
    assert metric.step_time_s == pytest.approx(0.02)
