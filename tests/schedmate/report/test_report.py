"""What a person sees of a log."""

import json
import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from processors.job import JobProcessor
from schedmate.analysis.analysis import MOST_POINTS, MOST_TEMPLATES, Analysis, analyze
from schedmate.report.report import report
from schedmate.top.sparkline import BLOCKS, FEWEST, WIDTH, sparkline
from streams.producers.stored import read_chunks


def analysed(folder: Path, lines: list[str]) -> Analysis:
    log = folder / "train.log"
    log.write_text("\n".join(lines) + "\n")
    return analyze(log, read_chunks(log), JobProcessor())


def shown(analysis: Analysis, explain: bool = False) -> str:
    console = Console(width=200, soft_wrap=True)
    with console.capture() as held:
        console.print(report(analysis, explain))
    return held.get()


def test_a_curve_begins_where_the_log_does(tmp_path: Path) -> None:
    lines = [f"step {i} | loss {max(2.0, 3 - i / 50):.3f} | 0.25 s/it" for i in range(1, 3000)]
    analysis = analysed(tmp_path, lines)
    first = next(point for point in analysis.points if point.loss is not None)
    assert (first.line, first.loss) == (1, 2.98)
    assert "Only the latest progress lines of each 500 were used." in shown(analysis, explain=True)
    assert "of each 500" not in shown(analysed(tmp_path, lines[:400]), explain=True)


LINES = [
    f"2031-02-03 04:{i // 60:02}:{i % 60:02} INFO step {i} loss {5 - i / 100:.3f} data time: 0.020 s step time: {1 + i % 2 / 50:.2f} s"
    for i in range(200)
]


def test_curves_and_where_the_number_comes_from(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, LINES)
    text = shown(analysis)
    assert "`step time`: agrees with the printed timestamps within" in text
    assert "step {} loss {} data time: {} s step time: {} s" in text
    curves = [line for line in text.splitlines() if set(BLOCKS) & set(line)]
    assert [line.split()[0] for line in curves] == ["step", "loss"]
    assert "readings" not in text


def test_the_readings_that_lost(tmp_path: Path) -> None:
    text = shown(analysed(tmp_path, LINES), explain=True)
    given, lost = (
        next(line for line in text.splitlines() if name in line and "score" in line)
        for name in ("`step time`", "`data time`")
    )
    assert "(given)" in given
    assert "(given)" not in lost
    assert "contradicts" in lost


def test_the_numbers_that_may_be_step_and_loss(tmp_path: Path) -> None:
    lines = [f"upd {i} nll {4 / i + 1:.4f} gn 0.{i % 7}" for i in range(1, 60)]
    text = shown(analysed(tmp_path, lines), explain=True)
    assert re.search(r"columns +`upd` may be the step, now 59, log odds [\d.]+ \(likely enough\)", text)
    assert re.search(r"`nll` may be the loss, now 1\.0678, log odds [\d.]+ \(likely enough\)", text)
    assert "may be the" not in shown(analysed(tmp_path, lines))


def test_what_events_count_and_what_agrees_with_it(tmp_path: Path) -> None:
    def event(key: str, second: float, **metadata: int) -> str:
        return f":::MLLOG {json.dumps({'time_ms': int(1.9e12 + 1000 * second), 'key': key, 'value': None, 'metadata': metadata})}"

    sizes = [f':::MLLOG {{"time_ms": 1900000000000, "key": "{key}", "value": {value}}}' for key, value in
             (("global_batch_size", 64), ("train_samples", 6400))]  # fmt: skip
    counted = [event("progress", 10 + 2 * i, samples_count=640 * i) for i in range(30)]
    text = shown(analysed(tmp_path, [*sizes, event("run_start", 1), *counted]), explain=True)
    assert re.search(
        r"events +`samples_count` counts samples, score [\d.]+ \(given\): 100% of its differences are multiples of 64",
        text,
    )


def test_where_the_job_could_go_on(tmp_path: Path) -> None:
    saves = [*LINES[:100], "Saved checkpoint to /run/step_100.pt", *LINES[100:]]
    analysis = analysed(tmp_path, saves)
    assert "saved     step 100, /run/step_100.pt" in shown(analysis)
    assert analysis.contract()["checkpoint"] == {
        "step": 100,
        "path": "/run/step_100.pt",
        "durable_by": "completion",
        "lines": [101],
    }
    assert "saved" not in shown(analysed(tmp_path, LINES))


