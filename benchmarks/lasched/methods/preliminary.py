"""The four preliminary methods of ATLAS, Appendix C (Algorithms 3 to 6)."""

import lightgbm
import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from processors.advise.predictors.boosting import apply, fit_booster
from processors.advise.predictors.dataset import Dataset, Matrix, Vector
from processors.advise.predictors.features import NAMES

from .trees import column, fit_on

FEWEST = 200
"""Rows that an expert needs; other rows go to the model of all."""


class SingleStage:
    """M1: one model of the mean, which may not fall as instances or GPUs grow."""

    RISING = ("log_instances", "log_gpus")

    def fit(self, train: Dataset, validation: Dataset) -> None:
        """Fit on `train`, stop on `validation`."""
        self._model = fit_on(train, validation, monotone_constraints=[int(name in self.RISING) for name in NAMES])

    def predict(self, data: Dataset) -> Vector:
        """Return the model's answer."""
        return apply(self._model, data.x)


class _Experts:
    """A model for each kind of row that is common enough, and one of all for the others."""

    def __init__(self, train: Dataset, validation: Dataset, of_train: Vector, of_validation: Vector) -> None:
        self._all = fit_on(train, validation)
        self._of: dict[int, lightgbm.Booster] = {}
        for kind, count in zip(*np.unique(of_train, return_counts=True), strict=True):
            if count >= FEWEST:
                watched = validation.select_rows(of_validation == kind)
                self._of[int(kind)] = fit_on(
                    train.select_rows(of_train == kind), watched if len(watched) >= FEWEST else validation
                )

    def predict(self, x: Matrix, kinds: Vector) -> Vector:
        found = apply(self._all, x)
        for kind, expert in self._of.items():
            rows = kinds == kind
            if rows.any():
                found[rows] = apply(expert, x[rows])
        return found


class ClusterExperts:
    """M2, CRR++: families by k-means, a router that learns them, an expert for each."""

    FAMILIES = 6

    def fit(self, train: Dataset, validation: Dataset) -> None:
        """Fit families, router and experts on `train`; `validation` says when to stop."""
        self._scaler = StandardScaler().fit(np.nan_to_num(train.x))
        inputs = self._scaled(train)
        self._families = KMeans(self.FAMILIES, n_init=3, random_state=1).fit(inputs)
        of_train = self._families.labels_.astype(np.float64)
        self._router = fit_booster(
            (inputs, of_train), rounds=50, objective="multiclass", num_class=self.FAMILIES, num_leaves=15
        )
        self._experts = _Experts(train, validation, of_train, self._families.predict(self._scaled(validation)))

    def predict(self, data: Dataset) -> Vector:
        """Return the answer of the expert to whom the router sends each row."""
        kinds = np.asarray(self._router.predict(self._scaled(data))).argmax(axis=1)
        return self._experts.predict(data.x, kinds)

    def _scaled(self, data: Dataset) -> Matrix:
        return np.asarray(self._scaler.transform(np.nan_to_num(data.x)), dtype=np.float64)


class ScaleExperts:
    """M3: an expert for each bucket of instances and GPUs, by quantiles of the training rows."""

    QUANTILES = (0.5, 0.9, 0.99)

    def fit(self, train: Dataset, validation: Dataset) -> None:
        """Fit edges and experts on `train`; `validation` says when to stop."""
        self._edges = [np.quantile(column(train, name), self.QUANTILES) for name in ("log_instances", "log_gpus")]
        self._experts = _Experts(train, validation, self._buckets(train), self._buckets(validation))

    def predict(self, data: Dataset) -> Vector:
        """Return the answer of each row's expert."""
        return self._experts.predict(data.x, self._buckets(data))

    def _buckets(self, data: Dataset) -> Vector:
        instances, gpus = (column(data, name) for name in ("log_instances", "log_gpus"))
        edges = self._edges
        return np.maximum(np.digitize(instances, edges[0]), np.digitize(gpus, edges[1])).astype(np.float64)


class RecencyEnsemble:
    """M4: a fixed mixture, in seconds, of a model of all rows and one of the newest."""

    QUANTILE = 0.7
    SHARE = 0.5

    def fit(self, train: Dataset, validation: Dataset) -> None:
        """Fit both on `train`; `validation` says when to stop."""
        times = np.array([done.job.submitted for done in train.jobs])
        recent = times >= np.quantile(times, self.QUANTILE)
        self._all = fit_on(train, validation)
        self._recent = fit_on(train.select_rows(recent), validation) if recent.sum() >= FEWEST else self._all

    def predict(self, data: Dataset) -> Vector:
        """Return the mixture."""
        whole, recent = (np.expm1(apply(one, data.x)) for one in (self._all, self._recent))
        return np.log1p(np.maximum(0.0, (1 - self.SHARE) * whole + self.SHARE * recent))
