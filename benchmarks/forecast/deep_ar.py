"""A small DeepAR: an LSTM over past demand and the calendar, with a normal distribution of the next hour (Salinas et al., IJF 2020)."""

import numpy as np

from processors.spot.forecast import DemandHistory, Forecast, Windows
from processors.spot.forecast.demand import Floats

from .adam import Adam

SMALLEST_DEVIATION = 0.01
BATCH = 128
RATE = 1e-2
PATHS = 100
"""Sampled futures of each window, whose mean and deviation are the forecast."""


class DeepAr:
    """One layer, one set of weights for all organisations, which it is told by a one-hot vector.

    Args:
        length: Hours looked back on.
        hidden: Cells. The paper's models have 40 in three layers; demand of tens of series and a few thousand hours needs fewer.
        steps: Batches of windows that it learns from.
    """

    name = "deep_ar"

    def __init__(self, length: int = 48, hidden: int = 24, steps: int = 1000, seed: int = 0) -> None:
        self.length, self._hidden, self._steps, self._seed = length, hidden, steps, seed

    def fit(self, history: DemandHistory, horizon: int) -> None:
        random = np.random.default_rng(self._seed)
        self._centre, self._scale = history.demand.mean(axis=1), np.maximum(history.demand.std(axis=1), 0.5)
        inputs, hidden = 1 + 4 + len(history.demand), self._hidden
        self.weights: dict[str, Floats] = {
            "cells": random.normal(0, 0.1, (inputs + hidden, 4 * hidden)),
            "bias": np.repeat([0.0, 1.0, 0.0, 0.0], hidden),  # gates: in, forget, out, new
            "heads": np.zeros((hidden, 2)),
            "heads_bias": np.array([0.0, 0.5]),
        }
        windows = history.windows(self.length, horizon, self.length, history.hours - horizon + 1)
        series, seen = self.series(windows), self.covariates(windows)
        adam = Adam(self.weights)
        for step in range(self._steps):
            batch = random.integers(0, len(windows), BATCH)
            adam.step(
                self.gradients(series[batch], seen[batch])[1], RATE * (1 + np.cos(np.pi * step / self._steps)) / 2
            )

    def forecast(self, windows: Windows) -> Forecast:
        random = np.random.default_rng(self._seed)
        series, seen = self.series(windows), self.covariates(windows)
        state = np.zeros((len(windows), self._hidden)), np.zeros((len(windows), self._hidden))
        for hour in range(self.length - 1):
            state = self._step(series[:, hour], seen[:, hour + 1], *state)[:2]
        horizon = windows.future.shape[1]
        paths = np.empty((PATHS, len(windows), horizon))
        for path in paths:
            hidden, memory = state
            last = series[:, self.length - 1]
            for ahead in range(horizon):
                hidden, memory, *_ = self._step(last, seen[:, self.length + ahead], hidden, memory)
                mean, deviation, _ = self._heads(hidden)
                last = path[:, ahead] = mean + deviation * random.normal(size=len(mean))
        centre, scale = self._centre[windows.organisation][:, None], self._scale[windows.organisation][:, None]
        return Forecast(centre + scale * paths.mean(axis=0), scale * (paths.std(axis=0) + SMALLEST_DEVIATION))

    def series(self, windows: Windows) -> Floats:
        centre, scale = self._centre[windows.organisation][:, None], self._scale[windows.organisation][:, None]
        return np.asarray((np.concatenate([windows.past, windows.future], axis=1) - centre) / scale)

    def covariates(self, windows: Windows) -> Floats:
        """Return what is known of each hour: time of day and of week on circles, and the organisation."""
        hours = np.arange(-self.length, windows.future.shape[1])
        hour = windows.calendar[:, :1] + 24 * windows.calendar[:, 1:2] + hours
        circles = [circle(2 * np.pi * hour / period) for period in (24, 168) for circle in (np.sin, np.cos)]
        who = np.eye(len(self._centre))[windows.organisation][:, None].repeat(len(hours), axis=1)
        return np.concatenate([np.stack(circles, axis=2), who], axis=2)

    def _step(
        self, last: Floats, seen: Floats, hidden: Floats, memory: Floats
    ) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        inputs = np.concatenate([last[:, None], seen, hidden], axis=1)
        raw = inputs @ self.weights["cells"] + self.weights["bias"]
        gates = np.concatenate([1 / (1 + np.exp(-raw[:, : -self._hidden])), np.tanh(raw[:, -self._hidden :])], axis=1)
        let_in, forget, out, new = np.split(gates, 4, axis=1)
        after = forget * memory + let_in * new
        return out * np.tanh(after), after, inputs, gates, memory

    def _heads(self, hidden: Floats) -> tuple[Floats, Floats, Floats]:
        raw = hidden @ self.weights["heads"] + self.weights["heads_bias"]
        return raw[:, 0], np.logaddexp(0, raw[:, 1]) + SMALLEST_DEVIATION, 1 / (1 + np.exp(-raw[:, 1]))

    def gradients(self, series: Floats, seen: Floats) -> tuple[float, dict[str, Floats]]:
        """Return the mean negative log-likelihood of each hour, given the true ones before it, and its gradients through time."""
        size, hours = series.shape
        hidden, memory = np.zeros((size, self._hidden)), np.zeros((size, self._hidden))
        steps = []
        for hour in range(1, hours):
            hidden, memory, inputs, gates, before = self._step(series[:, hour - 1], seen[:, hour], hidden, memory)
            steps.append((hidden, memory, inputs, gates, before))
        gradients = {name: np.zeros_like(value) for name, value in self.weights.items()}
        by_hidden, by_memory, loss = np.zeros_like(hidden), np.zeros_like(memory), 0.0
        for hour in range(hours - 1, 0, -1):
            hidden, memory, inputs, gates, before = steps[hour - 1]
            mean, deviation, slope = self._heads(hidden)
            error = (series[:, hour] - mean) / deviation
            count = size * (hours - 1)
            loss += float((np.log(deviation) + error**2 / 2).sum()) / count
            outer = np.stack([-error / deviation, (1 - error**2) / deviation * slope], axis=1) / count
            gradients["heads"] += hidden.T @ outer
            gradients["heads_bias"] += outer.sum(axis=0)
            by_hidden = by_hidden + outer @ self.weights["heads"].T
            let_in, forget, out, new = np.split(gates, 4, axis=1)
            bent = np.tanh(memory)
            by_memory = by_memory + by_hidden * out * (1 - bent**2)
            by_raw = np.concatenate(
                [
                    by_memory * new * let_in * (1 - let_in),
                    by_memory * before * forget * (1 - forget),
                    by_hidden * bent * out * (1 - out),
                    by_memory * let_in * (1 - new**2),
                ],
                axis=1,
            )
            gradients["cells"] += inputs.T @ by_raw
            gradients["bias"] += by_raw.sum(axis=0)
            by_hidden = by_raw @ self.weights["cells"][-self._hidden :].T
            by_memory = by_memory * forget
        return loss, gradients
