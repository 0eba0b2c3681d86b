"""What a program calls its quantities: words from vocabulary.toml, joined and cut in one style."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from random import Random

VOCABULARY: dict[str, dict[str, list[str]]] = tomllib.loads(
    (Path(__file__).parent / "vocabulary.toml").read_text(encoding="utf-8")
)

_STYLES: list[Callable[[list[str]], str]] = [
    " ".join,
    "_".join,
    "_".join,
    "-".join,
    lambda words: " ".join(words).title(),
    lambda words: " ".join(words).capitalize(),
    lambda words: "_".join(words).upper(),
    lambda words: words[0] + "".join(word.capitalize() for word in words[1:]),
    lambda words: "".join(word.capitalize() for word in words),
    ".".join,
    "".join,
    lambda words: "_".join(map(_without_vowels, words)),
    lambda words: "".join(word[0] for word in words) if len(words) > 1 else words[0][:4],
    lambda words: words[0][:3] + "".join(word[:4].capitalize() for word in words[1:]),
]

_ALIASES = {
    "epoch_fraction": "epoch",
    "rate_samples_each": "rate_samples",
    "rate_tokens_each": "rate_tokens",
    "batch_size_each": "batch_size",
    "evaluation_step": "step",
    "evaluation_steps": "steps",
    "loss_part_0": "loss_part",
    "loss_part_1": "loss_part",
    "loss_part_2": "loss_part",
}
"""Quantities that are called like others."""
_TRIES = 6
"""Names that are tried, so that two quantities of one program mostly have two."""


class Names:
    """The names of one program: of one style, each quantity with one name.

    Args:
        random: Chooses.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self._style = random.choice(_STYLES)
        self._group = (
            f"{random.choice(VOCABULARY['marks']['groups'])}{random.choice('/._ ')}" if random.random() < 0.15 else ""
        )
        self._known: dict[str, str] = {}
        self._nonce = random.random() < 0.08

    def of(self, quantity: str) -> str:
        """Return what the program calls `quantity`. Some programs have words of their own for everything: made up, or a single letter."""
        if quantity not in self._known:
            names = (self._drawn(_ALIASES.get(quantity, quantity)) for _ in range(_TRIES))
            first = next(names)
            self._known[quantity] = next((name for name in names if name not in self._known.values()), first)
        return self._known[quantity]

    def _drawn(self, quantity: str) -> str:
        if self._nonce:
            return "".join(self._random.choice(pair) for pair in ("bdfgklmprstvz", "aeiou", "bdgklmnprstz"))[
                : self._random.randint(1, 3)
            ]
        words = self._random.choice(VOCABULARY["names"][quantity]).split()
        return self._group + (self._style(words) if all(word.isascii() for word in words) else " ".join(words))


def _without_vowels(word: str) -> str:
    return word[0] + "".join(letter for letter in word[1:] if letter not in "aeiou") if len(word) > 4 else word
