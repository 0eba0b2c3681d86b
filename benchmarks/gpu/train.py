"""A real training job: a small transformer on random tokens, in PyTorch, printing what such jobs print.

It says on standard error, as JSON, what it measured of itself: the truth that a reader of its log is held against.
"""

import argparse
import json
import math
import sys
import time

import torch
from torch import nn

THEN = """\
afterwards: end; hold the GPU and do nothing; wait in a kernel that never ends, as with a lost peer of a collective; wait for data"""


class Model(nn.Module):
    """A decoder of `layers` blocks of `width`, on sequences of `length` tokens."""

    def __init__(self, width: int, layers: int, length: int, words: int = 8192) -> None:
        super().__init__()
        self.words = words
        self.embedding = nn.Embedding(words, width)
        block = nn.TransformerEncoderLayer(
            width, width // 64, 4 * width, dropout=0.0, batch_first=True, norm_first=True
        )
        self.blocks = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, words)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(length))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the loss of predicting each of `tokens`, shape (batch, length), from those before."""
        hidden = self.blocks(self.embedding(tokens), mask=self.mask, is_causal=True)
        logits = self.head(hidden)[:, :-1].reshape(-1, self.words)
        return nn.functional.cross_entropy(logits.float(), tokens[:, 1:].reshape(-1))


def main() -> None:
    """Train until the time is over, then do as told."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="how long to train")
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--every", type=int, default=10, help="steps between two reports")
    parser.add_argument("--then", choices=("end", "idle", "spin", "stall"), default="end", help=THEN)
    parser.add_argument("--hold", type=float, default=15.0, help="seconds of that")
    given = parser.parse_args()
    torch.manual_seed(0)
    model = Model(given.width, given.layers, given.length).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    tokens = torch.randint(0, model.words, (given.batch, given.length), device="cuda")
    size = sum(each.numel() for each in model.parameters())
    print(f"training on {torch.cuda.get_device_name()}, {size / 1e6:.0f} M parameters", flush=True)
    began = reported = time.monotonic()
    step, loss = 0, math.nan
    times: list[tuple[float, float]] = []
    while time.monotonic() - began < given.seconds:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            value = model(tokens)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        step += 1
        if step % given.every == 0:
            loss = value.item()
            now = time.monotonic()
            each = (now - reported) / given.every
            times.append((time.time(), each))
            tokens_s = given.batch * given.length / each
            print(f"step {step} | loss {loss:.4f} | {each * 1000:.1f} ms/step | {tokens_s:.0f} tokens/s", flush=True)
            reported = now
    torch.cuda.synchronize()
    held = time.time()
    _hold(given.then, given.hold)
    print(json.dumps({"steps": step, "loss": loss, "times": times, "held": held}), file=sys.stderr, flush=True)


def _hold(how: str, seconds: float) -> None:
    until = time.monotonic() + seconds
    if how == "idle":
        time.sleep(seconds)
    while how == "spin" and time.monotonic() < until:
        torch.cuda._sleep(2_000_000_000)  # noqa: SLF001  # a kernel that only counts clocks: no memory is touched
        torch.cuda.synchronize()
    while how == "stall" and time.monotonic() < until:
        torch.rand(2048, 2048, device="cuda").square_().sum().item()
        time.sleep(0.5)


if __name__ == "__main__":
    main()
