"""Simple Transformers: a bar of epochs around bars of batches, whose heads tell the running loss."""

import logging
import sys
from pathlib import Path

import pandas as pd
import torch
from clock import Clock
from clock_torch import clock_optimizers
from simpletransformers.classification import ClassificationModel
from tiny_language import sentences
from transformers import BertConfig, BertForSequenceClassification

SETUPS = ("bars", "bars_accumulation_log")
BATCH, BATCHES, EPOCHS = 8, 40, 3


def train(setup: str) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    logging.basicConfig(level=logging.INFO if "log" in setup else logging.WARNING)
    micro = 2 if "accumulation" in setup else 1
    words = sorted({word for each in sentences(50) for word in each.split()})
    Path("made").mkdir()
    Path("made/vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]) + "\n")
    shape = BertConfig(
        vocab_size=5 + len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        num_labels=2,
    )
    BertForSequenceClassification(shape).save_pretrained("made")
    texts = sentences(BATCH * BATCHES)
    data = pd.DataFrame({"text": texts, "labels": [int("red" in each) for each in texts]})
    clock = Clock(pace=0.08 * micro, batch=BATCH * micro)
    clock_optimizers(clock)
    model = ClassificationModel(
        "bert",
        "made",
        num_labels=2,
        use_cuda=False,
        args={
            "num_train_epochs": EPOCHS,
            "train_batch_size": BATCH,
            "gradient_accumulation_steps": micro,
            "overwrite_output_dir": True,
            "use_multiprocessing": False,
            "use_multiprocessing_for_evaluation": False,
            "dataloader_num_workers": 0,
            "no_save": True,
            "logging_steps": 0,
            "max_seq_length": 20,
            "fp16": False,
            "manual_seed": 0,
        },
    )
    losses: list[float] = []
    model.model.register_forward_hook(lambda _, __, found: losses.append(found[0].item()))
    model.train_model(data)
    # It shows the loss of the last micro-batch, divided where several make a step.
    # Its bars count batches, of which several may make a step.
    smaller = [1 / micro] if micro > 1 else []
    clock.finish(step=[BATCHES, clock.steps, EPOCHS], loss=[losses[-1], losses[-1] / micro], larger=smaller)


if __name__ == "__main__":
    train(sys.argv[1])
