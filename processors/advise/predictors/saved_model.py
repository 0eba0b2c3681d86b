"""A trained model, with what describes it."""

import hashlib
from collections.abc import Sequence

import msgspec

from .advisor import AdvisorModel
from .baselines import RecentErrors
from .features import Encoders
from .intervals import AdaptiveMargins
from .job import Completion


class SavedModel(msgspec.Struct):
    """A trained model, and what it was trained on."""

    model: AdvisorModel
    margins: AdaptiveMargins
    encoders: Encoders
    trained_until: float
    """End of the training data, seconds since 1970."""
    jobs: int
    data_sha256: str
    scores: dict[str, float]
    """Measures on the newest week, by a model that had not seen it."""
    errors: RecentErrors = msgspec.field(default_factory=RecentErrors)
    """Errors on the newest week of that model and of the baselines."""

    @property
    def version(self) -> str:
        """Name of the model. It follows from the jobs that it was trained on."""
        return self.data_sha256[:12]


def hash_of(jobs: Sequence[Completion]) -> str:
    """Return the SHA-256 of training jobs, whatever their order."""
    digest = hashlib.sha256()
    for line in sorted(msgspec.json.encode(done) for done in jobs):
        digest.update(line + b"\n")
    return digest.hexdigest()
