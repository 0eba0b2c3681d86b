"""The models behind the signatures."""

import zlib
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.classify import ClassifyContext, LineClassifier
from processors.classify.calibration import curves, likely, platt
from processors.classify.embedded import EmbeddedModel, shipped
from processors.classify.embedder import unit
from processors.classify.fallback import ModelClassifier
from processors.classify.grams import BITS, features, grams, normal, words
from processors.classify.linear import LETTERS, LinearModel
from processors.grammar.extractor import DIGITS

MODEL = LinearModel.load()


class Words:
    """An embedder that is a real one, if a poor one: hashed words."""

    name = "words"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        vectors = np.zeros((len(texts), 256), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in normal(text).split():
                row[zlib.crc32(word.encode()) % 256] += 1
        return unit(vectors)


def letters(*lines: str) -> str:
    return LineClassifier(ModelClassifier()).classify(lines, ClassifyContext())


def test_lines_that_no_signature_knows_get_their_class() -> None:
    assert letters("lost connection to node 4, exiting") == "e"
    assert letters("the argument is ignored because it has no effect here") == "w"
    assert letters("Train Epoch 4:   0%|          | 0/98 [00:00<?, ?it/s]") == "p"
    assert letters("loading the vocabulary from vocab.txt") == "o"


def test_what_says_little_is_other() -> None:
    assert letters("abc", "qwpx zzz 12", "=", "64", "max_steps: 500", "  num_layers = 12") == "oooooo"


def test_signatures_come_first() -> None:
    assert letters("step 12 loss 0.5", "WARNING: x", "Segmentation fault") == "pwe"


def test_the_source_line_of_a_warning_belongs_to_it() -> None:
    lines = ["a.py:3: FutureWarning: x", "  raise_if_the_worker_process_died_and_could_not_be_restarted()", "go on"]
    assert letters(*lines) == "wwo"


def test_form_leaves_out_what_tells_nothing() -> None:
    assert normal("[rank3]: 2031-02-03 04:05:06,789 - INFO - Took /srv/a/b/c.py 111.1 s =====") == "took /c.py 1.1 s =="
    assert normal("x" * 5000) == "x" * 200


def test_grams_are_buckets_and_the_same_everywhere() -> None:
    found, counts = grams(["ab"])
    assert (np.diff(found) > 0).all()
    assert found.min() >= 0
    assert found.max() < 1 << BITS
    assert counts.tolist() == [len(found)] == [10]  # start, a, b, end; three pairs, two triples, one of four
    assert zlib.crc32(found.tobytes()) == 270126180


def test_words_and_what_the_logger_says_of_the_line_count_too() -> None:
    (loud, quiet), counts = words(["lost contact"] * 2, [False, True]).found.reshape(2, -1), 4 + 3
    assert len(loud) == counts
    assert 0 < len(set(loud) & set(quiet)) < len(loud)
    (first, _), (second, _) = features(["lost contact"])
    assert first.found.max() < 1 << BITS <= second.found.min()
    assert second.found.max() < len(MODEL.weights) == 2 << BITS


def test_buckets_of_a_text_do_not_depend_on_its_neighbours() -> None:
    texts = ["lost contact", "", "a", "损失 \U0001f600", "lost contact with 1 node"]
    for made in (grams, lambda given: words(given, [False] * len(given))):
        together = made(texts)
        cut = np.split(together.found, np.cumsum(together.counts)[:-1])
        for text, buckets in zip(texts, cut, strict=True):
            assert made([text]).found.tolist() == buckets.tolist() == sorted(set(buckets))


def test_what_a_logger_calls_informational_is_less_of_an_error() -> None:
    line = "the connection to the peer was lost"
    loud, quiet = MODEL.probabilities([line, f"INFO: {line}"])[:, LETTERS.index("e")]
    assert quiet < loud


@given(st.lists(st.text(max_size=80), max_size=5))
def test_any_text_has_probabilities_and_they_do_not_depend_on_its_neighbours(texts: list[str]) -> None:
    together = MODEL.probabilities(texts)
    assert together.shape == (len(texts), 4)
    assert ((together >= 0) & (together <= 1)).all()
    for text, row in zip(texts, together, strict=True):
        assert (MODEL.probabilities([text])[0] == row).all()


def test_a_line_has_the_class_of_its_template() -> None:
    first, second = "took node 3 out of the pool", "took node 81 out of the pool"
    assert (MODEL.scores([first.translate(DIGITS)]) == MODEL.scores([second.translate(DIGITS)])).all()


def test_a_lower_threshold_says_more() -> None:
    templates = [each.template for each in shipped() if each.asked]
    said = [
        sum(letter != "o" for letter in ModelClassifier(threshold=at).classify(templates)) for at in (0.3, 0.6, 0.95)
    ]
    assert said[0] > said[1] > said[2]


def test_examples_are_of_all_classes_in_several_folds() -> None:
    known = shipped()
    assert {each.letter for each in known if each.asked} == set(LETTERS)
    assert {each.fold for each in known} == set(range(5))
    assert {len(each.scores) for each in known} == {4}


def test_a_model_on_vectors_joins_the_one_on_grams() -> None:
    model = ModelClassifier(Words())
    assert model.classify([]) == ""
    known = [each for each in shipped() if each.asked]
    found = model.classify([each.template for each in known])
    assert sum(each.letter == letter for each, letter in zip(known, found, strict=True)) > 0.85 * len(known)
    alone = ModelClassifier().classify([each.template for each in known])
    assert found != alone


def test_vectors_of_nothing_leave_the_decision_to_the_grams() -> None:
    class Nothing(Words):
        def embed(self, texts: Sequence[str]) -> np.ndarray:
            return np.zeros((len(texts), 8), np.float32)

    model = EmbeddedModel(Nothing(), MODEL)
    texts = ["worker 1 has died and cannot be started again", "loading the vocabulary"]
    assert (model.probabilities(texts).argmax(axis=1) == MODEL.scores(texts).argmax(axis=1)).all()


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_calibrated_probabilities_come_true_for_rare_and_common_classes(share: float) -> None:
    chance = np.random.default_rng(4)
    classes = (chance.random(4000) < share).astype(np.int64)
    scores = np.stack([np.zeros(4000), 3 * chance.normal(size=4000) + np.where(classes, 4, -4)], axis=1)
    said = likely(scores[2000:], curves(scores[:2000], classes[:2000]))[:, 1]
    for low, high in ((0, 0.2), (0.8, 1.01)):
        within = (said >= low) & (said < high)
        assert abs(said[within].mean() - (classes[2000:][within] == 1).mean()) < 0.05


def test_few_lines_promise_little() -> None:
    slope, offset = platt(np.array([3.0, -3.0]), np.array([True, False]))
    assert 1 / (1 + np.exp(-(3 * slope + offset))) < 0.8
