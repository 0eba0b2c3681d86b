"""spaCy: `spacy train`'s table, for a tagger and a classifier of texts."""

import sys
from pathlib import Path

import spacy
from clock import Clock
from spacy.cli.init_config import fill_config, init_config
from spacy.tokens import Doc, DocBin
from spacy.training.loop import train as train_spacy

SETUPS = {"tagger": 20, "textcat": 20, "tagger_bar": 20}
WORDS = {
    "the": "DET",
    "a": "DET",
    "dog": "NOUN",
    "tree": "NOUN",
    "sees": "VERB",
    "makes": "VERB",
    "red": "ADJ",
    "old": "ADJ",
}


def _documents(count: int, path: str, categories: bool) -> None:
    import random  # noqa: PLC0415

    chooser, vocabulary = random.Random(0), spacy.blank("en").vocab
    kept = DocBin()
    for _ in range(count):
        words = chooser.choices(list(WORDS), k=8)
        document = Doc(vocabulary, words=words, tags=[WORDS[word] for word in words])
        if categories:
            document.cats = {"RED": float("red" in words), "OTHER": float("red" not in words)}
        kept.add(document)
    kept.to_disk(path)


def train(setup: str) -> None:
    interval, steps = SETUPS[setup], 240 if setup != "textcat" else 120
    clock = Clock(pace=0.04, interval=interval)
    component = "textcat" if setup == "textcat" else "tagger"
    _documents(400, "train.spacy", setup == "textcat")
    _documents(40, "dev.spacy", setup == "textcat")
    config = init_config(lang="en", pipeline=[component], optimize="efficiency")
    config["paths"].update(train="train.spacy", dev="dev.spacy")
    config["training"].update(max_steps=steps, eval_frequency=interval, patience=0)
    config["training"]["logger"] = {
        "@loggers": "spacy.ConsoleLogger.v3",
        "progress_bar": "train" if setup == "tagger_bar" else None,
    }
    config.to_disk("config.cfg")
    fill_config(Path("filled.cfg"), Path("config.cfg"))
    nlp = spacy.training.initialize.init_nlp(spacy.util.load_config("filled.cfg"))
    told: dict[str, float] = {}
    begin_after = [False]
    inner = nlp.update

    def clocked(*arguments: object, **named: object) -> object:
        if begin_after[0]:
            clock.begin()
            begin_after[0] = False
        losses = inner(*arguments, **named)
        clock.step()
        told.update({name: float(value) for name, value in losses.items()})
        return losses

    evaluate = nlp.evaluate

    def evaluated(*arguments: object, **named: object) -> object:
        begin_after[0] = True
        shown.update(told)
        shown["steps"] = clock.steps
        return evaluate(*arguments, **named)

    shown: dict[str, float] = {}
    nlp.update, nlp.evaluate = clocked, evaluated
    clock.begin()
    train_spacy(nlp, None, use_gpu=-1, stdout=sys.stdout, stderr=sys.stderr)
    last = int(shown.pop("steps"))
    clock.finish(step=[last, last - 1, clock.steps // interval * interval], loss=[shown[component]], speed=False)


if __name__ == "__main__":
    train(sys.argv[1])
