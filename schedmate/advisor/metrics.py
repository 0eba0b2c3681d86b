"""Metrics of the advisor."""

from prometheus_client import Counter, Gauge

from processors.advise.past.estimator import RESUBMISSION, SIMILAR, UNKNOWN
from processors.advise.predictors.estimate import PREDICTOR


class AdvisorMetrics:
    """Estimates given, how they turned out, and the models behind them."""

    def __init__(self) -> None:
        self.estimates = Counter(
            "schedmate_advisor_estimates", "Estimates of submitted jobs, by method.", ["method"], registry=None
        )
        self.completed = Counter(
            "schedmate_advisor_completed",
            "Estimates repeated after a language model had read the job's source.",
            registry=None,
        )
        self.scored = Counter(
            "schedmate_advisor_scored",
            "Estimates whose job succeeded, by method.",
            ["method"],
            registry=None,
        )
        self.inside = Counter(
            "schedmate_advisor_inside",
            "Estimates whose interval contained the duration, by method.",
            ["method"],
            registry=None,
        )
        for method in (RESUBMISSION, SIMILAR, PREDICTOR, UNKNOWN):  # so that an increase() sees its first event
            self.estimates.labels(method)
            self.scored.labels(method)
            self.inside.labels(method)
        self.error = Gauge(
            "schedmate_advisor_error_ratio",
            "Median ratio of estimated and actual durations, the larger over the smaller, of the newest estimates; 1 is exact.",
            registry=None,
        )
        self.drifted = Gauge(
            "schedmate_advisor_model_drifted",
            "1 while the trained model is off by half as much again as before it came into use, or less than 84 % or more than 96 % of the "
            "jobs are inside its 90 % intervals.",
            registry=None,
        )
        self.looks = Counter(
            "schedmate_advisor_model_checks",
            "Checks whether the trained model has drifted. A training may follow.",
            registry=None,
        )
        self.looks_failed = Counter(
            "schedmate_advisor_model_checks_failed",
            "Failed checks. The log has the reason.",
            registry=None,
        )
        self.models_loaded = Counter("schedmate_advisor_models_loaded", "Trained models loaded.", registry=None)
        self.models_refused = Counter(
            "schedmate_advisor_models_refused", "Trained models that could not be read.", registry=None
        )
