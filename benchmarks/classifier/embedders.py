"""Compares embedders: `python -m benchmarks.classifier.embedders onnx=DIR http=URL flag=DIR` prints one table, a few rows an embedder.

Whole frameworks and tools are left out of what judges them, as in `measure.py`. By description is the paper's way: the nearest of the
sentences that say what a class is.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from itertools import compress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from processors.classify import embedded
from processors.classify.embedder import Embedder
from processors.classify.fallback import THRESHOLD
from processors.classify.flag import FlagEmbedder
from processors.classify.linear import LinearModel
from processors.classify.onnx import OnnxEmbedder
from streams.model_worker.http_server import HttpModelServer
from streams.model_worker.served_embedder import ServedEmbedder

from .data import Example, examples
from .measure import calibrated, compare, decided, nearest
from .train import ALWAYS, classes_of, folds_of, left_out, rows_of

DESCRIPTIONS = {
    "e": ("an error that ends the job: a crash, an exception, a failed device", "Fatal error: the process failed"),
    "w": ("a warning: something is wrong, but the job goes on", "Warning: this may be a problem"),
    "p": ("progress of the training: step, loss, speed, time", "Training step with loss and time per iteration"),
    "o": ("anything else: configuration, set-up, start, evaluation, notes", "Loading the configuration and the data"),
}
"""Two wordings a class."""
TIMEOUT_S = 120.0

KINDS: dict[str, Callable[[str], Embedder]] = {
    "onnx": lambda directory: OnnxEmbedder(Path(directory)),
    "flag": FlagEmbedder,
    "http": lambda url: ServedEmbedder(HttpModelServer(url), timeout_s=TIMEOUT_S),
}


def by_description(embedder: Embedder, vectors: NDArray[np.float32]) -> list[str]:
    """Return the letter of the nearest description of each row of `vectors`."""
    letters = [letter for letter, wordings in DESCRIPTIONS.items() for _ in wordings]
    described = embedder.embed([wording for wordings in DESCRIPTIONS.values() for wording in wordings])
    return [letters[place] for place in (vectors @ described.T).argmax(axis=1)]


def ways(
    name: str, embedder: Embedder, vectors: NDArray[np.float32], known: Sequence[Example], grams: NDArray[np.float64]
) -> dict[str, list[str]]:
    """Return the letters that each way of using `vectors` gives to `known`; `grams` are the scores by n-grams."""
    folds = folds_of(known)
    by_vector = embedded.left_out(embedded.with_one(vectors), classes_of(known), folds)
    return {
        f"{name}, the nearest description": by_description(embedder, vectors),
        f"{name}, the nearest example": nearest(vectors, known, folds),
        f"{name}, the likeliest class": decided(calibrated(by_vector, known, folds), 0.0),
        f"{name} and n-grams, from {THRESHOLD}": decided(calibrated(grams + embedded.SHARE * by_vector, known, folds)),
    }


def main() -> None:
    """Embed all examples with each embedder, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.classifier.embedders", description=__doc__)
    parser.add_argument(
        "embedders", nargs="+", metavar="KIND=PLACE", help="onnx or flag and a directory, http and a URL"
    )
    options = parser.parse_args()
    known = examples()
    folds = folds_of(known)
    grams = left_out(rows_of(known), known, folds)
    templates = [each.template for each in known]
    by_grams = f"n-grams, from {THRESHOLD}"
    found: dict[str, Sequence[str]] = {by_grams: decided(calibrated(grams, known, folds))}
    linear, began = LinearModel.load(), time.process_time()
    linear.probabilities(templates)
    rates = {by_grams: len(known) / (time.process_time() - began)}
    for argument in options.embedders:
        kind, _, place = argument.partition("=")
        if kind not in KINDS or not place:
            parser.error(f"expected one of {', '.join(KINDS)}, = and a place; got {argument}")
        embedder = KINDS[kind](place)
        clock = time.perf_counter if kind == "http" else time.process_time  # a server's work is not this process's
        began = clock()
        vectors = embedder.embed(templates)
        rate = len(known) / (clock() - began)
        said = ways(embedder.name, embedder, vectors, known, grams)
        rates |= dict.fromkeys(said, rate)
        found |= said
    judged = folds != ALWAYS
    letters: dict[str, Sequence[str]] = {name: list(compress(each, judged)) for name, each in found.items()}
    print("\n".join(compare(list(compress(known, judged)), letters, rates)))


if __name__ == "__main__":
    main()
