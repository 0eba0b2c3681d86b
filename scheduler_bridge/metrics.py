"""Metrics of the bridge. Every label value is there from the start, so that `increase()` sees its first event."""

from prometheus_client import Counter, Gauge

from schedmate_records import Outcome


class BridgeMetrics:
    """What one bridge did since it started."""

    def __init__(self) -> None:
        self.proposed = Counter("schedmate_bridge_proposed", "Decisions made and published.", registry=None)
        self.repeats = Counter(
            "schedmate_bridge_repeats", "Findings and decisions that were known already.", registry=None
        )
        self.outcomes = Counter(
            "schedmate_bridge_outcomes",
            "Decisions that are settled, by what became of them (topic decision-results).",
            ["outcome"],
            registry=None,
        )
        self.refused = Counter(
            "schedmate_bridge_refused", "Decisions refused, by the guardrail.", ["guardrail"], registry=None
        )
        self.deferred = Counter(
            "schedmate_bridge_deferred",
            "Decisions that had to wait for an hourly limit, by the limit.",
            ["guardrail"],
            registry=None,
        )
        self.waiting = Gauge("schedmate_bridge_waiting", "Decisions that wait now.", registry=None)
        self.awaiting_approval = Gauge(
            "schedmate_bridge_awaiting_approval", "Decisions that wait for a person's approval now.", registry=None
        )
        self.stops = Gauge(
            "schedmate_bridge_stops",
            "Stops in force now: while there is one, nothing is carried out.",
            registry=None,
        )
        self.actions_last_hour = Gauge(
            "schedmate_bridge_actions_last_hour",
            "Actions of the last hour that count: all (cluster), and those of the user and against the node that have most.",
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
