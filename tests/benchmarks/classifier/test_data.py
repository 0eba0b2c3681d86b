"""The data of the line classifier's model."""

from collections import Counter

import pytest

from benchmarks.classifier.data import HERE, Example, composed, examples, rows_of, written
from processors.classify.fallback import ModelClassifier

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def known() -> list[Example]:
    return examples()


def test_every_class_has_examples_that_no_signature_knows(known: list[Example]) -> None:
    asked = Counter(each.letter for each in known if not each.known)
    assert min(asked[letter] for letter in "ewpo") >= 30


def test_exemplars_are_complete_and_said_once() -> None:
    rows = [row for path in (HERE / "exemplars").glob("*.tsv") for row in rows_of(path, 3)]
    assert all(len(row) == 3 and row[0] in "ewpo" for row in rows)
    assert len({text for *_, text in rows}) == len(rows) == len(list(written()))


def test_phrases_speak_of_all_things_in_every_class() -> None:
    things = (HERE / "things.txt").read_text().splitlines()
    said = Counter(each.letter for each in composed())
    assert set(said) == set("ewo")
    assert min(said.values()) >= 2 * len(things)


def test_the_model_that_ships_was_trained_on_them(known: list[Example]) -> None:
    found = ModelClassifier(threshold=0).classify([each.template for each in known])
    assert sum(each.letter == letter for each, letter in zip(known, found, strict=True)) > 0.9 * len(known)
