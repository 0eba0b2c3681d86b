"""Counters of what users' records claim about their jobs and is not believed."""

from prometheus_client import Counter


class ClaimMetrics:
    """What was claimed and passed over."""

    def __init__(self) -> None:
        self.lines_of_attempts = Counter(
            "schedmate_claims_lines_of_attempts",
            "Lines passed over because no scheduler reported their attempt, and its number is too high.",
            registry=None,
        )
        self.events_of_attempts = Counter(
            "schedmate_claims_events_of_attempts",
            "Events passed over because their attempt is not followed: too old, or too high and not reported by a scheduler.",
            registry=None,
        )
