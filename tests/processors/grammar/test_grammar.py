"""Numbers, units, names, prefixes, stamps and tables."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.grammar import stamps, table, units
from processors.grammar.cache import GenerationCache
from processors.grammar.extractor import DIGITS, Extractor, templates
from processors.grammar.names import Meaning, meaning
from processors.grammar.numbers import NUMBER, parse
from processors.grammar.prefix import clean, strip_prefix


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("-0.5", -0.5),
        ("1.2e-3", 0.0012),
        ("6.120110E+00", 6.12011),
        ("81,920", 81920),
        ("0,2322", 0.2322),
        ("12,5", 12.5),
        ("-1,25e-3", -0.00125),
        ("1,234.5", 1234.5),
        ("23.7k", 23700),
        ("1.5M", 1.5e6),
        ("1:02:03", 3723),
        ("01:30", 90),
        ("1 day, 2:03:04", 93784),
        ("2 days 0:00:01", 172801),
        ("1h 2m 3.5s", 3723.5),
        ("8 minutes 20 seconds", 500),
        ("1 hour and 5 min", 3900),
        (".25", 0.25),
        ("007", 7),
    ],
)
def test_numbers(text: str, value: float) -> None:
    found = NUMBER.fullmatch(text)
    assert found
    assert parse(found[1]) == pytest.approx(value)


@given(st.integers(0, 99), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
def test_durations_in_any_form(days: int, hours: int, minutes: int, seconds: int) -> None:
    value = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    forms = (
        f"{days} days, {hours}:{minutes:02}:{seconds:02}",
        f"{days}d {hours}h {minutes}m {seconds}s",
        f"{days} days {hours} hours {minutes} minutes and {seconds} seconds",
    )
    for form in forms:
        assert [parse(found[1]) for found in NUMBER.finditer(f"took {form}.")] == [value]


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("step 12 loss 0,2322", {Meaning.STEP: 12, Meaning.LOSS: 0.2322}),
        ("step 1,200 loss 0,23", {Meaning.STEP: 1200, Meaning.LOSS: 0.23}),
        ("step 12 | loss 0,2322 | 1,25 s/it", {Meaning.STEP: 12, Meaning.LOSS: 0.2322, Meaning.STEP_TIME: 1.25}),
        ("step 12 loss 1,234.5", {Meaning.STEP: 12, Meaning.LOSS: 1234.5}),
        ("step 12 loss 0.23 18,020 tok/s", {Meaning.STEP: 12, Meaning.LOSS: 0.23, Meaning.RATE: 18020}),
    ],
)
def test_a_comma_that_parts_decimals_is_read_or_left(line: str, values: dict[Meaning, float]) -> None:
    reading = Extractor().read(line)
    assert {field.meaning: value for field, value in reading.values} == values


def test_of_redraws_with_backspaces_the_last_is_kept() -> None:
    assert clean("step 1/40 - loss: 2.0" + "\b" * 21 + "step 2/40 - loss: 1.0" + "\b" * 21) == "step 2/40 - loss: 1.0"


def test_a_digit_within_a_word_is_no_number() -> None:
    assert NUMBER.findall("top1 fc6 P100 v2.1 err-top5") == []
    assert NUMBER.findall("1,2,3") == ["1", "2", "3"]
    assert NUMBER.findall("number of nan iterations: 3") == ["3"]
    assert math.isnan(parse(NUMBER.findall("loss: nan | dt")[0]))


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_every_float_is_read_back(value: float) -> None:
    for text in (repr(value), f"{value:.6e}"):
        found = NUMBER.fullmatch(text)
        assert found
        assert parse(found[1]) == float(text)


@given(st.integers(0, 10**12))
def test_thousands_are_read_back(value: int) -> None:
    found = NUMBER.fullmatch(f"{value:,}")
    assert found
    assert parse(found[1]) == value


@pytest.mark.parametrize(
    ("text", "unit", "scale"),
    [
        ("images/sec", "samples/s", 1),
        ("samples / sec", "samples/s", 1),
        ("tokens_per_second", "tokens/s", 1),
        ("tok/s/gpu", "tokens/s/gpu", 1),
        ("tokens per second per device", "tokens/s/gpu", 1),
        ("throughput/device/tokens_per_second", "tokens/s/gpu", 1),
        ("it/s", "it/s", 1),
        ("steps_per_second", "it/s", 1),
        ("images/min", "samples/s", 1 / 60),
        ("RunningAvgSamplesPerSec", "samples/s", 1),
        ("fps", "samples/s", 1),
    ],
)
def test_rates(text: str, unit: str, scale: float) -> None:
    rate = units.rate(text)
    assert rate is not None
    assert (rate.unit, rate.scale) == (unit, pytest.approx(scale))


@pytest.mark.parametrize(
    "text", ["loss", "MB/s", "kB/s", "MiB/s", "Gb/s", "steps", "seconds", "batch_size", "learning_rate"]
)
def test_no_rates(text: str) -> None:
    assert units.rate(text) is None


@pytest.mark.parametrize(
    ("text", "seconds"), [("s/it", 1), ("ms/step", 1e-3), ("sec per iteration", 1), ("ms/batch", 1e-3), ("it/s", None)]
)
def test_periods(text: str, seconds: float | None) -> None:
    assert units.period(text) == seconds


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("step", Meaning.STEP),
        ("global_step", Meaning.STEP),
        ("Iteration", Meaning.STEP),
        ("num_updates", Meaning.STEP),
        ("Epoch", Meaning.EPOCH),
        ("time/sample_in_epoch", None),
        ("images this epoch", None),
        ("lm loss", Meaning.LOSS),
        ("train/CrossEntropyLoss", Meaning.LOSS),
        ("elapsed time per iteration (ms)", Meaning.STEP_TIME),
        ("step_time", Meaning.STEP_TIME),
        ("time_elapsed", Meaning.CLOCK),
        ("time", Meaning.TIME),
        ("accuracy", Meaning.MEASURE),
        ("val_loss", None),
        ("eval_samples_per_second", None),
        ("loss scale", None),
        ("batch_size", None),
        ("warmup_steps", None),
        ("seed", None),
    ],
)
def test_names(name: str, what: Meaning | None) -> None:
    found = meaning(name)
    assert (found[0] if found else None) == what


@pytest.mark.parametrize(
    ("line", "body", "level", "stamp"),
    [
        ("hello", "hello", "", ""),
        ("[rank3]:   File x", "  File x", "", ""),
        (" 12: hello", "hello", "", ""),
        ("[1,3]<stderr>:hello", "hello", "", ""),
        ("(train_fn pid=42, ip=10.0.0.1) hello", "hello", "", ""),
        ("2031-02-03 04:05:06,789 - a.b - WARNING - hello", "hello", "WARNING", "2031-02-03 04:05:06,789"),
        ("[2031-02-03 04:05:06,789] [INFO] [engine.py:13:init] hello", "hello", "INFO", "2031-02-03 04:05:06,789"),
        ("04:05:06.789 [main] ERROR org.x.Y - hello", "hello", "ERROR", "04:05:06.789"),
        ("W0203 04:05:06.789012 812 torch/run.py:80] hello", "hello", "WARNING", "0203 04:05:06.789012"),
        ("INFO:root:hello", "hello", "INFO", ""),
        ("[pod/train-0/main] hello", "hello", "", ""),
        ("2031-02-03T04:05:06.789012Z 01E hello", "hello", "", "2031-02-03T04:05:06.789012Z"),
        ("2031-02-03T04:05:06.789012Z 00O ERROR: hello", "hello", "ERROR", "2031-02-03T04:05:06.789012Z"),
        ("12.3s 45 hello", "hello", "", ""),
        ("12.3s per step", "12.3s per step", "", ""),
        ("Feb 03 04:05:06 n1 train[42]: hello", "hello", "", "Feb 03 04:05:06"),
        (
            "[2031-02-03T04:05:06.789+0000] {subprocess.py:93} INFO - ERROR: hello",
            "hello",
            "ERROR",
            "2031-02-03T04:05:06.789+0000",
        ),
        ("[2031-02-03T04:05:06.789+0000] {train.py:93} INFO - hello", "hello", "INFO", "2031-02-03T04:05:06.789+0000"),
        ("04:05:06 INFO train[42]: hello", "train[42]: hello", "INFO", "04:05:06"),
        ("\x1b[33m\x1b[1mWARNING\x1b[0m: hello", "hello", "WARNING", ""),
        ("\0hel\0lo\r", "hello", "", ""),
        ("5%\r10%\r", "10%", "", ""),
        ("bar 5%\x1b[A", "bar 5%", "", ""),
        ("old text\x1b[1A\x1b[2Kstep 3", "step 3", "", ""),
        ("old text\x1b[2K\x1b[1Gstep 3 loss 1", "step 3 loss 1", "", ""),
        ("\x1b7loss 2\x1b8", "loss 2", "", ""),
        ("section\r\x1b[0KERROR: hello\x1b[K", "hello", "ERROR", ""),
        ("a\x1b[5Cb", "a b", "", ""),
        ("ERROR: hello\x1b[2J!", "hello!", "ERROR", ""),
        ("step: 5 loss: 2", "step: 5 loss: 2", "", ""),
        ("INFO loss:0.5", "loss:0.5", "INFO", ""),
    ],
)
def test_prefixes(line: str, body: str, level: str, stamp: str) -> None:
    prefixed = strip_prefix(line)
    assert (prefixed.body, prefixed.level, prefixed.stamp) == (body, level, stamp)


@pytest.mark.parametrize(
    ("earlier", "later", "seconds"),
    [
        ("2031-02-03 04:05:06,500", "2031-02-03 04:05:07,750", 1.25),
        ("2031-02-28T23:59:59Z", "2031-03-01T00:00:01Z", 2),
        ("02/03 04:05:06", "02/03 04:06:06", 60),
        ("Tue Feb  3 04:05:06 2031", "Tue Feb  3 04:05:16 2031", 10),
        ("0203 04:05:06.5", "0203 04:05:07.0", 0.5),
        ("23:59:58", "00:00:03", 5),
        ("11:59:59 AM", "12:00:01 PM", 2),
    ],
)
def test_stamps(earlier: str, later: str, seconds: float) -> None:
    begin, end = stamps.seconds(earlier), stamps.seconds(later)
    assert begin is not None
    assert end is not None
    assert stamps.difference(begin, end) == pytest.approx(seconds)


def test_stamps_that_cannot_be_read() -> None:
    assert stamps.seconds("yesterday") is None
    assert stamps.seconds("2031-99-03 04:05:06") == 4 * 3600 + 5 * 60 + 6


def test_rows_and_headers() -> None:
    assert table.is_row("1,10,0.5")
    assert table.is_row("| 1 | 10 | 0.5 |")
    assert not table.is_row("1,x,0.5")
    assert not table.is_row("5")
    assert table.is_header("epoch,step,loss")
    assert table.is_header("epoch     train_loss  valid_loss  time")
    assert not table.is_header("well, this is prose. It goes on")
    assert table.cells("epoch , step,loss\r") == ["epoch", "step", "loss"]
    assert table.value("x") is None


@given(
    st.lists(
        st.tuples(st.sampled_from(["step", "loss", "lr", "time", "acc"]), st.floats(0, 1e6)), min_size=1, max_size=5
    )
)
def test_a_template_remembers_the_places_of_its_numbers(fields: list[tuple[str, float]]) -> None:
    line = "2031-02-03 04:05:06 " + ", ".join(f"{name}={value:.3f}" for name, value in fields)
    extractor = Extractor()
    extractor.read(line.translate(DIGITS))  # the same template, other digits
    again, fresh = extractor.read(line), Extractor().read(line)
    assert again.values == fresh.values
    assert again.stamp == fresh.stamp
    for field, value in fresh.values:
        assert f"{field.name}={value / field.scale:.3f}" in line


@given(
    st.sampled_from(
        [
            "",
            "\x1b[32m",
            "\x1b[1;31m[rank1]: ",
            "3%|1 | 4/9\r",
            "step 3\x1b[2A",
            "\x1b[2K",
            "\0",
            "x" * 1000,
            "it/s " * 300,
        ]
    ),
    st.sampled_from(["step 12 loss 0.5", "2031-02-03 04:05:06 step=7, time=1.5s", "5/90 [00:03<00:09, 8.00it/s]"]),
    st.sampled_from(["", "\r", "\x1b[0m", " took 8 ms" + "y" * 1000, "\x1b[K\r", "\x1b[1A"]),
)
def test_a_template_tells_where_the_numbers_of_the_line_as_printed_are(before: str, body: str, after: str) -> None:
    line = before + body + after
    extractor, [template] = Extractor(), templates([line])
    for digits in (line.translate(DIGITS), line):
        found, alone = extractor.read(digits, template), Extractor().read(clean(digits))
        assert (found.values, found.stamp, found.rank) == (alone.values, alone.stamp, alone.rank)


def test_the_cache_keeps_what_is_used_and_forgets_the_rest() -> None:
    cache: GenerationCache[int] = GenerationCache(3)
    cache.put("kept", 1)
    for number in range(20):
        cache.put(str(number), number)
        assert cache.get("kept") == 1
    assert cache.get("0") is None
    assert len(cache) <= 6
    with pytest.raises(ValueError, match="at least 1"):
        GenerationCache(0)


@pytest.mark.parametrize(
    ("line", "tag", "text"),
    [
        ("    return x", "", "    return x"),
        ("[rank12]:   File", "[rank12]:", "  File"),
        ("(pid=7) 2031-02-03 04:05:06,789 ERROR   File", "(pid=7)", "  File"),
        ("stderr | 1: [2031-02-03 04:05:06]   File", "stderr |1:", "  File"),
        ("2031-02-03 04:05:06 ERROR a.b.BadError: no", "", "a.b.BadError: no"),
    ],
)
def test_what_a_process_printed_itself_is_kept_whole(line: str, tag: str, text: str) -> None:
    prefixed = strip_prefix(line)
    assert (prefixed.tag, prefixed.text) == (tag, text)
