"""A tiny language model, its tokenizer and made-up text, for the programs that train with transformers. No hub is asked."""

import random

from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

WORDS = [
    "the",
    "a",
    "red",
    "small",
    "old",
    "loud",
    "train",
    "tree",
    "river",
    "machine",
    "sees",
    "hears",
    "makes",
    "finds",
    "slowly",
    "today",
    "again",
    "never",
    "with",
    "under",
]


def sentences(count: int) -> list[str]:
    """Return made-up sentences, always the same."""
    chooser = random.Random(0)
    return [" ".join(chooser.choices(WORDS, k=12)) for _ in range(count)]


def tokenizer() -> PreTrainedTokenizerFast:
    """Return a tokenizer of whole words."""
    made = Tokenizer(models.WordLevel(unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["<unk>", "<pad>", "<s>", "</s>"]
    made.train_from_iterator(sentences(200), trainers.WordLevelTrainer(special_tokens=special))
    return PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>"
    )


def model(vocabulary: int) -> GPT2LMHeadModel:
    """Return a language model of random weights."""
    config = GPT2Config(
        vocab_size=vocabulary,
        n_positions=64,
        n_embd=32,
        n_layer=1,
        n_head=2,
        bos_token_id=2,
        eos_token_id=3,
        pad_token_id=1,
    )
    return GPT2LMHeadModel(config)
