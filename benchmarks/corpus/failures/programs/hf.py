"""A real fine-tuning with Hugging Face's Trainer: a tiny BERT on random tokens, one report a step. `STEPS` is the number of steps."""

import os
from collections.abc import Mapping

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Tokens(Dataset):
    """Sequences of random tokens, labelled by their first one."""

    def __init__(self, count: int = 512, *, labels: bool = True, highest: int = 200) -> None:
        torch.manual_seed(1)
        self.tokens, self.labels = torch.randint(0, highest, (count, 12)), labels

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, index: int) -> Mapping[str, torch.Tensor]:
        item = {"input_ids": self.tokens[index]}
        return item | {"labels": self.tokens[index, 0] % 2} if self.labels else item


def tiny(classes: int = 2) -> BertForSequenceClassification:
    """Return a model of random weights."""
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    return BertForSequenceClassification(BertConfig(vocab_size=200, num_labels=classes, **shape))


def trainer(data: Dataset | None = None, model: torch.nn.Module | None = None, **arguments: object) -> Trainer:
    """Return a trainer that reports every step."""
    fixed = {
        "output_dir": "out",
        "max_steps": int(os.environ.get("STEPS", "12")),
        "logging_steps": 1,
        "report_to": "none",
    }
    fixed |= {"per_device_train_batch_size": 4, "save_strategy": "no", "disable_tqdm": True}
    return Trainer(model or tiny(), TrainingArguments(**(fixed | arguments)), train_dataset=data or Tokens())


if __name__ == "__main__":
    trainer().train()
