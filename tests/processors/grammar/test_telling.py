"""The scan for what may have a meaning finds too much at most."""

import re
from pathlib import Path

import pytest
import re2

from processors.grammar import layout, prescan
from processors.grammar.extractor import read_layout, templates
from processors.grammar.prefix import strip_prefix
from streams.producers.stored import read_chunks

CORPUS = Path(__file__).parents[3] / "benchmarks" / "corpus"


@pytest.mark.parametrize(
    "text",
    [
        "loss: ", "trainLoss=", "num_updates ", "verlust: ", "Schritt ", "kimg/sec", " tok/s", " images per second", "/", " of ", " ms",
        "s)", " epochs", "perplexity=", "第", "<", "it/s, ", "imagesPerSec=", "it [", "损失=",
    ],
)  # fmt: skip
def test_what_names_a_field_is_a_unit_or_links_numbers_tells(text: str) -> None:
    assert prescan.telling(["foo ", text]) == [False, text != "第"]


@pytest.mark.parametrize("text", ["foo=", ", bar: ", "/data/srv-", " -> ", "", "&qux=", " \u00e9t\u00e9 "])
def test_free_text_does_not(text: str) -> None:
    assert prescan.telling([text]) == [False]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [(r"(?<!x)ab++(?=e)", "xabb"), (r"^a(?:c|d{2,})?$", "add"), (r"[^\w\s]\b1", "-1"), (r"\w\S(?![a-z])", "\u00e9!")],
)
def test_a_relaxed_expression_finds_all_that_its_own_finds_and_more(pattern: str, found: str) -> None:
    assert re2.search(prescan.relaxed(pattern), found) is not None


def test_an_expression_that_cannot_be_relaxed_is_refused() -> None:
    with pytest.raises(ValueError, match="expected an expression of what the grammar uses, got GROUPREF"):
        prescan.relaxed(r"(a)\1")


def test_no_plan_of_a_real_line_depends_on_the_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    files = sorted([*CORPUS.glob("**/log.txt*"), *CORPUS.glob("failures/**/*.log*")])[::8]
    lines = {
        line for file in files for chunk in read_chunks(file) for line in templates(chunk.lines) if len(line) < 300
    }
    bodies = [strip_prefix(line).body for line in lines]
    # Words taken out bring forms that no program prints.
    bodies += [re.sub(r"[A-Za-z]{4,}", "", body) for body in bodies] + [
        re.sub(r"\b[a-z]{1,4}\b", "", body) for body in bodies
    ]
    scanned = list(map(read_layout, bodies))
    monkeypatch.setattr(layout, "telling", lambda texts: [True] * len(texts))
    assert len(scanned) > 3000
    assert list(map(read_layout, bodies)) == scanned
