"""Metrics of the bridge. Every label value is there from the start, so that `increase()` sees its first event."""

from schedmate_records import Outcome
from schedmate_records.metrics import MetricFactory


class BridgeMetrics:
    """Metrics of a bridge."""

    def __init__(self) -> None:
        make = MetricFactory("schedmate_bridge")
        self.proposed = make.counter("proposed", "Decisions made and published.")
        self.repeats = make.counter("repeats", "Findings and decisions that were already known.")
        self.outcomes = make.counter(
            "outcomes", "Decisions with a final result, by outcome (topic decision-results).", ["outcome"]
        )
        self.refused = make.counter("refused", "Decisions refused, by guardrail.", ["guardrail"])
        self.deferred = make.counter("deferred", "Decisions delayed by an hourly limit, by limit.", ["guardrail"])
        self.waiting = make.gauge("waiting", "Decisions that wait.")
        self.awaiting_approval = make.gauge("awaiting_approval", "Decisions that wait for approval.")
        self.stops = make.gauge("stops", "Active stops. While there is one, no decision is carried out.")
        self.actions_last_hour = make.gauge(
            "actions_last_hour",
            "Actions of the last hour that count towards a limit: of the cluster, of the user with most, and against the node with most.",
            ["scope"],
        )
        self.scheduler_away = make.counter("scheduler_away", "Queries that the scheduler did not answer.")
        for outcome in Outcome:
            if outcome.final:
                self.outcomes.labels(outcome.value)
        for guardrail in (
            "actuator",
            "approval",
            "bounds",
            "budget",
            "cooldown",
            "job-state",
            "node-state",
            "once",
            "progress",
            "signature",
            "verdict",
            "witness",
        ):
            self.refused.labels(guardrail)
        for limit in ("cluster-limit", "node-limit", "user-limit"):
            self.deferred.labels(limit)
        for scope in ("cluster", "node", "user"):
            self.actions_last_hour.labels(scope)