def test_alarms_and_ranks_of_one_file(tmp_path: Path) -> None:
    ranks = [
        f"[rank{rank}]: step {step} | loss {'nan' if step > 150 else 2.0} | step time: {0.9 if rank else 0.3} s"
        for step in range(200)
        for rank in range(2)
    ]
    analysis = analysed(tmp_path, ranks)
    text = shown(analysis)
    assert "Loss NaN since step 151" in text
    assert "rank 1 is the slowest, 1.50 times the median" in text
    assert analysis.contract()["ranks"]["slowest"] == 1
    assert analysis.contract()["alarms"][0]["kind"] == "loss_not_finite"


def test_a_speed_without_a_step_time_says_no_method(tmp_path: Path) -> None:
    text = shown(analysed(tmp_path, [f"iteration {i}/100 loss=2.0 throughput=264.5 samples/s" for i in range(40)]))
    assert "264.5 samples/s (median of 20 reports)" in text


def test_few_reports_draw_nothing(tmp_path: Path) -> None:
    text = shown(analysed(tmp_path, LINES[:4]))
    assert not set(text) & set(BLOCKS)


def test_what_is_kept_of_a_long_log_is_bounded(tmp_path: Path) -> None:
    words = [f"{a}{b}" for a in "abcdefghijklmnop" for b in "abcdefghijklmnop"]
    lines = [f"step {i} loss 2.0 {words[i // 80 % 256]}" for i in range(20_000)]
    analysis = analysed(tmp_path, lines)
    assert 5 <= len(analysis.points) <= MOST_POINTS
    assert len(analysis.templates) <= MOST_TEMPLATES


@given(st.lists(st.floats(-1e9, 1e9), max_size=300))
def test_a_curve_is_as_wide_as_its_values_or_the_terminal_allows(values: list[float]) -> None:
    curve = sparkline(values)
    assert len(curve) == (0 if len(values) < FEWEST else min(len(values), WIDTH))
    assert set(curve) <= set(BLOCKS)


def test_a_curve_falls_as_its_values_do() -> None:
    assert sparkline([8, 7, 6, 5, 4, 3, 2, 1]) == BLOCKS[::-1]
    assert sparkline([1.0] * 6) == BLOCKS[0] * 6


def test_the_short_meaning_stands_before_the_raw_lines(tmp_path: Path) -> None:
    crash = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
    text = shown(
        analysed(tmp_path, [*LINES[:40], "Traceback (most recent call last):", '  File "a.py", line 1, in f', crash])
    )
    (verdict,) = [line for line in text.splitlines() if line.startswith("  verdict")]
    assert crash not in verdict
    assert re.search(r"verdict +user script, \w[\w ]+, line 43; a restart will not help \(confidence", verdict)
    assert text.index(verdict) < text.index(f"43 | {crash}") < text.index("  to do ")


def test_a_time_limit_names_what_helps(tmp_path: Path) -> None:
    limit = "slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 2024-01-02T03:04:05 DUE TO TIME LIMIT ***"
    text = shown(analysed(tmp_path, [*LINES[:40], limit]))
    assert "Killed by the time limit. Request more time or resume from the checkpoint. (line 41, confidence" in text


def test_why_a_speed_is_unknown(tmp_path: Path) -> None:
    assert "speed     unknown: no line reports progress" in shown(analysed(tmp_path, ["hello"]))
    assert "speed     unknown: no time, rate or clock is printed with the steps" in shown(
        analysed(tmp_path, [f"step {i} loss {3 - i / 100}" for i in range(30)])
    )


def test_the_loss_goes_from_its_first_value_to_its_last(tmp_path: Path) -> None:
    assert re.search(
        r"  loss +[▁▂▃▄▅▆▇█]+  5 → 3\.01 \(lines 1 to 200\)$", shown(analysed(tmp_path, LINES)), flags=re.MULTILINE
    )
    assert "  loss      5 → 4.99 (lines 1 to 2)" in shown(analysed(tmp_path, LINES[:2]))


def test_a_throughput_is_written_without_powers_of_ten(tmp_path: Path) -> None:
    lines = [f"iteration {i}/100 loss=2.0 throughput=475613.2 samples/s" for i in range(40)]
    assert "475,613 samples/s" in shown(analysed(tmp_path, lines))


def test_one_line_is_no_lines(tmp_path: Path) -> None:
    text = shown(analysed(tmp_path, ["step 1 loss 0.5 0.2 s/it"]))
    assert "train.log  1 line\n" in text
    assert "median of 1 report)" in text
