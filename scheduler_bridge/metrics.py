"""Metrics of the bridge. Every label value is there from the start, so that `increase()` sees its first event."""

from prometheus_client import Counter, Gauge

from schedmate_records import Outcome


class BridgeMetrics:
    """What one bridge did since it started."""

    def __init__(self) -> None:
        self.proposed = Counter("schedmate_bridge_proposed", "Decisions made and published.", registry=None)
        self.repeats = Counter(
            "schedmate_bridge_repeats", "Findings and decisions that were already known.", registry=None
        )
        self.outcomes = Counter(
            "schedmate_bridge_outcomes",
            "Decisions with a final result, by outcome (topic decision-results).",
            ["outcome"],
            registry=None,
        )
        self.refused = Counter(
            "schedmate_bridge_refused", "Decisions refused, by guardrail.", ["guardrail"], registry=None
        )
        self.deferred = Counter(
            "schedmate_bridge_deferred",
            "Decisions delayed by an hourly limit, by limit.",
            ["guardrail"],
            registry=None,
        )
        self.waiting = Gauge("schedmate_bridge_waiting", "Decisions that wait.", registry=None)
        self.awaiting_approval = Gauge(
            "schedmate_bridge_awaiting_approval", "Decisions that wait for approval.", registry=None
        )
        self.stops = Gauge(
            "schedmate_bridge_stops",
            "Active stops. While there is one, no decision is carried out.",
            registry=None,
        )
        self.actions_last_hour = Gauge(
            "schedmate_bridge_actions_last_hour",
            "Actions of the last hour that count towards a limit: of the cluster, of the user with most, and against the node with most.",
            ["scope"],
            registry=None,
        )
        self.scheduler_away = Counter(
            "schedmate_bridge_scheduler_away", "Questions that the scheduler did not answer.", registry=None
        )
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
