"""Attention between an organisation's business attributes (GFS, Eq. 4), forward and backward."""

import numpy as np

from processors.spot.forecast.demand import Floats


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
