"""Makes a language model of random weights: it answers nonsense, quickly. Run by the Python of the vLLM environment, not by ours.

python tests/servers/random_model.py DIRECTORY
"""

import json
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
LONGEST = 16384

directory = Path(sys.argv[1])
directory.mkdir(parents=True, exist_ok=True)
raw = Tokenizer(models.BPE())
raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
raw.decoder = decoders.ByteLevel()
special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
trainer = trainers.BpeTrainer(
    vocab_size=400, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
)
raw.train_from_iterator(["step loss error"], trainer)
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=raw, eos_token="<|im_end|>", pad_token="<|endoftext|>", model_max_length=LONGEST
)
tokenizer.chat_template = CHAT
tokenizer.save_pretrained(directory)

torch.manual_seed(7)
config = Qwen2Config(
    vocab_size=len(tokenizer),
    hidden_size=128,
    intermediate_size=256,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=4,
    max_position_embeddings=LONGEST,
    eos_token_id=tokenizer.eos_token_id,
    pad_token_id=tokenizer.pad_token_id,
    initializer_range=0.5,  # wide, so that answers differ from question to question
)
Qwen2ForCausalLM(config).save_pretrained(directory)
(directory / "generation_config.json").write_text(json.dumps({"eos_token_id": tokenizer.eos_token_id}))
