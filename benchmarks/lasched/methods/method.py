"""What a method of the prediction benchmark offers."""

from typing import Protocol

from processors.advise.predictors.dataset import Dataset, Vector


class Method(Protocol):
    """Predicts y = ln(1 + seconds). It is fitted once, on training rows and later rows for validation, and never sees others."""

    def fit(self, train: Dataset, validation: Dataset) -> None:
        """Learn from `train`; choose and calibrate on `validation`."""
        ...

    def predict(self, data: Dataset) -> Vector:
        """Return y of each row, shape (rows,)."""
        ...
