"""flair: its trainer's log of tenths of an epoch."""

import random
import sys

import flair
import torch
from clock import Clock
from flair.data import Corpus, Sentence
from flair.datasets import FlairDatapointDataset
from flair.embeddings import OneHotEmbeddings
from flair.models import SequenceTagger
from flair.trainers import ModelTrainer
from flair.trainers.plugins import TrainerPlugin

SETUPS = ("tagger_log",)
BATCH, BATCHES, EPOCHS = 8, 40, 3


def train(setup: str) -> None:
    del setup
    torch.set_num_threads(1)
    flair.set_seed(0)
    kinds = {"the": "DET", "a": "DET", "dog": "NOUN", "tree": "NOUN", "sees": "VERB", "makes": "VERB"}

    def sentences(count: int) -> FlairDatapointDataset:
        made = []
        for _ in range(count):
            sentence = Sentence(random.choices(list(kinds), k=8))
            for token in sentence:
                token.add_label("pos", kinds[token.text])
            made.append(sentence)
        return FlairDatapointDataset(made)

    corpus = Corpus(train=sentences(BATCH * BATCHES), dev=sentences(16), test=sentences(16))
    dictionary = corpus.make_label_dictionary("pos")
    tagger = SequenceTagger(
        OneHotEmbeddings.from_corpus(corpus, min_freq=1), dictionary, "pos", hidden_size=16, use_crf=False
    )
    # What it calls samples are the tokens of the sentences.
    clock = Clock(pace=0.08, batch=BATCH * 8, interval=BATCHES // 10)
    losses: list[float] = []

    class Hook(TrainerPlugin):
        @TrainerPlugin.hook
        def before_training_epoch(self, **_: object) -> None:
            clock.begin()

        @TrainerPlugin.hook
        def after_training_batch(self, **_: object) -> None:
            clock.step()

        @TrainerPlugin.hook
        def metric_recorded(self, record: object) -> None:
            if str(record.name).endswith("loss") and "train" in str(record.name):  # type: ignore[attr-defined]
                losses.append(float(record.value))  # type: ignore[attr-defined]

    ModelTrainer(tagger, corpus).train(
        "out", learning_rate=0.1, mini_batch_size=BATCH, max_epochs=EPOCHS, plugins=[Hook()]
    )
    clock.finish(step=[BATCHES, clock.steps], loss=losses[-2:])


if __name__ == "__main__":
    train(sys.argv[1])
