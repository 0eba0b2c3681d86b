"""OrgLinear's outputs, its loss, and the gradients, derived by hand (GFS, section 3.2, Eq. 1 to 8).

A series is parted into trend and cycle (Eq. 1 and 2); attention weighs an organisation's business attributes (Eq. 4).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from processors.spot.forecast.demand import Floats, Integers, Windows


def moving_average(series: Floats, kernel: int) -> Floats:
    """Return the centred moving average along the last axis, the ends padded with their reflection (Eq. 1).

    Args:
        series: Any shape; the last axis is time and longer than half the kernel.
        kernel: Hours averaged; odd, so that the average has no phase.

    Raises:
        ValueError: The kernel is even, or the series too short to be reflected.
    """
    half = kernel // 2
    if kernel % 2 == 0 or series.shape[-1] <= half:
        raise ValueError(f"expected an odd kernel and more than {half} hours, got {kernel} and {series.shape[-1]}")
    padded = np.pad(series, [(0, 0)] * (series.ndim - 1) + [(half, half)], mode="reflect")
    # A sum of differences of running sums would lose digits where demand is large and flat.
    average: Floats = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=-1).mean(axis=-1)
    return average


def decompose(series: Floats, kernel: int) -> tuple[Floats, Floats]:
    """Return trend and cycle, which add up to the series (Eq. 1 and 2). See `moving_average`."""
    trend = moving_average(series, kernel)
    return trend, series - trend


def attend(tokens: Floats, query: Floats, key: Floats, value: Floats) -> tuple[Floats, Floats]:
    """Return one vector for each organisation: scaled dot-product self-attention over its attributes, averaged over them.

    Eq. 4 prints one concatenation sign and then commas. Attention needs a sequence, so the embeddings are its tokens.

    Args:
        tokens: Embeddings, organisations x attributes x d.
        query: d x d.
        key: d x d.
        value: d x d.

    Returns:
        The vectors, organisations x d, and the weights, organisations x attributes x attributes.
    """
    logits = (tokens @ query) @ (tokens @ key).transpose(0, 2, 1) / np.sqrt(tokens.shape[-1])
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return (weights @ (tokens @ value)).mean(axis=1), weights


def attend_gradients(
    outer: Floats, tokens: Floats, *, query: Floats, key: Floats, value: Floats, weights: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the gradients of a loss with respect to tokens, query, key and value.

    Args:
        outer: The loss's gradient with respect to the vectors of `attend`, organisations x d.
        tokens: As given to `attend`.
        query: As given.
        key: As given.
        value: As given.
        weights: As returned.
    """
    _, attributes, width = tokens.shape
    mixed = np.repeat(outer[:, None, :] / attributes, attributes, axis=1)
    by_weight = mixed @ (tokens @ value).transpose(0, 2, 1)
    logits = weights * (by_weight - (weights * by_weight).sum(axis=-1, keepdims=True)) / np.sqrt(width)
    by_query, by_key = logits @ (tokens @ key), logits.transpose(0, 2, 1) @ (tokens @ query)
    by_value = weights.transpose(0, 2, 1) @ mixed
    by_tokens = by_query @ query.T + by_key @ key.T + by_value @ value.T
    flat = tokens.reshape(-1, width)
    return (
        by_tokens,
        flat.T @ by_query.reshape(-1, width),
        flat.T @ by_key.reshape(-1, width),
        flat.T @ by_value.reshape(-1, width),
    )


CALENDAR = (("hour", 24), ("weekday", 7), ("holiday", 2))
SMALLEST_DEVIATION = 0.01
"""In units of an organisation's scale: demand that stands still has none, and the likelihood no bound."""


@dataclass(frozen=True)
class OrgLinearSettings:
    """How OrgLinear looks and learns.

    Attributes:
        length: Hours looked back on (L).
        kernel: Hours of the moving average; odd.
        width: Numbers of an embedding.
        epochs: Passes over the windows.
        batch: Windows of a step.
        rate: Adam's learning rate at first; it falls to 0 with a cosine.
        decay: Pull of all weights to where they start.
        seed: Of the shuffling and of the embeddings.
    """

    length: int = 72
    kernel: int = 25
    width: int = 4
    epochs: int = 40
    batch: int = 256
    rate: float = 3e-3
    decay: float = 1.0
    seed: int = 0


DEFAULTS = OrgLinearSettings()


class Inputs:
    """Standardised windows, decomposed."""

    def __init__(self, past: Floats, windows: Windows, kernel: int) -> None:
        self.trend, self.cycle = decompose(past, kernel)
        self.past = past
        self.organisation = windows.organisation
        self.calendar = windows.calendar

    def take(self, which: Integers) -> "Inputs":
        """Return some of the windows."""
        some = object.__new__(Inputs)
        for name in ("trend", "cycle", "past", "organisation", "calendar"):
            setattr(some, name, getattr(self, name)[which])
        return some


