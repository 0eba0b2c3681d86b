"""No text makes an expression of the product do more than a plain scan of the text, times a constant."""

import re
import time
from collections.abc import Callable

import pytest

from processors.grammar.extractor import LONGEST

from .adversarial import attacks
from .collect import PACKAGES, Expression, NotKnown, expressions

LENGTHS = (16, 100, LONGEST)
"""Most of the grammar sees at most the last. The shorter ones come first, so that one that grows exponentially is found at once."""
SCANS = 25
"""Plain scans of a text of the longest length that an expression may cost: a quadratic one costs thousands."""
TRIES = 6
_PLAIN = re.compile(r"\w+|\W+")
_TEXT = "step 12 loss=0.25 " * (LONGEST // 18)


def seconds(action: Callable[[], object], tries: int = 1) -> float:
    """Return the best processor time of several: a busy host takes longer, and does no more work."""
    best = 1e9
    for _ in range(tries):
        began = time.thread_time()
        action()
        best = min(best, time.thread_time() - began)
    return best


def costly(expression: Expression) -> str:
    """Return a text on which `expression` costs too much, however often it is tried; empty where there is none."""
    allowed = SCANS * seconds(lambda: _PLAIN.findall(_TEXT), tries=3)
    for text in attacks(expression.pattern, *LENGTHS):
        look = lambda text=text: expression.look(text)  # noqa: E731  # what is measured, twice
        if seconds(look) < allowed:
            continue
        if seconds(look, TRIES) > SCANS * seconds(lambda: _PLAIN.findall(_TEXT), TRIES):
            return text
    return ""


def test_an_expression_costs_a_bounded_number_of_scans() -> None:
    """One test for all packages: to find the expressions, all of the product is imported and parsed."""
    everywhere = expressions()
    places = {each.place for each in everywhere}
    assert {re.split(r"[.:]", place)[0] for place in places} <= set(PACKAGES)
    assert {"processors.diagnose.matcher._POD", "processors.grammar.prefix._FORMS[rank]"} <= places
    assert any(place.startswith("processors.grammar.units._RATE[") for place in places)
    assert any(place.startswith("schedmate.settings.passwords:") for place in places)
    assert {each.place: text for each in everywhere if (text := costly(each))} == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern", [r"\s*:?\s*$", r"(?:\w+_?)*x", r"[a-z][\w.-]*-[\w-]*\d[\w-]* [a-z]", r"(.{1,300}?)\s*:?\s+\d+%"]
)
def test_an_expression_that_explodes_is_found(pattern: str) -> None:
    assert costly(Expression("made up", re.compile(pattern)))


def test_an_expression_that_nobody_knows_beforehand_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.expressions.collect.OF_OPERATORS", frozenset())
    with pytest.raises(NotKnown, match="compiled expression of the module"):
        expressions(["streams.producers"])
