"""Numbers and units, in any combination."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.grammar import units
from processors.grammar.extractor import Extractor
from processors.grammar.names import Meaning

SECONDS = {"us": 1e-6, "ms": 1e-3, "msec": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0, "min": 60.0, "h": 3600.0}
THINGS = {
    "samples": units.SAMPLES,
    "images": units.SAMPLES,
    "tokens": units.TOKENS,
    "it": units.STEPS,
    "steps": units.STEPS,
}
VALUES = st.floats(0.001, 1e6).map(lambda value: round(value, 4))
EXTRACTOR = Extractor()


def read(line: str) -> dict[Meaning, float]:
    return {slot.meaning: value for slot, value in EXTRACTOR.read(line).values}


@given(
    VALUES,
    st.sampled_from(sorted(SECONDS)),
    st.sampled_from(["step time", "iter_time", "batch time", "dt"]),
    st.sampled_from([": ", "=", " = "]),
)
def test_a_step_time_in_any_unit(value: float, unit: str, name: str, between: str) -> None:
    found = read(f"step 5 {name}{between}{value} {unit} loss 2.0")
    assert found[Meaning.STEP_TIME] == pytest.approx(value * SECONDS[unit])


@given(VALUES, st.sampled_from(sorted(SECONDS)), st.sampled_from(["it", "step", "iter", "batch"]))
def test_time_per_step_by_its_unit(value: float, unit: str, step: str) -> None:
    assert read(f"step 5 loss 2.0 {value} {unit}/{step}")[Meaning.STEP_TIME] == pytest.approx(value * SECONDS[unit])


@given(VALUES, st.sampled_from(sorted(THINGS)), st.sampled_from(["s", "sec", "min"]), st.sampled_from(["/", " per "]))
def test_rates_in_any_unit(value: float, things: str, unit: str, per: str) -> None:
    readings = EXTRACTOR.read(f"step 5 loss 2.0 speed {value} {things}{per}{unit}").values
    slot, found = next((slot, found) for slot, found in readings if slot.meaning is Meaning.RATE)
    assert slot.unit == THINGS[things]
    assert found == pytest.approx(value / SECONDS[unit])


@given(st.integers(1, 999), st.sampled_from("kM"))
def test_thousands_before_the_thing(value: int, prefix: str) -> None:
    found = read(f"step 5 loss 2.0 speed {value} {prefix}tok/s")
    assert found[Meaning.RATE] == pytest.approx(value * {"k": 1e3, "M": 1e6}[prefix])


@given(st.text(max_size=2500))
def test_any_line_is_read(line: str) -> None:
    EXTRACTOR.read(line)
    EXTRACTOR.read(line * 3 + " 12")


@pytest.mark.parametrize(
    "line",
    [
        "3 steps took 5 \u017f",
        "loss 2.0 0.5 \u017f/it",
        "speed 3 \u017famples/\u017f",
        "time (\u017f): 5",
        "4 \u212a/s",
    ],
)
def test_letters_that_only_fold_to_a_unit_are_none(line: str) -> None:
    EXTRACTOR.read(line)
    assert units.time_after("\u017f") is None