class Network:
    """Weights, outputs and hand-derived gradients.

    Args:
        settings: Shape and start.
        horizon: Hours forecast.
        attributes: Number of each attribute's value, organisations x attributes.
        generator: Of the embeddings' start.
    """

    def __init__(
        self, settings: OrgLinearSettings, horizon: int, attributes: Integers, generator: np.random.Generator
    ) -> None:
        width, length = settings.width, settings.length
        self._attributes = attributes
        self._length = length
        inputs = length + (1 + len(CALENDAR)) * width
        as_before = np.zeros((inputs, horizon))
        as_before[length - 1] = 1.0
        self.weights: dict[str, Floats] = {
            **{name: generator.normal(0, 0.1, (size, width)) for name, size in CALENDAR},
            **{
                f"attribute{k}": generator.normal(0, 0.1, (max(column) + 1, width))
                for k, column in enumerate(attributes.T)
            },
            **{name: generator.normal(0, width**-0.5, (width, width)) for name in ("query", "key", "value")},
            "trend": as_before.copy(),
            "cycle": as_before.copy(),
            "deviation": np.zeros((inputs, horizon)),
            "trend_bias": np.zeros(horizon),
            "cycle_bias": np.zeros(horizon),
            "deviation_bias": np.full(horizon, -1.0),
        }

    def outputs(self, inputs: Inputs) -> tuple[Floats, Floats]:
        """Return mean and deviation (Eq. 5 to 7), standardised, windows x horizon."""
        return self._forward(inputs, self._context(inputs)[0])[:2]

    def loss(self, inputs: Inputs, future: Floats) -> tuple[float, Mapping[str, Floats]]:
        """Return the mean negative log-likelihood of a normal distribution (Eq. 8 with -log sigma) and its gradients."""
        context, tokens, mixing = self._context(inputs)
        mean, deviation, slope = self._forward(inputs, context)
        error = (future - mean) / deviation
        loss = float((np.log(deviation) + error**2 / 2).mean())
        by_mean = -error / deviation / error.size
        by_head = {
            "trend": (inputs.trend, by_mean),
            "cycle": (inputs.cycle, by_mean),
            "deviation": (inputs.past, (1 - error**2) / deviation / error.size * slope),
        }
        gradients: dict[str, Floats] = {}
        by_context = np.zeros_like(context)
        for head, (seen, outer) in by_head.items():
            gradients[head] = np.concatenate([seen.T @ outer, context.T @ outer])
            gradients[f"{head}_bias"] = outer.sum(axis=0)
            by_context += outer @ self.weights[head][self._length :].T
        self._context_gradients(inputs, by_context, tokens, mixing, gradients)
        return loss, gradients

    def _forward(self, inputs: Inputs, context: Floats) -> tuple[Floats, Floats, Floats]:
        """Return mean, deviation and the softplus's slope."""
        weights, length = self.weights, self._length
        outputs = [
            seen @ weights[head][:length] + context @ weights[head][length:] + weights[f"{head}_bias"]
            for head, seen in (("trend", inputs.trend), ("cycle", inputs.cycle), ("deviation", inputs.past))
        ]
        raw = outputs[2]
        return (
            outputs[0] + outputs[1],
            np.logaddexp(0, raw) + SMALLEST_DEVIATION,
            1 / (1 + np.exp(-np.clip(raw, -60, 60))),
        )

    def _context(self, inputs: Inputs) -> tuple[Floats, Floats, Floats]:
        """Return the context of each window (Eq. 3 and 4), the attributes' tokens and the attention's weights."""
        weights = self.weights
        tokens = np.stack([weights[f"attribute{k}"][column] for k, column in enumerate(self._attributes.T)], axis=1)
        organisations, mixing = attend(tokens, weights["query"], weights["key"], weights["value"])
        calendar = [weights[name][inputs.calendar[:, k]] for k, (name, _) in enumerate(CALENDAR)]
        return np.concatenate([organisations[inputs.organisation], *calendar], axis=1), tokens, mixing

    def _context_gradients(
        self, inputs: Inputs, outer: Floats, tokens: Floats, mixing: Floats, gradients: dict[str, Floats]
    ) -> None:
        weights = self.weights
        by_organisation, *by_calendar = np.split(outer, 1 + len(CALENDAR), axis=1)
        for k, (name, _) in enumerate(CALENDAR):
            gradients[name] = _sum_by(inputs.calendar[:, k], by_calendar[k], weights[name])
        by_vector = _sum_by(
            inputs.organisation, by_organisation, np.zeros((len(tokens), outer.shape[1] // (1 + len(CALENDAR))))
        )
        by_tokens, gradients["query"], gradients["key"], gradients["value"] = attend_gradients(
            by_vector, tokens, query=weights["query"], key=weights["key"], value=weights["value"], weights=mixing
        )
        for k, column in enumerate(self._attributes.T):
            gradients[f"attribute{k}"] = _sum_by(column, by_tokens[:, k], weights[f"attribute{k}"])


def _sum_by(rows: Integers, values: Floats, like: Floats) -> Floats:
    total = np.zeros_like(like)
    np.add.at(total, rows, values)
    return total


def encode(attributes: tuple[tuple[str, ...], ...]) -> Integers:
    """Number each attribute's values."""
    columns = []
    for column in zip(*attributes, strict=True):
        numbers = {value: number for number, value in enumerate(dict.fromkeys(column))}
        columns.append([numbers[value] for value in column])
    return np.array(columns, dtype=np.int64).T
