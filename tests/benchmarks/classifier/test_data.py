"""The data of the line classifier's model."""

from collections import Counter

import pytest

from benchmarks.classifier.data import HERE, Example, examples, written
from processors.classify.fallback import ModelClassifier

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def known() -> list[Example]:
    return examples()


def test_every_class_has_examples_that_no_signature_knows(known: list[Example]) -> None:
    asked = Counter(each.letter for each in known if not each.known)
    assert min(asked[letter] for letter in "ewpo") >= 30


def test_exemplars_are_complete_and_said_once() -> None:
    rows = [row for row in (HERE / "exemplars.tsv").read_text().splitlines() if not row.startswith("#")]
    assert all(row.split("\t", 2)[0] in "ewpo" and len(row.split("\t", 2)) == 3 for row in rows)
    texts = [row.split("\t", 2)[2] for row in rows]
    assert len(set(texts)) == len(texts) == len(list(written()))


def test_the_model_that_ships_was_trained_on_them(known: list[Example]) -> None:
    found = ModelClassifier(threshold=0).classify([each.template for each in known])
    assert sum(each.letter == letter for each, letter in zip(known, found, strict=True)) > 0.97 * len(known)
