"""An embedder behind real HTTP: its vectors, its bad days, and what classes are without it."""

import base64
import json
import zlib
from collections.abc import Sequence

import numpy as np
import pytest

from processors.classify import ClassifyContext, LineClassifier
from processors.classify.embedded import EmbeddedModel
from processors.classify.embedder import EmbedderAway, unit
from processors.classify.fallback import ModelClassifier
from processors.classify.linear import LinearModel
from streams.model_worker.breaker import CircuitBreaker
from streams.model_worker.http_server import HttpModelServer
from streams.model_worker.served_embedder import BATCH, LONGEST, ServedEmbedder
from tests.metric_values import value
from tests.servers.vllm import VllmServer
from tests.streams.model_worker import misbehaving_server as bad

WIDTH = 64
LINES = ["lost connection to node 4, exiting", "the quick brown fox", "nothing to see here"]


def vectors(texts: Sequence[str]) -> np.ndarray:
    """Hashed words: a real embedder, if a poor one."""
    found = np.zeros((len(texts), WIDTH), np.float32)
    for row, text in zip(found, texts, strict=True):
        for word in text.lower().split():
            row[zlib.crc32(word.encode()) % WIDTH] += 1
    return found


def embeds(exchange: bad.Exchange) -> None:
    rows = [
        {"index": place, "embedding": base64.b64encode(vector.astype("<f4").tobytes()).decode()}
        for place, vector in enumerate(vectors(exchange.asked["input"]))
    ]
    exchange.say(200, json.dumps({"data": rows[::-1]}))  # the order is not promised


class Local:
    name = "local"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return unit(vectors([text[:LONGEST] for text in texts]))


def row(place: int, content: bytes) -> dict[str, object]:
    return {"index": place, "embedding": base64.b64encode(content).decode()}


def test_vectors_come_in_order_in_batches_and_of_unit_length() -> None:
    texts = [f"text {number} of {number % 7} " + "x" * number for number in range(2 * BATCH + 5)]
    with bad.misbehaving(embeds) as server:
        embedder = ServedEmbedder(HttpModelServer(server.url))
        found = embedder.embed(texts)
        assert embedder.embed([]).shape == (0, WIDTH)
    assert np.allclose(found, unit(vectors(texts)))
    assert [len(request["input"]) for request in server.requests] == [BATCH, BATCH, 5]
    assert server.requests[0]["model"] == bad.MODEL


def test_what_is_sent_is_bounded_and_valid() -> None:
    with bad.misbehaving(embeds) as server:
        ServedEmbedder(HttpModelServer(server.url, "m")).embed(["x" * 5000, "", "half \ud800 a character"])
    long, empty, half = server.requests[0]["input"]
    assert (len(long), empty) == (LONGEST, " ")
    assert half.isascii()


@pytest.mark.parametrize(
    "behaviour",
    [
        bad.status(500),
        bad.status(400),
        bad.hangs_up,
        bad.says("<html>"),
        bad.says('{"data": []}'),
        bad.says(json.dumps({"data": [row(1, b"\0\0\x80?")]})),
        bad.says(json.dumps({"data": [row(0, b"odd")]})),
        bad.says(json.dumps({"data": [row(0, np.array([np.nan], "<f4").tobytes())]})),
        bad.says(json.dumps({"data": [{"index": 0, "embedding": "no base64"}]})),
    ],
)
def test_whatever_a_server_does_the_embedder_is_away_and_nothing_else(behaviour: bad.Behaviour) -> None:
    with bad.misbehaving(behaviour) as server, pytest.raises(EmbedderAway):
        ServedEmbedder(HttpModelServer(server.url, "m")).embed(["a"])


def test_vectors_that_change_their_length_are_refused() -> None:
    wider = bad.says(json.dumps({"data": [row(0, np.ones(WIDTH + 1, "<f4").tobytes())]}))
    with bad.misbehaving(embeds, wider) as server:
        embedder = ServedEmbedder(HttpModelServer(server.url, "m"))
        embedder.embed(["a"])
        with pytest.raises(EmbedderAway, match="expected vectors of 64"):
            embedder.embed(["a"])


def test_a_server_that_fails_is_left_alone_and_tried_again() -> None:
    now = 0.0
    breaker = CircuitBreaker(failures=3, rest=10, clock=lambda: now)
    failing = [bad.status(500)] * 3
    with bad.misbehaving(*failing, embeds) as server:
        embedder = ServedEmbedder(HttpModelServer(server.url, "m"), breaker)
        for _ in range(6):
            with pytest.raises(EmbedderAway):
                embedder.embed(["a"])
        assert len(server.requests) == 3
        now = 11.0
        assert embedder.embed(["a"]).shape == (1, WIDTH)


def test_classes_go_on_by_n_grams_while_it_is_away_and_take_it_up_when_it_comes() -> None:
    linear = LinearModel.load()
    with bad.misbehaving(bad.status(503), embeds) as server:
        served = ModelClassifier(ServedEmbedder(HttpModelServer(server.url, "m")), linear=linear)
        assert np.array_equal(linear.probabilities(LINES), ModelClassifier(linear=linear).probabilities(LINES))
        found = served.probabilities(LINES)  # fitted now: the server is back
    assert np.allclose(found, EmbeddedModel(Local(), linear).probabilities(LINES), atol=1e-4)
    away = served.probabilities(LINES)
    assert np.array_equal(away, linear.probabilities(LINES))
    assert value(served.metrics.without) == len(LINES)


def test_a_template_is_embedded_once() -> None:
    with bad.misbehaving(embeds) as server:
        classifier = LineClassifier(ModelClassifier(ServedEmbedder(HttpModelServer(server.url, "m"))))
        fitted = len(server.requests)
        for number in range(3):
            classifier.classify([f"the kraken took node {number} away"], ClassifyContext())
    assert len(server.requests) == fitted + 1


@pytest.mark.vllm
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_real_vllm_serves_vectors(vllm_embedder: VllmServer) -> None:
    embedder = ServedEmbedder(HttpModelServer(vllm_embedder.url), timeout_s=60)
    one, two, again = embedder.embed(["step 1 loss 2.0", "the disk is full", "step 1 loss 2.0"])
    assert np.linalg.norm(one) == pytest.approx(1, abs=1e-4)
    assert float(one @ again) == pytest.approx(1, abs=1e-3) != float(one @ two)
