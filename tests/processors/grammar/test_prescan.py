"""The words that spare expressions: a text that an expression matches is never spared."""

import random
import re

import pytest
import re2

from processors.classify.signatures import SIGNATURES
from processors.diagnose.catalogue import load, masked
from processors.grammar.prescan import Literals, Prescan, literals
from tests.expressions.adversarial import attacks, samples


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"Killed process \d+", {"killed process "}),
        (r"(?i)\bfatal\b|^panic: ", {"fatal", "panic: "}),
        (r"\bE[ZE](0{4}): ", {"ez0000: ", "ee0000: "}),
        (r"(?:ab)+c", {"ab"}),
        (r"a?b*", set()),
        (r"error|\d+", set()),
        (r"oom[-_]kill", {"oom-kill", "oom_kill"}),
        (r"a+|(?:bc){0,2}", set()),
    ],
)
def test_words_follow_from_the_expression(pattern: str, words: set[str]) -> None:
    assert literals(pattern) == words


def test_every_text_may_match_where_one_expression_needs_no_word() -> None:
    assert Literals(["error", r"\d+"]).likely("7") == [1]
    assert not Literals(["error", "fatal"]).likely("all is well")
    assert Literals(["error", "fatal"]).likely("FATAL: all is lost") == [1]


def test_a_text_that_is_no_unicode_is_looked_at_all_the_same() -> None:
    assert Literals(["error"]).likely("\ud83d error \udcff")


@pytest.mark.parametrize(
    "name",
    [
        "traceback",
        "frame",
        "exception",
        "strong_error",
        "weak_error",
        "exit_code",
        "python_warning",
        "warning",
        "loud_warning",
    ],
)
def test_what_an_expression_of_the_classifier_matches_is_not_spared(name: str) -> None:
    expression: re.Pattern[str] = SIGNATURES[name]
    words = Literals([expression.pattern])
    chance = random.Random(0)
    for text in [each for each in attacks(expression, 60) if expression.search(each)]:
        assert words.likely(text)
        assert words.likely(f"{chance.random()} {text}")


def test_what_a_signature_matches_is_not_spared() -> None:
    found = 0
    for one in load():
        words, pattern = Literals([one.pattern]), re2.compile(one.pattern)
        masked_words = Literals([one.pattern.replace(r"\d", "0")])
        for text in samples(one.pattern.replace("(?i)", ""), 8):
            template = masked(text)
            if pattern.search(template):
                found += 1
                assert masked_words.likely(template), one.name
                assert words.likely(template)
    assert found > len(load())


def test_a_scan_tells_which_expressions_may_match() -> None:
    failing, numbered, timed = re.compile("(?i)error|fatal"), re.compile(r"\d+"), re.compile(r"\btime\b")
    scan = Prescan((failing, numbered, timed))
    assert scan.likely("FATAL: all is lost \ud83d") == [failing, numbered]
    assert scan.likely("timeout") == [numbered, timed]
    assert Prescan((failing, timed)).likely("all is well") == []
