"""The comparison of embedders: each way of using vectors does what it is called."""

from collections.abc import Sequence

import numpy as np
import pytest

from benchmarks.classifier.data import Example
from benchmarks.classifier.embedders import DESCRIPTIONS, ways
from benchmarks.classifier.measure import compare
from processors.classify.linear import LETTERS

GROUPS = 12


class Knowing:
    """Knows the class of an example, which its first letter tells, and of a description where `describes`."""

    name = "knowing"

    def __init__(self, *, describes: bool) -> None:
        self._letters = {
            wording: letter if describes else LETTERS[LETTERS.index(letter) - 1]
            for letter, wordings in DESCRIPTIONS.items()
            for wording in wordings
        }

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.eye(len(LETTERS), dtype=np.float32)[
            [LETTERS.index(self._letters.get(each, each[0])) for each in texts]
        ]


@pytest.mark.parametrize("describes", [True, False])
def test_examples_and_descriptions_are_used_apart(describes: bool) -> None:
    known = [
        Example(letter, f"tool {group}", "corpus", f"{letter} of {group}", known=False)
        for group in range(GROUPS)
        for letter in LETTERS
    ]
    truth = [each.letter for each in known]
    embedder = Knowing(describes=describes)
    found = ways("it", embedder, embedder.embed([each.template for each in known]), known, np.zeros((len(known), 4)))
    assert (found.pop("it, the nearest description") == truth) == describes
    rows = compare(known, {"it": truth}, {"it": 1234.5})
    assert [cell.strip() for cell in rows[0].split("|")][-2] == "new lines/s"
    assert [cell.strip() for cell in rows[2].split("|")][1:] == ["it", "1.00", "1.00", "1.00", "1.00", "1,234", ""]
    assert len(found) == 3
    assert all(letters == truth for letters in found.values())
