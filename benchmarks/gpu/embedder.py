"""What FlagEmbedding gives on a GPU: templates a second, by how many are embedded at a time.

`python -m benchmarks.gpu.embedder --tokenizer DIR` embeds the templates of the classifier's examples through the product's embedder. The
weights are random, in the shapes of MiniLM and BGE-M3: only the speed means something. `--model DIR` takes a real model instead.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from processors.classify.flag import FlagEmbedder

TEXTS = Path(__file__).resolve().parents[2] / "processors" / "classify" / "examples.tsv"
SHAPES = {
    "random-minilm": {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536},
    "random-bge": {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096},
}
AT_A_TIME = (1, 32, 256, 4096)
SECONDS = 5.0


def main() -> None:
    """Embed, and print a table a model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="directory of a model")
    parser.add_argument("--tokenizer", help="directory of a tokenizer, for the random models")
    given = parser.parse_args()
    texts = [line.rpartition("\t")[2] for line in TEXTS.read_text(encoding="utf-8").splitlines() if line]
    if given.model:
        _table(FlagEmbedder(given.model, pooling="mean"), texts)
    elif given.tokenizer:
        with tempfile.TemporaryDirectory() as folder:
            for name in SHAPES:
                _write_random(Path(folder, name), given.tokenizer)
                _table(FlagEmbedder(str(Path(folder, name)), pooling="mean"), texts)
    else:
        parser.error("expected --model or --tokenizer")


def _table(embedder: FlagEmbedder, texts: list[str]) -> None:
    size = embedder.embed(texts).shape[1]  # which also warms it up
    print(
        f"{embedder.name}: {len(texts)} templates of {np.mean([len(text) for text in texts]):.0f} characters, vectors of {size}"
    )
    print("| at a time | templates a second | p50, ms | p99, ms |")
    print("| --- | --- | --- | --- |")
    for count in AT_A_TIME:
        took = _seconds(embedder, texts, count)
        middle, slow = 1e3 * np.percentile(took, (50, 99))
        print(f"| {count} | {count * len(took) / sum(took):,.0f} | {middle:.1f} | {slow:.1f} |", flush=True)


def _seconds(embedder: FlagEmbedder, texts: list[str], count: int) -> list[float]:
    """Return how long each call with `count` texts took, other texts each time."""
    repeated = texts * (2 + count // len(texts))
    took: list[float] = []
    while sum(took) < SECONDS:
        first = len(took) * count % len(texts)
        start = time.perf_counter()
        embedder.embed(repeated[first : first + count])
        took.append(time.perf_counter() - start)
    return took


def _write_random(directory: Path, tokenizer: str) -> None:
    """Write a model of random weights."""
    from transformers import AutoTokenizer, BertConfig, BertModel  # noqa: PLC0415  # only beside a GPU

    BertModel(BertConfig(**SHAPES[directory.name])).half().save_pretrained(directory)
    AutoTokenizer.from_pretrained(tokenizer).save_pretrained(directory)


if __name__ == "__main__":
    main()
