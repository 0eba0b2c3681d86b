"""Classes that follow what the numbers of a stream do."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.classify import ClassifyContext, LineClassifier
from processors.classify.phases import DECIDED, TEMPLATES, PhaseReader


def classify(lines: list[str], context: ClassifyContext | None = None) -> str:
    return LineClassifier(phases=PhaseReader()).classify(lines, context or ClassifyContext())


def strange(begin: int, end: int) -> list[str]:
    return [
        f"zug {20 * number} | kummer {3 - 0.01 * number:.4f} | tempo {81 + number % 5}.5"
        for number in range(begin, end)
    ]


def test_a_growing_counter_beside_a_loss_is_a_report_in_whatever_words() -> None:
    words = LineClassifier().classify(strange(1, 12), ClassifyContext())
    assert words == "o" * 11
    assert classify(strange(1, 12)) == "p" * 11


def test_parts_of_machines_that_are_counted_are_no_reports() -> None:
    assert classify([f"shard {number} has {5000 + 37 * number} cells" for number in range(12)]) == "o" * 12


def test_lines_that_come_as_often_as_a_report_but_apart_are_no_parts_of_it() -> None:
    lines = [
        line
        for n in range(1, 6)
        for line in (f"loss: {n}.5", *["x"] * 5, f"stock left: {9 * n}", *["y"] * 5, f"room: {n}")
    ]
    found = classify(lines)
    assert {found[place] for place, line in enumerate(lines) if line.startswith(("stock", "room"))} == {"o"}


def test_a_stream_goes_on_from_its_stored_state() -> None:
    context = ClassifyContext()
    classify(strange(1, 12), context)
    stored = msgspec.json.decode(msgspec.json.encode(context), type=ClassifyContext)
    assert classify(strange(12, 14), stored) == "pp"


def test_what_a_stream_remembers_is_bounded() -> None:
    context = ClassifyContext()
    for number in range(400):
        name = "".join(chr(97 + int(digit)) for digit in f"{number:03d}")
        classify([f"{name} {3 * turn} of it is {0.5 * turn:.3f}" for turn in range(1 + number % 2 * 9)], context)
    assert len(context.phases.observed) <= TEMPLATES
    assert len(context.phases.decided) <= DECIDED


@pytest.mark.parametrize(
    "shown", ["stock {n} left \x1b{n}room {n}", "x{{'a{n}': 5}} {{'a{n}5': {n}}}", "wide \uff11{n} loss {n}.5"]
)
def test_digits_that_decide_what_of_a_line_is_shown_stop_nothing(shown: str) -> None:
    lines = [shown.format(n=n % 9 + 1) for n in range(40)]
    assert len(classify(lines)) == len(lines)


@given(st.lists(st.text("\x1b[78;KA\r\b{}':,%|# 123aloss/", max_size=60), min_size=1, max_size=20))
def test_no_text_of_a_terminal_stops_it(lines: list[str]) -> None:
    everything = [line for line in lines for _ in range(3)] + [
        line.translate(str.maketrans("123", "781")) for line in lines
    ]
    assert len(classify(everything)) == len(everything)
