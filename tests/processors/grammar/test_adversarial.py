"""Long lines made to cost much: no expression of the grammar may backtrack without end."""

import time

import pytest

from processors.classify import ClassifyContext, LineClassifier
from processors.grammar.extractor import Extractor
from processors.grammar.table import cells, is_header, is_row, is_separator

PATTERNS = (
    *(
        "a",
        " ",
        "1",
        "1 ",
        "1,",
        "a ",
        "a  ",
        "a=1 ",
        "a: ",
        "1:11",
        "1/",
        "1 / ",
        "-",
        "- ",
        "|",
        "| ",
        "[",
        "[1",
        "](",
        "(",
        "1e",
    ),
    *(
        "1.1.",
        "loss ",
        "loss=",
        "step 1 ",
        "1 of ",
        "a/",
        "a_",
        "epoch ",
        "epoch  ",
        "epoch|",
        "a,",
        "#",
        "\t",
        "a\t",
        "1 ms ",
        "per ",
    ),
    *(
        "1 sec per ",
        "it/s ",
        "warning: ",
        "error ",
        "Error: ",
        "\x1b[",
        "\x1b[0m",
        "2031-02-03 01:02:03 ",
        "INFO ",
        "a.b.",
        "--- ",
    ),
    *(
        "time/",
        "nan ",
        "'a': 1, ",
        "{",
        '"',
        "\u0432",
        "\u2501",
        "\u2588",
        "1k",
        "1:",
        "a: 1 ms ",
        "for ",
        "at 1 ",
        "of a ",
    ),
)
LENGTHS = (2_000, 8_000)
SLOWEST = 1.0
"""Seconds for a line of thousands of characters: a hundred times what it takes; exponential cost would take years."""


@pytest.mark.parametrize("pattern", PATTERNS)
def test_no_line_is_slow(pattern: str) -> None:
    for length in LENGTHS:
        for line in (pattern * (length // len(pattern)), "step 1 loss " + pattern * (length // len(pattern)) + "!"):
            began = time.process_time()
            Extractor().read(line)
            LineClassifier().classify([line], ClassifyContext())
            for look in (cells, is_header, is_row, is_separator):
                look(line)
            assert time.process_time() - began < SLOWEST, line[:60]


def test_caches_hold_a_bounded_number_of_templates() -> None:
    extractor, classifier, context = Extractor(size=100), LineClassifier(cache_size=100), ClassifyContext()
    letters = "abcdefghij"
    words = [a + b + c + d for a in letters for b in letters for c in letters for d in letters][:3000]
    for begin in range(0, len(words), 100):
        batch = [f"step 1 {word} loss 2.0" for word in words[begin : begin + 100]]
        classifier.classify(batch, context)
        for line in batch:
            extractor.read(line)
    assert extractor.remembered <= 200
    assert classifier.remembered <= 200
