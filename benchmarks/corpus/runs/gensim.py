"""gensim: Word2Vec's log of progress inside and after epochs, in words a second."""

import logging
import random
import sys
import time

from clock import Clock
from gensim.models import Word2Vec
from gensim.models.callbacks import CallbackAny2Vec

SETUPS = ("info_log", "info_log_threads")


class Hook(CallbackAny2Vec):
    """Clocks epochs: gensim has no smaller step."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def on_epoch_begin(self, model: Word2Vec) -> None:
        del model
        self.clock.begin()

    def on_epoch_end(self, model: Word2Vec) -> None:
        del model
        self.clock.step()


class Slow:
    """A corpus that takes its time."""

    def __init__(self, count: int) -> None:
        chooser = random.Random(0)
        self.text = [
            chooser.choices(["the", "a", "red", "small", "old", "loud", "train", "tree", "river", "machine"], k=12)
            for _ in range(count)
        ]

    def __iter__(self) -> object:
        for index, sentence in enumerate(self.text):
            if index % 200 == 0:
                time.sleep(0.1)
            yield sentence


def train(setup: str) -> None:
    logging.basicConfig(format="%(asctime)s : %(levelname)s : %(message)s", level=logging.INFO)
    count, epochs = 4000, 5
    clock = Clock(pace=0.0, tokens=count * 12)
    model = Word2Vec(
        vector_size=20, min_count=1, workers=1 if setup == "info_log" else 2, seed=0, batch_words=1000, sample=0
    )
    text = Slow(count)
    model.build_vocab(text)
    model.train(text, total_examples=count, epochs=epochs, report_delay=0.5, callbacks=[Hook(clock)])
    clock.finish(step=None, loss=None)


if __name__ == "__main__":
    train(sys.argv[1])
