"""Made-up formats: what is said to be known of a log is in the log."""

from collections import Counter
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.formats.generate import NEWEST, generate
from benchmarks.formats.layouts import LAYOUTS
from processors.read.roles import Phase, Role

SEEDS = st.integers(min_value=0, max_value=2**31)
WIDE = range(120)


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_the_same_seed_gives_the_same_log(seed: int) -> None:
    assert generate(seed) == generate(seed)


@given(SEEDS)
def test_numbers_stand_in_their_line_in_order(seed: int) -> None:
    for line in generate(seed).lines:
        place = 0
        for number in line.numbers:
            place = line.text.index(number.text, place) + len(number.text)


@given(SEEDS)
def test_the_last_report_holds_the_truth_that_it_tells(seed: int) -> None:
    log = generate(seed)
    told = [number for line in log.lines if line.phase is Phase.TRAINING for number in line.numbers]
    steps = [number for number in told if number.quantity in ("step", "step_in_epoch")]
    losses = [number for number in told if number.quantity == "loss"]
    assert log.truth["tells"]["step"] == bool(steps)
    assert log.truth["tells"]["loss"] == bool(losses)
    if steps:
        assert float(steps[-1].text.replace(",", "")) in log.truth["last_step"]
    if losses:
        decimals = len(losses[-1].text.partition(".")[2].partition("e")[0])
        mantissa = 10 ** int(losses[-1].text.partition("e")[2] or 0)
        assert abs(float(losses[-1].text) - log.truth["last_loss"][0]) <= 0.51 * 10**-decimals * mantissa


@given(SEEDS)
def test_the_pace_that_is_printed_is_the_true_one(seed: int) -> None:
    log = generate(seed)
    rates = [
        float(number.text)
        for line in log.lines
        if line.phase is Phase.TRAINING
        for number in line.numbers
        if number.quantity == "rate_steps"
    ]
    if len(rates) >= NEWEST:
        near = sum(0.5 < rate * log.truth["step_time_s"] < 2 for rate in rates[-NEWEST:])
        assert near >= 0.8 * NEWEST


def test_times_never_go_back() -> None:
    for seed in range(20):
        times = [line.time for line in generate(seed).lines]
        assert all(later >= earlier - 0.1 for earlier, later in pairwise(times))


def test_formats_are_wide() -> None:
    logs = [generate(seed) for seed in WIDE]
    assert {log.layout for log in logs} == set(LAYOUTS)
    roles = Counter(number.role for log in logs for line in log.lines for number in line.numbers)
    assert set(roles) == set(Role)
    assert {line.phase for log in logs for line in log.lines} == set(Phase)
    first = {log.lines[len(log.lines) // 2].text for log in logs}
    assert len(first) > 0.95 * len(logs)
    assert any(not text.isascii() for text in first)
