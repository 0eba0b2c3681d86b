"""Simple predictions from past jobs, and which of them was right for a user in recent jobs.

No model is best for all users: some repeat their last job, others vary around a median. The model's median is replaced by a baseline where
that baseline had clearly smaller errors on the newest jobs of the user (prediction with expert advice; Cesa-Bianchi and Lugosi, 2006).
"""

from collections import OrderedDict

import numpy as np

from .dataset import Vector
from .similar import RELATIONS, Relations

BASELINES = ("median", "last", "last two", "last of the size", "last five of the size", "same name")
"""Baselines, each from jobs of the same user: of all kept jobs, of the same number of GPUs, or of the same name."""
OPTIONS = 1 + len(BASELINES)
"""The model and the baselines."""
USERS_KEPT = 50_000
"""Users whose errors are kept. It bounds memory where names are made up. The user unseen for longest is dropped."""
_DECAY = 0.5 ** (1 / 30)
"""Weight that an error keeps with each further job of the user: half after 30 jobs, some weeks of a busy user."""
_ALL_DECAY = 0.999
"""The same for the errors of all users together."""
_PRIOR = 20.0
"""Jobs of the user that weigh as much as the mean over all users."""
_AHEAD = 0.02
"""Error by which a baseline must be better than the model. These numbers are tuned on a part of the traces that no table tests."""
_USER, _GROUP, _GPUS = (RELATIONS.index(name) for name in ("same_user", "same_group", "same_gpus"))


def baselines(x: Relations, y: Vector) -> Vector:
    """Return y by each of `BASELINES`, shape (6,), from candidates with the newest first; not a number without candidates."""
    if not len(y):
        return np.full(len(BASELINES), np.nan)
    own = x[:, _USER] > 0
    x, y = (x[own], y[own]) if own.any() else (x, y)
    sized, named = y[x[:, _GPUS] > 0], y[x[:, _GROUP] > 0]
    sized, named = (sized if len(sized) else y[:5]), (named if len(named) else y[:5])
    of_size = sized[0] if (x[:, _GPUS] > 0).any() else np.median(sized)
    return np.array(
        [np.median(y), y[0], np.log1p(np.expm1(y[:2]).mean()), of_size, np.median(sized[:5]), np.median(named[:5])]
    )


class RecentErrors:
    """Errors of the model and of the baselines on recent jobs, by user."""

    def __init__(self) -> None:
        self.parts: OrderedDict[str, list[float]] = OrderedDict()
        """By user, and of all users under the empty name: decayed sums of errors, `OPTIONS` of them, and the decayed number of jobs."""

    def choose(self, user: str) -> int:
        """Return the option for a user: 0 for the model, else 1 + the place in `BASELINES`."""
        everyone, own = (np.array(self.parts.get(name, [0.0] * (OPTIONS + 1))) for name in ("", user))
        if not everyone[-1]:
            return 0
        mean = everyone[:-1] / everyone[-1]
        error = (own[:-1] + _PRIOR * mean) / (own[-1] + _PRIOR) if user else mean
        error[0] -= _AHEAD
        return int(np.argmin(error))

    def update(self, user: str, options: Vector, y: float) -> None:
        """Learn how long a job took for which there were these predictions, shape (`OPTIONS`,), in y."""
        true = np.expm1(y)
        error = np.minimum(np.abs(np.expm1(np.minimum(options, 30.0)) - true) / max(true, 1.0), 1.0)
        for name, decay in {"": _ALL_DECAY, user: _DECAY if user else _ALL_DECAY}.items():
            part = self.parts.setdefault(name, [0.0] * (OPTIONS + 1))
            self.parts.move_to_end(name)
            part[:] = [decay * kept + new for kept, new in zip(part, (*error.tolist(), 1.0), strict=True)]
        while len(self.parts) > USERS_KEPT:
            self.parts.popitem(last=False)
